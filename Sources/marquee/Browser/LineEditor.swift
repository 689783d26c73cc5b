import TerminalGraphics

/// A line that is being typed: its text and a cursor, which stands between two grapheme clusters. A plain struct
/// without a terminal.
struct LineEditor: Equatable {
    /// The most characters of a line; more are left out.
    static let longest = 500

    /// The text on both sides of the cursor.
    private(set) var before = ""
    private(set) var after = ""

    init(_ text: String = "") { insert(text) }

    var text: String { before + after }

    /// Inserts a text before the cursor. A control character becomes a space.
    mutating func insert(_ text: String) {
        let room = max(0, Self.longest - before.count - after.count)
        let typed = text.prefix(room).map { $0.isNewline || $0 == "\t" ? " " : $0 }
            .filter { character in
                !character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
            }
        let rest = after
        before += String(typed)
        // A combining mark joins the character before it, and some characters join the next one: the cursor goes behind
        // them.
        let whole = before + rest
        let bytes = before.utf8.count
        let cursor = whole.indices.first { whole.utf8.distance(from: whole.startIndex, to: $0) >= bytes }
        before = String(whole[..<(cursor ?? whole.endIndex)])
        after = String(whole[(cursor ?? whole.endIndex)...])
    }

    /// Takes a key that edits a line; false for other keys.
    mutating func take(_ key: TerminalKey) -> Bool {
        switch (key.code, key.modifiers) {
        case (.character(let letter), .control): return takeControl(letter)
        case (.character(let character), []), (.character(let character), .shift): insert(String(character))
        case (.backspace, .alt): eraseWord()
        case (.backspace, _): _ = before.popLast()
        case (.delete, _): if !after.isEmpty { after.removeFirst() }
        case (.left, .control), (.left, .alt): move(to: wordStart)
        case (.right, .control), (.right, .alt): move(to: wordEnd)
        case (.left, _): move(to: max(0, before.count - 1))
        case (.right, _): move(to: before.count + 1)
        case (.home, _): move(to: 0)
        case (.end, _): move(to: .max)
        default: return false
        }
        return true
    }

    /// The control keys of a shell's line editor.
    private mutating func takeControl(_ letter: Character) -> Bool {
        switch letter {
        case "a": move(to: 0)
        case "e": move(to: .max)
        case "k": after = ""
        case "u": before = ""
        case "w": eraseWord()
        default: return false
        }
        return true
    }

    private mutating func move(to position: Int) {
        let whole = text
        let cursor =
            whole.index(whole.startIndex, offsetBy: position, limitedBy: whole.endIndex) ?? whole.endIndex
        before = String(whole[..<cursor])
        after = String(whole[cursor...])
    }

    private mutating func eraseWord() { before = String(before.prefix(wordStart)) }

    /// The start of the word before the cursor, and the end of the word after it.
    private var wordStart: Int {
        let spaces = before.reversed().prefix { $0 == " " }.count
        return before.count - spaces - before.reversed().dropFirst(spaces).prefix { $0 != " " }.count
    }
    private var wordEnd: Int {
        let spaces = after.prefix { $0 == " " }.count
        return before.count + spaces + after.dropFirst(spaces).prefix { $0 != " " }.count
    }

    /// The visible part of the line, with the cursor in it.
    struct Window: Equatable {
        /// Safe for a terminal. At the line's end, the cursor stands on a space.
        var before: String
        var underCursor: String
        var after: String
    }

    /// The part that fits into this width: the end of the line, or a part farther left that has the cursor in it.
    func window(width: Int) -> Window {
        let left = before.map { TerminalText.visible(String($0)) }
        let right = after.map { TerminalText.visible(String($0)) }
        let under = right.first ?? " "
        var room = max(0, width - TerminalText.width(under))
        var start = left.count
        while start > 0, TerminalText.width(left[start - 1]) <= room {
            room -= TerminalText.width(left[start - 1])
            start -= 1
        }
        let shown = left[start...].joined()
        var rest = ""
        for piece in right.dropFirst() {
            guard TerminalText.width(piece) <= room else { break }
            room -= TerminalText.width(piece)
            rest += piece
        }
        return Window(before: shown, underCursor: under, after: rest)
    }
}
