/// Text in JSON.
package enum JSONString {
    /// The text as a JSON string, with the fewest escapes (RFC 8259 section 7).
    /// - Parameter onlyASCII: whether all characters outside visible ASCII are escaped too.
    package static func quoted(_ text: String, onlyASCII: Bool = false) -> String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        quoted.reserveCapacity(text.utf8.count + 2)
        func escape(_ unit: UInt16) {
            let digits = String(unit, radix: 16)
            quoted += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        }
        if onlyASCII, !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            for unit in text.utf16 {
                switch unit {
                case 0x22, 0x5C: quoted += [UInt8(ascii: "\\"), UInt8(unit)]
                case 0x20..<0x7F: quoted.append(UInt8(unit))
                default: escape(unit)
                }
            }
        } else {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\n"): quoted += Array("\\n".utf8)
                case UInt8(ascii: "\t"): quoted += Array("\\t".utf8)
                case 0..<0x20, 0x7F: escape(UInt16(byte))
                default: quoted.append(byte)
                }
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }
}

/// Text in XML 1.0.
package enum XMLText {
    /// Escapes text for an element or an attribute in double quotes. Characters that XML forbids (section 2.2) become
    /// U+FFFD.
    /// - Parameter inElement: whether quotes, tabs and line feeds stay, which mean themselves in an element.
    package static func escaped(_ text: String, inElement: Bool = false) -> String {
        // The fast path for most texts. U+FFFE and U+FFFF begin with the byte EF.
        if !text.utf8.contains(where: { $0 < 0x20 || $0 == 0xEF || "<>&\"".utf8.contains($0) }) {
            return text
        }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"" where inElement, "\t" where inElement, "\n" where inElement:
                escaped.unicodeScalars.append(scalar)
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            // A parser replaces these by spaces in attributes, and carriage returns by line feeds.
            case "\t": escaped += "&#9;"
            case "\n": escaped += "&#10;"
            case "\r": escaped += "&#13;"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped.unicodeScalars.append("\u{FFFD}")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether an element or attribute may have this name. Of the names that XML allows, only those in ASCII without a
    /// colon.
    package static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isLetter || first == UInt8(ascii: "_"),
            !name.lowercased().hasPrefix("xml")
        else { return false }
        return name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "_-.".utf8.contains($0) }
    }
}
