import Films
package import TerminalGraphics

/// The keys of the browser's commands, as the person has set them in the configuration file:
///
///     key-seen = m
///     key-quit = ctrl-x F10
///
/// A command then has these keys, and no longer its usual one.
package struct BrowserKeys: Sendable, Equatable {
    /// The commands by name, and their usual keys.
    private static let usual: [(name: String, key: TerminalKey)] = [
        ("up", TerminalKey(.up)), ("down", TerminalKey(.down)), ("left", TerminalKey(.left)),
        ("right", TerminalKey(.right)), ("page-up", TerminalKey(.pageUp)),
        ("page-down", TerminalKey(.pageDown)), ("first", TerminalKey(.home)), ("last", TerminalKey(.end)),
        ("open", TerminalKey(.enter)), ("back", TerminalKey(.escape)), ("next", letter("n")),
        ("previous", letter("N")), ("find", letter("/")), ("sort", letter("s")), ("view", letter("v")),
        ("figures", letter("i")), ("retry", letter("r")), ("refresh", letter("R")), ("copy", letter("y")),
        ("save", letter("o")), ("export", letter("e")), ("select", letter(" ")), ("select-all", letter("A")),
        ("seen", letter("w")), ("favourite", letter("f")), ("to-watch", letter("t")), ("undo", letter("u")),
        ("help", letter("?")), ("quit", letter("q")),
    ]

    private static let named: [String: TerminalKey.Code] = [
        "up": .up, "down": .down, "left": .left, "right": .right, "home": .home, "end": .end,
        "page-up": .pageUp, "page-down": .pageDown, "enter": .enter, "esc": .escape, "tab": .tab,
        "backspace": .backspace, "delete": .delete, "insert": .insert, "space": .character(" "),
        // As the browser shows them.
        "↑": .up, "↓": .down, "←": .left, "→": .right, "pgup": .pageUp, "pgdn": .pageDown,
    ]

    private static func letter(_ character: Character) -> TerminalKey { TerminalKey(.character(character)) }

    /// The usual key of each key that the person has set.
    private var meanings: [TerminalKey: TerminalKey] = [:]
    /// The words of the person's keys by the command's usual key.
    private var words: [TerminalKey: String] = [:]

    /// The usual keys.
    package init() {}

    /// Sets the keys of a command.
    /// - Throws: what is wrong, for people.
    package mutating func set(_ name: String, to text: String) throws(SettingError) {
        guard let command = Self.usual.first(where: { $0.name == name }) else {
            let names = Self.usual.map(\.name)
            let nearest = Suggestions.nearest(to: name, among: names, count: 1).first
            throw SettingError(
                "there is no key-\(name)"
                    + (nearest.map { "; did you mean key-\($0)?" }
                        ?? "; there are \(names.map { "key-" + $0 }.joined(separator: ", "))"))
        }
        let texts = text.split(whereSeparator: \.isWhitespace)
        meanings = meanings.filter { $0.value != command.key }
        for word in texts {
            guard let key = Self.key(word) else {
                throw SettingError(
                    "key-\(name) needs keys such as x, ctrl-x, F5, space or page-up, not \"\(word)\"")
            }
            if let other = meanings[key], let taken = Self.usual.first(where: { $0.key == other }) {
                throw SettingError("key-\(name): \(word) is the key of \(taken.name) already")
            }
            meanings[key] = command.key
        }
        words[command.key] = texts.joined(separator: " ")
    }

    private static func key(_ word: Substring) -> TerminalKey? {
        let lower = word.lowercased()
        if let code = named[lower] { return TerminalKey(code) }
        if word.count == 1, let character = word.first { return letter(character) }
        if lower.hasPrefix("ctrl-"), lower.count == 6, let character = lower.last {
            // Ctrl-C and Ctrl-Z always end and stop the program. Terminals send Backspace, Tab and Enter for Ctrl-H, I, J
            // and M.
            let letters = "abdefgklnopqrstuvwxy\\]^_"
            return letters.contains(character) ? TerminalKey(.character(character), .control) : nil
        }
        guard lower.hasPrefix("f"), let number = Int(lower.dropFirst()), 1...12 ~= number else { return nil }
        return TerminalKey(.function(number))
    }

    /// The usual key that a key stands for; nil if it has lost its meaning.
    func meaning(of key: TerminalKey) -> TerminalKey? {
        if let usual = meanings[key] { return usual }
        return words[key] == nil ? key : nil
    }

    /// The person's keys for what a usual key does; nil if no key does it.
    /// - Parameter key: a usual key, in words.
    func shown(_ key: String) -> String? {
        guard !words.isEmpty, let usual = Self.key(Substring(key)) else { return key }
        if let own = words[usual] { return own.isEmpty ? nil : own }
        return meanings[usual] == nil ? key : nil
    }

    /// A text about keys with the person's keys. A part whose keys are all lost is left out. Elsewhere a middle dot stands
    /// for a lost key.
    /// - Parameter template: parts with `; ` between them, and each usual key in braces: `{u} undoes it`.
    package func text(_ template: String) -> String {
        let parts = template.split(separator: "; ", omittingEmptySubsequences: false).compactMap {
            part -> String? in
            var pieces = part.split(separator: "{", omittingEmptySubsequences: false)
            var (text, found) = (String(pieces.removeFirst()), [String?]())
            for piece in pieces {
                let ends = piece.split(separator: "}", maxSplits: 1, omittingEmptySubsequences: false)
                let key = shown(String(ends[0]))
                found.append(key)
                text += (key ?? "·") + ends.dropFirst().joined()
            }
            return found.isEmpty || found.contains { $0 != nil } ? text : nil
        }
        return parts.joined(separator: "; ")
    }

    /// The keys that may end or stop the browser. What is typed behind them is for the shell.
    package var last: Set<TerminalKey> {
        let quit = Self.letter("q")
        let own = meanings.filter { $0.value == quit }.map(\.key) + (meaning(of: quit) == quit ? [quit] : [])
        return Set(own + "cz".map { TerminalKey(.character($0), .control) })
    }
}

/// A wrong setting of the browser.
package struct SettingError: Error, CustomStringConvertible {
    /// What is wrong, for people.
    package let description: String

    init(_ description: String) { self.description = description }
}
