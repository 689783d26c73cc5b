import TerminalGraphics

/// A line that is typed: its text and a cursor between two characters, by grapheme clusters. A plain struct without a
/// terminal.
struct LineEditor: Equatable {
    /// Characters that a line has at most; what is typed or pasted beyond is left out.
    static let longest = 500

    /// The text on both sides of the cursor.
    private(set) var before = ""
    private(set) var after = ""

    init(_ text: String = "") { insert(text) }

    var text: String { before + after }

    /// Inserts a text before the cursor: what is no character of a line becomes a space.
    mutating func insert(_ text: String) {
        let room = max(0, Self.longest - before.count - after.count)
        let typed = text.prefix(room).map { $0.isNewline || $0 == "\t" ? " " : $0 }
            .filter { character in
                !character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
            }
        let rest = after
        before += String(typed)
        // A mark joins the character before it, and some characters join what follows: the cursor goes behind those.
        let whole = before + rest
        let bytes = before.utf8.count
        let cursor = whole.indices.first { whole.utf8.distance(from: whole.startIndex, to: $0) >= bytes }
        before = String(whole[..<(cursor ?? whole.endIndex)])
        after = String(whole[(cursor ?? whole.endIndex)...])
    }

    /// Takes a key that edits a line. False for one that does not.
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

    /// The keys of a shell's line.
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

    /// Where the word before the cursor begins, and the one after it ends.
    private var wordStart: Int {
        let spaces = before.reversed().prefix { $0 == " " }.count
        return before.count - spaces - before.reversed().dropFirst(spaces).prefix { $0 != " " }.count
    }
    private var wordEnd: Int {
        let spaces = after.prefix { $0 == " " }.count
        return before.count + spaces + after.dropFirst(spaces).prefix { $0 != " " }.count
    }

    /// A part of the line in so many cells, with the cursor in it.
    struct Window: Equatable {
        /// Harmless for a terminal. Under the cursor stands a space at the line's end.
        var before: String
        var underCursor: String
        var after: String
    }

    /// What is shown in so many cells: the end of the line, or so much more to the left that the cursor is seen.
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
