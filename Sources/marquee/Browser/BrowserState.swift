import BackgroundTransfers
import LazyImages
import MovieCatalogue
import TerminalGraphics

/// The browser's state and how keys change it: a plain struct without a terminal, a clock or a loader. Times are in
/// seconds of any clock.
struct BrowserState {
    enum Page { case films, film }

    /// What the browser's loop has to do after an event.
    enum Effect: Equatable {
        case quit
        case suspend
        /// The screen's content is unknown: draw all of it.
        case redraw
        /// The rows or their order have changed.
        case rowsChanged
        case motion(ScrollPhase)
        /// Load the failed posters again.
        case retry
        /// Read the catalogue again.
        case refresh
        /// Play the selected film, copy its poster's address, save its poster.
        case play, copyAddress, savePoster
        /// Load the picture of a typed address; load the answer behind the selected film's failure; stop either.
        case open(String), showAnswer, stopOpening
    }

    var list = FilmList()
    var motion = ScrollMotion()
    private(set) var layout: BrowserLayout
    var page = Page.films
    /// What covers the page; nil for nothing.
    var overlay: Overlay?
    /// Whether the status line shows figures instead of the film.
    var showsFigures = false
    /// The filter while it is being typed; nil otherwise.
    var editor: LineEditor?
    /// The earlier filters.
    var searches = SearchHistory()
    var catalogue = CatalogueState.opening
    /// The result of the last reading or command, shown until the next key.
    var notice: String?
    /// Input that waits for the first films.
    var typedAhead = TypedAhead()
    /// Why the selected film's poster failed; nil if it did not.
    var failure: PosterFailure?
    /// The network's reach; nil until it is known.
    var reach: NetworkPath.Reach?
    /// A cell's height divided by its width.
    private(set) var cellAspect = 2.0
    var overlayTop = 0
    var filmTop = 0

    /// A browser whose catalogue is being read.
    /// - Parameter hasPosters: whether posters are shown. Default: yes.
    init(size: CellSize, hasPosters: Bool = true) {
        layout = BrowserLayout(size: size, style: .list, hasPosters: hasPosters)
    }

    /// Whether letters go to the filter.
    var isFiltering: Bool { editor != nil }

    /// Whether the window is too small to be of use.
    var isTooSmall: Bool {
        layout.size.columns < BrowserLayout.minimum.columns || layout.size.rows < BrowserLayout.minimum.rows
    }

    /// The rows that are on the screen.
    var shown: Range<Int> {
        page == .films ? layout.visible(scroll: motion.offset, count: list.rows.count) : 0..<0
    }

    /// The rows whose posters are wanted in the list, or on the wall.
    var visible: Range<Int> { layout.style == .lines || !layout.hasPosters ? 0..<0 : shown }

    /// The place of a film in full, alone or beside the list; nil if there is none.
    var filmPage: FilmPage? { page == .film ? layout.filmAlone : layout.film }

    /// The row of that film.
    var visibleInFull: Range<Int> {
        filmPage == nil || list.rows.isEmpty || !layout.hasPosters ? 0..<0 : list.selected..<list.selected + 1
    }

    // MARK: Text longer than the window

    /// The number of lines of the overlay's text, or of the film on its page; nil where there is no text.
    private var textLines: Int? {
        switch overlay {
        case .help: return HelpPage.lines(width: layout.size.columns).count
        case .answer(let answer): return answer.lines(width: layout.size.columns).count
        case .picture: return nil
        case .address, .opening, nil: break
        }
        guard page == .film, let movie = list.selectedMovie else { return nil }
        return layout.filmAlone.lines(of: movie, context).count
    }

    /// What the selected film's page tells about other films.
    var context: FilmContext {
        var context = FilmContext(failure: failure)
        context.words = list.words
        guard list.selectedMovie != nil else { return context }
        context.change = list.change(inRow: list.selected)
        context.sameDirector = list.sameDirector(first: FilmPage.mostOfDirector)
        // Beside the film, the list shows its neighbours.
        guard page == .film else { return context }
        context.isPlayedByEnter = true
        let rows = list.rows.indices
        context.previous = rows.contains(list.selected - 1) ? list.movie(inRow: list.selected - 1) : nil
        context.next = rows.contains(list.selected + 1) ? list.movie(inRow: list.selected + 1) : nil
        return context
    }

    /// The message to show; nil if there is none.
    var message: String? {
        if overlay?.hidesFilms == true { return notice }
        // A film in full explains itself why it has no poster, and lines have no posters.
        let failure = filmPage == nil && layout.style != .lines ? failure?.line : nil
        return notice ?? searchNote ?? failure ?? catalogue.explanation
    }

    /// What is wrong with the filter, or that its spelling was forgiven; nil if neither.
    private var searchNote: String? {
        if let problem = list.words.problem { return "\(problem.member): \(problem.detail)" }
        return list.areSimilar ? "No film has these words; these titles are similar" : nil
    }

    /// The lines of the present text that are on the screen, and how many there are; nil if all of them are.
    var textPosition: (shown: Range<Int>, count: Int)? {
        let isOver = overlay?.hidesFilms == true
        let rows = isOver ? layout.page.size.rows : layout.filmAlone.text.size.rows
        guard let count = textLines, count > rows, rows > 0 else { return nil }
        let top = min(isOver ? overlayTop : filmTop, count - rows)
        return (top..<top + rows, count)
    }

    mutating func scrollText(to line: Int) {
        guard let (shown, count) = textPosition else { return }
        let top = max(0, min(line, count - shown.count))
        if overlay?.hidesFilms == true { overlayTop = top } else { filmTop = top }
    }

    // MARK: Events

    mutating func resize(to size: CellSize, cellAspect: Double) -> [Effect] {
        self.cellAspect = cellAspect
        setLayout(size, layout.style)
        return showSelection() + [.redraw]
    }

    mutating func advance(now: Double) -> [Effect] {
        handleTypedAhead(now: now) + motion.advance(now: now).map(Effect.motion)
    }

    mutating func handle(_ event: TerminalEvent, now: Double) -> [Effect] {
        if isTooSmall { return handleUnseen(event) }
        switch event {
        case .key(let key):
            notice = nil
            return keep(event) ? [] : handle(key, now: now)
        case .wheel(let direction, _):
            if let (shown, _) = textPosition {
                scrollText(to: shown.lowerBound + (direction == .up ? -3 : 3))
                return []
            }
            return page == .films && overlay == nil ? scroll(direction == .up ? -1 : 1, now: now) : []
        case .click(let position): return click(position)
        case .paste(let text): return keep(event) ? [] : paste(text)
        case .stopRequested: return [.suspend]
        case .continued: return [.redraw]
        case .closed: return [.quit]
        case .resized, .answer: return []
        }
    }

    /// Handles an event while the window is too small to show its effect.
    private func handleUnseen(_ event: TerminalEvent) -> [Effect] {
        switch event {
        case .key(TerminalKey(.character("q"))), .key(TerminalKey(.character("c"), .control)), .closed:
            [.quit]
        case .key(TerminalKey(.character("z"), .control)), .stopRequested: [.suspend]
        case .continued: [.redraw]
        default: []
        }
    }

    /// The next of list, lines and wall; there is no wall without posters.
    var nextStyle: BrowserLayout.Style {
        let next = layout.style.next
        return !layout.hasPosters && next == .wall ? next.next : next
    }

    mutating func showNextStyle() { setLayout(layout.size, nextStyle) }

    private mutating func setLayout(_ size: CellSize, _ style: BrowserLayout.Style) {
        layout = BrowserLayout(
            size: size, style: style, cellAspect: cellAspect, hasPosters: layout.hasPosters)
    }

    mutating func paste(_ text: String) -> [Effect] {
        if case .address(var line) = overlay {
            line.insert(text)
            overlay = .address(line)
        }
        guard editor != nil, overlay == nil else { return [] }
        editor?.insert(text)
        return filter(editor?.text ?? "")
    }
}
