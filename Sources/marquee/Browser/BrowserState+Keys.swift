import TerminalGraphics

/// The keys and their effects.
extension BrowserState {
    /// A movement through the films, or through a long text.
    enum Movement {
        case lines(Int)
        case halfPages(Int)
        case pages(Int)
        case first, last

        /// The movement of a key; nil for a key that does something else.
        init?(_ key: TerminalKey) {
            switch (key.code, key.modifiers == .control) {
            case (.up, _), (.character("k"), false): self = .lines(-1)
            case (.down, _), (.character("j"), false): self = .lines(1)
            case (.pageUp, _), (.character("b"), _): self = .pages(-1)
            case (.pageDown, _), (.character(" "), false), (.character("f"), true): self = .pages(1)
            case (.character("u"), true): self = .halfPages(-1)
            case (.character("d"), true): self = .halfPages(1)
            case (.home, _), (.character("g"), false): self = .first
            case (.end, _), (.character("G"), false): self = .last
            default: return nil
            }
        }
    }

    mutating func handle(_ key: TerminalKey, now: Double) -> [Effect] {
        if key.modifiers == .control {
            switch key.code {
            case .character("c"): return [.quit]
            case .character("z"): return [.suspend]
            case .character("l"): return [.redraw]
            default: break
            }
        }
        if let overlay { return handleOverlayKey(key, overlay) }
        if editor != nil, let effects = handleFilterKey(key, now: now) { return effects }
        if let movement = Movement(key) { return perform(movement, now: now) }
        // No other key is used with Control or Alt.
        guard key.modifiers.isDisjoint(with: [.control, .alt]) else { return [] }
        switch page {
        case .film: return handleFilmKey(key, now: now)
        case .films: return handleFilmsKey(key, now: now)
        }
    }

    /// Handles keys while a filter is being typed; nil for keys that move through the films as usual.
    private mutating func handleFilterKey(_ key: TerminalKey, now: Double) -> [Effect]? {
        switch key.code {
        case .enter:
            endFilter()
            return []
        case .escape:
            endFilter()
            return filter("")
        case .up, .down:
            let typed = editor?.text ?? ""
            guard let text = key.code == .up ? searches.older(than: typed) : searches.newer() else {
                return []
            }
            editor = LineEditor(text)
            return filter(text)
        case .backspace where editor?.text.isEmpty == true:
            endFilter()
            return []
        default:
            guard editor?.take(key) == true else { return nil }
            return filter(editor?.text ?? "")
        }
    }

    private mutating func endFilter() {
        searches.add(editor?.text ?? "")
        editor = nil
    }

    private mutating func handleFilmsKey(_ key: TerminalKey, now: Double) -> [Effect] {
        switch key.code {
        case .character("q"): return [.quit]
        case .left where layout.style == .wall, .character("h") where layout.style == .wall:
            return move(-1, now: now)
        case .right where layout.style == .wall, .character("l") where layout.style == .wall:
            return move(1, now: now)
        case .character("N"): return move(-1, now: now)
        case .character("n"): return move(1, now: now)
        case .enter, .right, .character("l"): return open()
        case .escape: return list.filter.isEmpty ? [] : filter("")
        case .character("v"):
            showNextStyle()
            return [.rowsChanged] + showSelection()
        case .character(let letter): return handleCommand(letter)
        default: return []
        }
    }

    private mutating func handleFilmKey(_ key: TerminalKey, now: Double) -> [Effect] {
        switch key.code {
        case .character("q"), .escape, .backspace: return closeFilm()
        case .enter:
            guard list.selectedMovie?.media == nil else { return [.play] }
            notice = "this film has no media to play; the catalogue names a film's file as media"
            return []
        case .right, .character("n"), .character("l"): return turn(1, now: now)
        case .left, .character("N"), .character("h"): return turn(-1, now: now)
        case .character("/"): return closeFilm() + handleCommand("/")
        case .character(let letter): return handleCommand(letter)
        default: return []
        }
    }

    /// Keys that do the same in the list and on a film's page.
    private mutating func handleCommand(_ letter: Character) -> [Effect] {
        switch letter {
        case "/": editor = LineEditor(list.filter)
        case "?": show(.help)
        case "i" where failure?.request != nil: return [.showAnswer]
        case "i": showsFigures.toggle()
        case "r": return [.retry]
        case "R": return catalogue.refresh() ? [.refresh] : []
        case "s":
            list.setOrder(list.order.next)
            return [.rowsChanged] + showSelection()
        case "y": return [.copyAddress]
        case "o" where page == .film: return [.savePoster]
        case "o": show(.address(LineEditor()))
        default: break
        }
        return []
    }

    private mutating func closeFilm() -> [Effect] {
        page = .films
        return showSelection() + [.rowsChanged]
    }

    // MARK: Movements

    private mutating func perform(_ movement: Movement, now: Double) -> [Effect] {
        if page == .film {
            if scrollText(by: movement) { return [] }
            switch movement {
            case .lines(let count), .halfPages(let count), .pages(let count): return turn(count, now: now)
            case .first, .last: return []
            }
        }
        switch movement {
        case .lines(let count): return move(count * layout.perLine, now: now)
        case .halfPages(let count):
            let rows = max(1, layout.pageRows / layout.perLine / 2) * layout.perLine
            return jump(to: list.selected + count * rows, now: now)
        case .pages(let count): return jump(to: list.selected + count * layout.pageRows, now: now)
        case .first: return jump(to: 0, now: now)
        case .last: return jump(to: list.rows.count - 1, now: now)
        }
    }

    /// Scrolls the present page's text. False if all of it is on the screen.
    mutating func scrollText(by movement: Movement) -> Bool {
        guard let (shown, count) = textPosition else { return false }
        switch movement {
        case .lines(let lines): scrollText(to: shown.lowerBound + lines)
        case .halfPages(let pages): scrollText(to: shown.lowerBound + pages * max(1, shown.count / 2))
        case .pages(let pages): scrollText(to: shown.lowerBound + pages * shown.count)
        case .first: scrollText(to: 0)
        case .last: scrollText(to: count)
        }
        return true
    }
}
