/// What a terminal says it is, when asked with XTVERSION.
public enum TerminalVersion {
    /// The question. A terminal that does not know it says nothing.
    public static let query = Array("\u{1B}[>0q".utf8)

    /// The name in an answer such as `ESC P > | XTerm(379) ESC \`; nil for any other answer.
    public static func name(in answer: [UInt8]) -> String? {
        let prefix = Array("\u{1B}P>|".utf8)
        guard answer.starts(with: prefix) else { return nil }
        let text = answer.dropFirst(prefix.count).prefix {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "(") && $0 != 0x20
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a terminal of this name shows 24-bit colours, whatever TERM says: xterm from 331 on and all that came
    /// later. tmux is not among them, since it depends on the terminal around it.
    public static func showsTrueColour(_ name: String) -> Bool {
        ["XTerm", "kitty", "ghostty", "foot", "WezTerm", "iTerm2", "Konsole", "mlterm", "contour"].contains(
            name)
    }
}
