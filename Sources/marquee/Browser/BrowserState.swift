import MovieCatalogue
import TerminalGraphics

/// All that the browser shows and how keys change it: a plain struct without a terminal, a clock or a loader. Times are in
/// seconds of any clock.
struct BrowserState {
    enum Page { case films, film }

    /// What the outside has to do about an event.
    enum Effect: Equatable {
        case quit
        case suspend
        /// What is on the screen is unknown: draw all of it.
        case redraw
        /// The rows are others now, or in another order.
        case rowsChanged
        case motion(ScrollMotion.Change)
        /// Ask again for the posters that failed.
        case retry
        /// Read the catalogue again.
        case refresh
    }

    var list = FilmList()
    var motion = ScrollMotion()
    private(set) var layout: BrowserLayout
    var page = Page.films
    /// Whether the help hides the page.
    var isHelpShown = false
    /// Whether the status line shows figures in the film's place.
    private(set) var showsFigures = false
    /// Whether letters go to the filter.
    private(set) var isFiltering = false
    var catalogue = CatalogueState.opening
    /// What a reading of the catalogue ended with, said until the next key.
    var notice: String?
    /// Why the selected film's poster could not be had; nil if it could.
    var failure: PosterFailure?
    private var cellAspect = 2.0
    private var helpTop = 0
    var filmTop = 0

    /// A browser whose catalogue is being read.
    init(size: CellSize) { layout = BrowserLayout(size: size, style: .list) }

    /// Whether the window is too small to show anything of use.
    var isTooSmall: Bool {
        layout.size.columns < BrowserLayout.minimum.columns || layout.size.rows < BrowserLayout.minimum.rows
    }

    /// The rows that are on the screen.
    var shown: Range<Int> {
        page == .films ? layout.visible(scroll: motion.offset, count: list.rows.count) : 0..<0
    }

    /// The rows whose posters are wanted in the list, or on the wall.
    var visible: Range<Int> { layout.style == .lines ? 0..<0 : shown }

    /// Where a film stands in full, alone or beside the list; nil where none does.
    var filmPage: FilmPage? { page == .film ? layout.filmAlone : layout.film }

    /// The row whose film stands there.
    var visibleInFull: Range<Int> {
        filmPage == nil || list.rows.isEmpty ? 0..<0 : list.selected..<list.selected + 1
    }

    // MARK: Text longer than the window

    /// The lines of the help, or of the film on its page; nil on a page that is no text.
    private var textLines: Int? {
        if isHelpShown { return HelpPage.lines(width: layout.size.columns).count }
        guard page == .film, let movie = list.selectedMovie else { return nil }
        return layout.filmAlone.lines(of: movie, surroundings).count
    }

    /// What the selected film's page tells of the films around it.
    var surroundings: FilmSurroundings {
        var surroundings = FilmSurroundings(failure: failure)
        guard list.selectedMovie != nil else { return surroundings }
        surroundings.change = list.change(inRow: list.selected)
        surroundings.sameDirector = list.sameDirector(first: FilmPage.mostOfDirector)
        // The list beside it shows its neighbours.
        guard page == .film else { return surroundings }
        let rows = list.rows.indices
        surroundings.previous = rows.contains(list.selected - 1) ? list.movie(inRow: list.selected - 1) : nil
        surroundings.next = rows.contains(list.selected + 1) ? list.movie(inRow: list.selected + 1) : nil
        return surroundings
    }

    /// What is to be said; nil where all is well.
    var message: String? {
        // A film that stands in full says itself why it has no poster, and lines have none.
        let failure = filmPage == nil && layout.style != .lines ? failure?.line : nil
        return notice ?? failure ?? catalogue.explanation
    }

    /// The lines of the present page's text that are on the screen, and how many there are; nil where all of them are.
    var textPosition: (shown: Range<Int>, count: Int)? {
        let rows = isHelpShown ? layout.page.size.rows : layout.filmAlone.text.size.rows
        guard let count = textLines, count > rows, rows > 0 else { return nil }
        let top = min(isHelpShown ? helpTop : filmTop, count - rows)
        return (top..<top + rows, count)
    }

    /// Scrolls the present page's text by a key. False where all of it is on the screen, or the key is for something else.
    private mutating func scrollText(by key: TerminalKey) -> Bool {
        guard let (shown, count) = textPosition else { return false }
        switch key.code {
        case .up, .character("k"): scrollText(to: shown.lowerBound - 1)
        case .down, .character("j"): scrollText(to: shown.lowerBound + 1)
        case .pageUp, .character("b"): scrollText(to: shown.lowerBound - shown.count)
        case .pageDown, .character(" "): scrollText(to: shown.upperBound)
        case .home, .character("g"): scrollText(to: 0)
        case .end, .character("G"): scrollText(to: count)
        default: return false
        }
        return true
    }

    private mutating func scrollText(to line: Int) {
        guard let (shown, count) = textPosition else { return }
        let top = max(0, min(line, count - shown.count))
        if isHelpShown { helpTop = top } else { filmTop = top }
    }

    // MARK: Events

    mutating func resize(to size: CellSize, cellAspect: Double) -> [Effect] {
        self.cellAspect = cellAspect
        layout = BrowserLayout(size: size, style: layout.style, cellAspect: cellAspect)
        return showSelection() + [.redraw]
    }

    mutating func advance(now: Double) -> [Effect] { motion.advance(now: now).map(Effect.motion) }

    mutating func handle(_ event: TerminalEvent, now: Double) -> [Effect] {
        if isTooSmall { return handleUnseen(event) }
        switch event {
        case .key(let key):
            notice = nil
            return handle(key, now: now)
        case .wheel(let direction, _):
            if let (shown, _) = textPosition {
                scrollText(to: shown.lowerBound + (direction == .up ? -3 : 3))
                return []
            }
            return page == .films && !isHelpShown ? scroll(direction == .up ? -1 : 1, now: now) : []
        case .click(let position): return click(position)
        case .paste(let text): return isFiltering ? filter(list.filter + text) : []
        case .stopRequested: return [.suspend]
        case .continued: return [.redraw]
        case .closed: return [.quit]
        case .resized, .answer: return []
        }
    }

    /// An event while the window is too small to show what it would do.
    private func handleUnseen(_ event: TerminalEvent) -> [Effect] {
        switch event {
        case .key(TerminalKey(.character("q"))), .key(TerminalKey(.character("c"), .control)), .closed:
            [.quit]
        case .key(TerminalKey(.character("z"), .control)), .stopRequested: [.suspend]
        case .continued: [.redraw]
        default: []
        }
    }

    private mutating func handle(_ key: TerminalKey, now: Double) -> [Effect] {
        if key.modifiers == .control {
            switch key.code {
            case .character("c"): return [.quit]
            case .character("z"): return [.suspend]
            case .character("l"): return [.redraw]
            default: return []
            }
        }
        if isHelpShown {
            if scrollText(by: key) { return [] }
            isHelpShown = false
            return key.code == .character("q") ? [.quit] : []
        }
        if isFiltering, let effects = handleFilterKey(key) { return effects }
        switch page {
        case .film: return handleFilmKey(key, now: now)
        case .films: return handleFilmsKey(key, now: now)
        }
    }

    /// Keys while a filter is typed; nil for those that move through the films all the same.
    private mutating func handleFilterKey(_ key: TerminalKey) -> [Effect]? {
        switch key.code {
        case .character(let character): return filter(list.filter + String(character))
        case .backspace:
            if list.filter.isEmpty { isFiltering = false }
            return filter(String(list.filter.dropLast()))
        case .enter:
            isFiltering = false
            return []
        case .escape:
            isFiltering = false
            return filter("")
        default: return nil
        }
    }

    private mutating func handleFilmsKey(_ key: TerminalKey, now: Double) -> [Effect] {
        switch key.code {
        case .character("q"): return [.quit]
        case .up, .character("k"): return move(-layout.perLine, now: now)
        case .down, .character("j"): return move(layout.perLine, now: now)
        case .left where layout.style == .wall, .character("h") where layout.style == .wall:
            return move(-1, now: now)
        case .right where layout.style == .wall, .character("l") where layout.style == .wall:
            return move(1, now: now)
        case .character("N"): return move(-1, now: now)
        case .character("n"): return move(1, now: now)
        case .pageUp, .character("b"): return jump(to: list.selected - layout.pageRows, now: now)
        case .pageDown, .character(" "): return jump(to: list.selected + layout.pageRows, now: now)
        case .home, .character("g"): return jump(to: 0, now: now)
        case .end, .character("G"): return jump(to: list.rows.count - 1, now: now)
        case .enter, .right: return open()
        case .escape: return list.filter.isEmpty ? [] : filter("")
        case .character(let letter): return handleCommand(letter)
        default: return []
        }
    }

    private mutating func handleFilmKey(_ key: TerminalKey, now: Double) -> [Effect] {
        if scrollText(by: key) { return [] }
        switch key.code {
        case .character("q"): return [.quit]
        case .escape, .backspace, .left, .enter:
            page = .films
            return showSelection() + [.rowsChanged]
        case .down, .right, .character("n"), .character("j"), .character(" "), .pageDown:
            return turn(1, now: now)
        case .up, .character("N"), .character("k"), .character("b"), .pageUp: return turn(-1, now: now)
        case .character("r"): return [.retry]
        case .character("R"): return refresh()
        case .character("i"): showsFigures.toggle()
        case .character("?"): showHelp()
        default: break
        }
        return []
    }

    private mutating func handleCommand(_ letter: Character) -> [Effect] {
        switch letter {
        case "/": isFiltering = true
        case "?": showHelp()
        case "i": showsFigures.toggle()
        case "r": return [.retry]
        case "R": return refresh()
        case "s":
            list.setOrder(list.order.next)
            return [.rowsChanged] + showSelection()
        case "v":
            layout = BrowserLayout(size: layout.size, style: layout.style.next, cellAspect: cellAspect)
            return [.rowsChanged] + showSelection()
        default: break
        }
        return []
    }

    private mutating func refresh() -> [Effect] { catalogue.refresh() ? [.refresh] : [] }

    private mutating func showHelp() {
        isHelpShown = true
        helpTop = 0
    }
}
