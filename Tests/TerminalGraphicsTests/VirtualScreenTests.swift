import TerminalGraphics
import TestSupport
import TestTraits
import Testing

/// The other tests rely on the virtual screen. It agreed with tmux on random sequences, except that tmux
/// alone wraps backwards, and keeps half of an overwritten wide character.
@Suite("The virtual screen behaves as a terminal", .bounded)
struct VirtualScreenTests {
    private func screen(_ output: String, columns: Int = 8, rows: Int = 3) -> VirtualScreen {
        var screen = VirtualScreen(columns: columns, rows: rows)
        screen.feed(output.utf8)
        return screen
    }

    @Test(
        "text, moves and erasing",
        arguments: [
            ("abc\r\nd", ["abc", "d", ""]),
            ("12345678", ["12345678", "", ""]),
            ("123456789", ["12345678", "9", ""]),
            ("12345678\r\nx", ["12345678", "x", ""]),
            ("1234567羅", ["1234567", "羅", ""]),
            ("a\r\nb\r\nc\r\nd", ["b", "c", "d"]),
            ("\u{1B}[2;3Hx\u{1B}[Ay\u{1B}[3Dz", [" z y", "  x", ""]),
            ("abcdef\u{1B}[3G\u{1B}[K", ["ab", "", ""]),
            ("abcdef\u{1B}[3G\u{1B}[1K", ["   def", "", ""]),
            ("abcdef\u{1B}[2G\u{1B}[2X", ["a  def", "", ""]),
            ("ab\r\ncd\u{1B}[H\u{1B}[J", ["", "", ""]),
            ("羅生\u{1B}[2Gx", [" x生", "", ""]),
            ("羅生\u{1B}[3Gx", ["羅x", "", ""]),
            ("e\u{301}x", ["e\u{301}x", "", ""]),
            ("-\u{1B}[3b", ["----", "", ""]),
        ])
    func drawing(output: String, rows: [String]) {
        let screen = screen(output)
        #expect(screen.rows == rows)
        #expect(screen.unknown.isEmpty)
    }

    @Test("output means the same however it is split")
    func cuts() {
        let bytes = Array("羅\u{1B}[31;1mé\u{1B}]0;title\u{7}\u{1B}[0m\u{1B}P1;2q~\u{1B}\\👍x".utf8)
        let whole = screen(String(decoding: bytes, as: UTF8.self))
        var parts = VirtualScreen(columns: 8, rows: 3)
        for byte in bytes { parts.feed([byte]) }
        #expect(parts.rows == whole.rows)
        #expect(whole.rows[0] == "羅é👍x")
        #expect(parts.strings == ["0;title", "1;2q~"])
        #expect(parts.cell(column: 2, row: 0).style == CellStyle(foreground: .palette(1), attributes: .bold))
    }

    @Test("the alternate screen starts empty, and the main screen returns unchanged")
    func alternate() {
        var screen = screen("before\u{1B}[?1049h\u{1B}[Hinside")
        #expect(screen.isAlternate)
        #expect(screen.rows[0] == "inside")
        screen.feed("\u{1B}[?1049l".utf8)
        #expect(screen.rows[0] == "before")
        #expect(screen.cursor == CellPosition(column: 6, row: 0))
    }

    @Test("unknown control sequences are recorded, and so are queries")
    func unknown() {
        #expect(screen("\u{1}").unknown == ["control 1"])
        #expect(screen("\u{9B}31m").unknown == ["control 155"])
        #expect(screen("\u{1B}[5z").unknown == ["CSI 5z"])
        #expect(screen("\u{1B}[c\u{1B}[>q").queries == ["c", ">q"])
        #expect(screen("\u{1B}[?2026hx\u{1B}[?2026l").frames == 1)
    }
}
