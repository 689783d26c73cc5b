extension TerminalText {
    /// JSON with every character that could steer a terminal or mislead its reader written as `\uXXXX`: the same value to
    /// a program, harmless to a terminal. `json` is valid JSON, where such characters stand only inside strings.
    public static func harmless(json: String) -> String {
        var output = ""
        output.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            if scalar.value < 0x7F || !needsEscape(scalar) {
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

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}
