import TerminalGraphics

/// Keys and pastes that wait for the first films of a catalogue, in order. A plain struct.
struct TypedAhead: Equatable {
    /// The most events that are kept.
    private static let longest = 4096

    /// Where the kept keys lead to.
    enum Place { case list, film, line }

    private(set) var events: [TerminalEvent] = []

    /// The place of the next key.
    var place: Place {
        events.reduce(.list) { place, event in
            guard case .key(let key) = event, key.modifiers.isDisjoint(with: [.control, .alt]) else {
                return place
            }
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

    mutating func removeAll() { events = [] }

    /// Takes the oldest event; nil if there is none.
    mutating func next() -> TerminalEvent? { events.isEmpty ? nil : events.removeFirst() }
}

extension BrowserState {
    /// The keys that may end or stop the browser. What is typed behind them is for the shell.
    static let lastKeys: Set<TerminalKey> = [
        TerminalKey(.character("q")), TerminalKey(.character("c"), .control),
        TerminalKey(.character("z"), .control),
    ]

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
        if case .key(let key) = event {
            // R has no effect here: the catalogue is being read.
            if typedAhead.place != .line, case .character(let letter) = key.code, "?rR".contains(letter) {
                return false
            }
            if key.modifiers == .control, ["c", "z", "l"].contains(where: { key.code == .character($0) }) {
                return false
            }
            if typedAhead.place == .list, [.escape, .character("q")].contains(key.code) {
                typedAhead.removeAll()
                return false
            }
        }
        guard !typedAhead.events.isEmpty || needsFilm(event) else { return false }
        typedAhead.append(event)
        return true
    }

    /// Whether an event does nothing without a film.
    private func needsFilm(_ event: TerminalEvent) -> Bool {
        guard editor == nil, overlay == nil, case .key(let key) = event else { return false }
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
            _ = typedAhead.next()
            switch event {
            case .key(let key): effects += handle(key, now: now)
            case .paste(let text): effects += paste(text)
            default: break
            }
        }
        return effects
    }
}
