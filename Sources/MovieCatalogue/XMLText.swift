/// Text in XML 1.0.
package enum XMLText {
    /// Escapes text for an element or an attribute in double quotes. Characters that XML forbids become U+FFFD.
    package static func escaped(_ text: String) -> String {
        // The fast path for most texts. U+FFFE and U+FFFF begin with the byte EF.
        if !text.utf8.contains(where: { $0 < 0x20 || $0 == 0xEF || "<>&\"".utf8.contains($0) }) {
            return text
        }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
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
        guard let first = name.utf8.first, isLetter(first), !name.lowercased().hasPrefix("xml") else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
