import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("Editing a line", .bounded)
struct LineEditorTests {
    private func control(_ letter: Character) -> TerminalKey { TerminalKey(.character(letter), .control) }

    /// The line after these keys, with a bar at the cursor.
    private func typed(_ text: String, _ keys: TerminalKey...) -> String {
        var line = LineEditor(text)
        for key in keys {
            let isTaken = line.take(key)
            #expect(isTaken)
        }
        return line.before + "|" + line.after
    }

    @Test("keys move, delete and insert at the cursor")
    func keys() {
        #expect(typed("abc", TerminalKey(.left), TerminalKey(.character("x"))) == "abx|c")
        #expect(typed("abc", TerminalKey(.left), TerminalKey(.left), TerminalKey(.right)) == "ab|c")
        #expect(typed("abc", TerminalKey(.home), TerminalKey(.left), TerminalKey(.delete)) == "|bc")
        #expect(typed("abc", TerminalKey(.home), TerminalKey(.end), TerminalKey(.right)) == "abc|")
        #expect(typed("abc", TerminalKey(.left), TerminalKey(.backspace)) == "a|c")
        #expect(typed("", TerminalKey(.backspace), TerminalKey(.delete)) == "|")
    }

    @Test("control keys work as in a shell")
    func controls() {
        #expect(typed("the kid", control("a")) == "|the kid")
        #expect(typed("the kid", control("a"), control("e")) == "the kid|")
        #expect(typed("the kid", TerminalKey(.left), control("u")) == "|d")
        #expect(typed("the kid", TerminalKey(.left), control("k")) == "the ki|")
        #expect(typed("the  kid ", control("w")) == "the  |")
        #expect(typed("the  kid ", control("w"), control("w"), control("w")) == "|")
        #expect(typed("the kid", TerminalKey(.left, .control)) == "the |kid")
        #expect(typed("the kid", control("a"), TerminalKey(.right, .control)) == "the| kid")
        var line = LineEditor("a")
        for key in [control("d"), control("f"), TerminalKey(.up), TerminalKey(.enter), TerminalKey(.escape)] {
            let isTaken = line.take(key)
            #expect(!isTaken)
        }
    }

    @Test("a user-perceived character is one unit")
    func clusters() {
        #expect(typed("e", TerminalKey(.character("\u{301}")), TerminalKey(.backspace)) == "|")
        #expect(typed("👩‍🚀a", TerminalKey(.left), TerminalKey(.left)) == "|👩‍🚀a")
        // A combining mark belongs to the character before it, although another one follows.
        #expect(typed("ab", TerminalKey(.left), TerminalKey(.character("\u{301}"))) == "a\u{301}|b")
    }

    @Test("a paste becomes one harmless line, within the limit")
    func paste() {
        var line = LineEditor()
        line.insert("two\r\nlines\tand\u{1B}\u{7} more")
        #expect(line.text == "two lines and more")
        line.insert(String(repeating: "x", count: 5000))
        #expect(line.text.count == LineEditor.longest)
        line.insert("y")
        #expect(line.text.count == LineEditor.longest)
    }

    @Test("a line longer than the room shows the part with the cursor")
    func window() {
        func window(_ line: LineEditor, _ width: Int) -> LineEditor.Window { line.window(width: width) }
        var line = LineEditor("abcdefgh")
        #expect(window(line, 20) == .init(before: "abcdefgh", underCursor: " ", after: ""))
        #expect(window(line, 4) == .init(before: "fgh", underCursor: " ", after: ""))
        _ = line.take(TerminalKey(.home))
        #expect(window(line, 4) == .init(before: "", underCursor: "a", after: "bcd"))
        #expect(window(LineEditor("日本語"), 5) == .init(before: "本語", underCursor: " ", after: ""))
        #expect(window(LineEditor("a\u{202E}b"), 40).before == "a‹U+202E›b")
        for width in 0...3 {
            let shown = window(line, width)
            #expect(TerminalText.width(shown.before + shown.underCursor + shown.after) <= max(1, width))
        }
    }
}
