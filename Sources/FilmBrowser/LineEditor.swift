import TerminalGraphics

/// A line that is being typed: its text and a cursor, which stands between two grapheme clusters. A plain struct
/// without a terminal.
package struct LineEditor: Equatable {
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
        before += String(typed)
        // A combining mark joins the character before it, and some characters join the next one: the cursor goes behind
        // them.
        let bytes = before.utf8.count
        move { whole in
            whole.indices.first { whole.utf8.distance(from: whole.startIndex, to: $0) >= bytes }
        }
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
        move { $0.index($0.startIndex, offsetBy: position, limitedBy: $0.endIndex) }
    }

    /// Moves the cursor to a place in the whole text; nil is its end.
    private mutating func move(to place: (String) -> String.Index?) {
        let whole = text
        let cursor = place(whole) ?? whole.endIndex
        (before, after) = (String(whole[..<cursor]), String(whole[cursor...]))
    }

    private mutating func eraseWord() { before = String(before.prefix(wordStart)) }

    /// The start of the word before the cursor, and the end of the word after it.
    private var wordStart: Int { before.count - Self.firstWord(of: before.reversed()) }
    private var wordEnd: Int { before.count + Self.firstWord(of: after) }

    /// The length of the first word, with the spaces before it.
    private static func firstWord(of text: some Collection<Character>) -> Int {
        let spaces = text.prefix { $0 == " " }.count
        return spaces + text.dropFirst(spaces).prefix { $0 != " " }.count
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

/// The searches of one run of the browser: Up in the search line brings back earlier ones, Down goes on to newer ones.
/// A plain struct.
struct SearchHistory: Equatable {
    /// The most searches that are kept.
    private static let longest = 100

    /// The oldest first; no two neighbours are equal.
    private var texts: [String] = []
    /// The shown text's index; nil for the line that is being typed.
    private var shown: Int?
    /// The line that was being typed before the first earlier search.
    private var typed = ""

    /// Keeps a search, unless it is blank, and goes back to the newest.
    mutating func add(_ text: String) {
        shown = nil
        guard text.contains(where: { $0 != " " }), text != texts.last else { return }
        texts = texts.suffix(Self.longest - 1) + [text]
    }

    /// The search before the shown one; nil if there is none.
    /// - Parameter text: the present line.
    mutating func older(than text: String) -> String? {
        var index = shown ?? texts.count
        // The line shows the last search when it is opened again.
        repeat { index -= 1 } while shown == nil && index >= 0 && texts[index] == text
        guard index >= 0 else { return nil }
        if shown == nil { typed = text }
        shown = index
        return texts[index]
    }

    /// The search after the shown one, and at last the line that was being typed; nil if that is shown.
    mutating func newer() -> String? {
        guard let index = shown else { return nil }
        shown = index + 1 < texts.count ? index + 1 : nil
        return shown.map { texts[$0] } ?? typed
    }
}

/// Keys and pastes that wait for the first films of a catalogue, in order. A plain struct.
struct TypedAhead: Equatable {
    /// The most events that are kept.
    private static let longest = 4096

    /// Where the kept keys lead to.
    enum Place { case list, film, line }

    var events: [TerminalEvent] = []

    /// The place of the next key.
    func place(_ keys: BrowserKeys) -> Place {
        events.reduce(.list) { place, event in
            guard case .key(let typed) = event, let key = place == .line ? typed : keys.meaning(of: typed),
                key.modifiers.isDisjoint(with: [.control, .alt])
            else { return place }
            switch (place, key.code) {
            case (.line, .enter), (.line, .escape): return .list
            case (.line, _): return .line
            case (_, .character("/")), (.list, .character("o")): return .line
            case (.list, .enter), (.list, .right), (.list, .character("l")): return .film
            case (.film, .character("q")), (.film, .escape), (.film, .backspace): return .list
            default: return place
            }
        }
    }

    /// Keeps an event; drops it if there are too many.
    mutating func append(_ event: TerminalEvent) { if events.count < Self.longest { events.append(event) } }
}

extension BrowserState {
    /// Whether no film is shown yet, but some may come.
    private var awaitsFilms: Bool {
        switch catalogue {
        case .opening, .loading: list.rows.isEmpty
        case .refreshing, .complete, .outOfDate, .incomplete: false
        }
    }

    /// Keeps an event that needs a film, or is behind one that does, while the first films are still to come. Keys that
    /// end, stop or redraw the browser, or ask for help, never wait, nor does Escape in the list: it drops the kept ones.
    mutating func keep(_ event: TerminalEvent) -> Bool {
        guard awaitsFilms, overlay == nil else { return false }
        let place = typedAhead.place(keys)
        let present = place == .line ? BrowserKeys() : presentKeys
        if case .key(let typed) = event, let key = present.meaning(of: typed) {
            // R has no effect here: the catalogue is being read.
            if place != .line, case .character(let letter) = key.code, "?rR".contains(letter) {
                return false
            }
            if key.modifiers == .control, ["c", "z", "l"].contains(where: { key.code == .character($0) }) {
                return false
            }
            if place == .list, [.escape, .character("q")].contains(key.code) {
                typedAhead.events = []
                return false
            }
        }
        guard !typedAhead.events.isEmpty || needsFilm(event) else { return false }
        typedAhead.append(event)
        return true
    }

    /// Whether an event does nothing without a film.
    private func needsFilm(_ event: TerminalEvent) -> Bool {
        guard editor == nil, overlay == nil, case .key(let typed) = event, let key = keys.meaning(of: typed)
        else { return false }
        switch key.code {
        case .character(let letter): return !"/?sviorRq".contains(letter)
        case .escape: return false
        default: return true
        }
    }

    /// Handles the kept events once there are films, and nothing covers them.
    mutating func handleTypedAhead(now: Double) -> [Effect] {
        guard overlay == nil else { return [] }
        var effects: [Effect] = []
        while let event = typedAhead.events.first, !awaitsFilms || !needsFilm(event) {
            typedAhead.events.removeFirst()
            switch event {
            case .key(let key): effects += handle(key, now: now)
            case .paste(let text): effects += paste(text)
            default: break
            }
        }
        return effects
    }
}
