extension TerminalText {
    /// JSON with every character that could steer a terminal or mislead its reader written as `\uXXXX`: the same value to
    /// a program, harmless to a terminal. `json` is valid JSON, where such characters stand only inside strings.
    /// - Parameter onlyASCII: whether all that is not ASCII is written so, for a terminal that shows nothing else.
    ///   Default: no.
    public static func harmless(json: String, onlyASCII: Bool = false) -> String {
        // Nearly all of it is ASCII, which need not be taken apart.
        if json.utf8.allSatisfy({ $0 < 0x7F }) { return json }
        guard json.unicodeScalars.contains(where: { needsEscape($0, onlyASCII: onlyASCII) }) else {
            return json
        }
        var output = ""
        output.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            if !needsEscape(scalar, onlyASCII: onlyASCII) {
                output.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return output
    }

    private static func needsEscape(_ scalar: Unicode.Scalar, onlyASCII: Bool) -> Bool {
        if scalar.value < 0x7F { return false }
        if onlyASCII { return true }
        // Latin letters and signs; the soft hyphen is a format character.
        if (0xA1..<0x250).contains(scalar.value) { return scalar.value == 0xAD }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}
