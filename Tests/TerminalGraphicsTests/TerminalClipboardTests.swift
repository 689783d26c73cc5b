import TerminalGraphics
import TestTraits
import Testing

@Suite("TerminalClipboard", .bounded)
struct TerminalClipboardTests {
    @Test("a text is copied by OSC 52 in base64")
    func text() {
        let bytes = TerminalClipboard.copying("https://example.org/é", isInTmux: false)
        #expect(bytes == Array("\u{1B}]52;c;aHR0cHM6Ly9leGFtcGxlLm9yZy/DqQ==\u{1B}\\".utf8))
    }

    @Test("in tmux the text goes to tmux and to the outer terminal")
    func tmux() {
        let bytes = TerminalClipboard.copying("a", isInTmux: true)
        #expect(
            bytes
                == Array(
                    "\u{1B}]52;c;YQ==\u{1B}\\\u{1B}Ptmux;\u{1B}\u{1B}]52;c;YQ==\u{1B}\u{1B}\\\u{1B}\\".utf8))
    }

    @Test("a text that a terminal would not accept is not sent")
    func tooLong() {
        let text = String(repeating: "a", count: TerminalClipboard.limit)
        #expect(TerminalClipboard.copying(text, isInTmux: false) != nil)
        #expect(TerminalClipboard.copying(text + "a", isInTmux: false) == nil)
    }
}
