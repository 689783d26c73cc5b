/// What a terminal says it is, when asked with XTVERSION.
public enum TerminalVersion {
    /// The question. A terminal that does not know it says nothing.
    public static let query = Array("\u{1B}[>0q".utf8)

    /// The same with DA1 behind it, so that its answer is known to be the last.
    package static let question = query + TerminalAnswers.barrier

    /// The name in an answer such as `ESC P > | XTerm(379) ESC \`; nil for any other answer.
    public static func name(in answer: [UInt8]) -> String? {
        let prefix = Array("\u{1B}P>|".utf8)
        guard answer.starts(with: prefix) else { return nil }
        let text = answer.dropFirst(prefix.count).prefix {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "(") && $0 != 0x20
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The numbers of the version in an answer, `[379]` of the one above; none where it has none.
    static func numbers(in answer: [UInt8]) -> [Int] {
        let text = answer.drop { $0 != UInt8(ascii: "(") && $0 != 0x20 }.dropFirst()
        let digits = text.prefix { ($0 >= 0x30 && $0 < 0x3A) || $0 == UInt8(ascii: ".") }
        return String(decoding: digits, as: UTF8.self).split(separator: ".").compactMap { Int($0) }
    }

    /// Whether a terminal of this name shows 24-bit colours, whatever TERM says: xterm from 331 on and all that came
    /// later. tmux is not among them, since it depends on the terminal around it.
    public static func showsTrueColour(_ name: String) -> Bool {
        ["XTerm", "kitty", "ghostty", "foot", "WezTerm", "iTerm2", "Konsole", "mlterm", "contour"].contains(
            name)
    }
}
