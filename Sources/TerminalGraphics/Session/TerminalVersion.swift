/// The name and version of a terminal, from XTVERSION.
public enum TerminalVersion {
    /// The query. Terminals without XTVERSION do not answer.
    public static let query = Array("\u{1B}[>0q".utf8)

    /// The query with DA1 after it, which marks the last answer.
    package static let question = query + TerminalAnswers.barrier

    /// The name in an answer such as `ESC P > | XTerm(379) ESC \`; nil for another answer.
    public static func name(in answer: [UInt8]) -> String? {
        let prefix = Array("\u{1B}P>|".utf8)
        guard answer.starts(with: prefix) else { return nil }
        let text = answer.dropFirst(prefix.count).prefix {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "(") && $0 != 0x20
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The version numbers in an answer, `[379]` in the one above; empty if there are none.
    static func numbers(in answer: [UInt8]) -> [Int] {
        let text = answer.drop { $0 != UInt8(ascii: "(") && $0 != 0x20 }.dropFirst()
        let digits = text.prefix { ($0 >= 0x30 && $0 < 0x3A) || $0 == UInt8(ascii: ".") }
        return String(decoding: digits, as: UTF8.self).split(separator: ".").compactMap { Int($0) }
    }

    /// Whether a terminal with this name shows 24-bit colours, whatever TERM says: xterm from 331, and newer terminals.
    /// Not tmux, which depends on the terminal around it.
    public static func showsTrueColour(_ name: String) -> Bool {
        ["XTerm", "kitty", "ghostty", "foot", "WezTerm", "iTerm2", "Konsole", "mlterm", "contour"].contains(
            name)
    }
}
