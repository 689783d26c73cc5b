package import BackgroundTransfers
import Films
package import LazyImages
package import TerminalGraphics

/// The browser's state and how keys change it: a plain struct without a terminal, a clock or a loader. Times are in
/// seconds of any clock.
package struct BrowserState {
    package enum Page { case films, film }

    /// What the browser's loop has to do after an event.
    package enum Effect: Equatable {
        case quit
        case suspend
        /// The screen's content is unknown: draw all of it.
        case redraw
        /// The rows or their order have changed.
        case rowsChanged
        case motion(ScrollPhase)
        /// Load the failed posters again.
        case retry
        /// Read the catalogue again; read more of an endless one.
        case refresh, readMore
        /// Search the films at the server; nil shows those of before.
        case search(String?)
        /// Play an address of the selected film.
        case play(String)
        /// Copy the address of the selected film's poster.
        case copyAddress
        /// Save the posters of the films that commands are for, or the films as a catalogue.
        case savePosters, export
        /// Store marks; keep the answer whether marks are sent to the films' server.
        case mark([MarkBook.Change]), sendMarks(Bool)
        /// Load the picture of a typed address; load the answer behind the selected film's failure; stop either.
        case open(String), showAnswer, stopOpening
    }

    package var list = FilmList()
    package var motion = ScrollMotion()
    package private(set) var layout: BrowserLayout
    package var page = Page.films
    /// What covers the page; nil for nothing.
    var overlay: Overlay?
    /// Whether the status line shows figures instead of the film.
    var showsFigures = false
    /// The filter while it is being typed; nil otherwise.
    var editor: LineEditor?
    /// The earlier filters.
    var searches = SearchHistory()
    package var catalogue = CatalogueState.opening
    /// The result of the last reading or command, shown until the next key.
    package var notice: String?
    /// Input that waits for the first films.
    var typedAhead = TypedAhead()
    /// Why the selected film's poster failed; nil if it did not.
    package var failure: PosterFailure?
    /// Whether the films may have changed while they were read.
    private var mustRefresh = false
    /// Whether nobody has asked for the present refresh. If it brings nothing, it says nothing.
    private var isUnasked = false
    /// What must stand beside the films; nil for nothing.
    package var attribution: String?
    /// Whether the films' server can be searched.
    package var canSearch = false
    /// The words that the server has searched; nil where all its films are shown.
    private(set) var searched: String?
    package var keys = BrowserKeys()
    package var colours = BrowserColours()
    /// The search at the server whose films come next, and the state before it; nil for none.
    private var awaited: (words: String?, before: CatalogueState)?
    /// Whether films can be played.
    package var hasPlayer = true
    /// The address that was played last.
    var played: String?
    /// The marks that were set, the last ones last.
    var undoable: [[MarkBook.Change]] = []
    /// The network's reach; nil until it is known.
    var reach: NetworkPath.Reach?
    /// A cell's height divided by its width.
    private(set) var cellAspect = 2.0
    var overlayTop = 0
    private var filmTop = 0

    /// A browser whose catalogue is being read.
    /// - Parameter hasPosters: whether posters are shown. Default: yes.
    package init(size: CellSize, hasPosters: Bool = true) {
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
    package var visible: Range<Int> { layout.style == .lines || !layout.hasPosters ? 0..<0 : shown }

    /// The place of a film in full, alone or beside the list; nil if there is none.
    package var filmPage: FilmPage? { page == .film ? layout.filmAlone : layout.film }

    /// The row of that film.
    package var visibleInFull: Range<Int> {
        filmPage == nil || list.rows.isEmpty || !layout.hasPosters ? 0..<0 : list.selected..<list.selected + 1
    }

    // MARK: Text longer than the window

    /// The text that covers the page; nil where there is none.
    var overlayText: [[StyledText]]? {
        switch overlay {
        case .help: HelpPage.lines(width: layout.size.columns, keys)
        case .answer(let paragraphs):
            paragraphs.flatMap { $0.lines(width: max(1, layout.size.columns - 2 * BrowserLayout.margin)) }
        case .address, .opening, .picture, .question, .versions, nil: nil
        }
    }

    /// The number of lines of the overlay's text, or of the film on its page; nil where there is no text.
    private var textLines: Int? {
        if overlay?.hidesFilms == true { return overlayText?.count }
        guard page == .film, let movie = list.selectedMovie else { return nil }
        return layout.filmAlone.lines(of: movie, context).count
    }

    /// What the selected film's page tells about other films.
    var context: FilmContext {
        var context = FilmContext(failure: failure)
        context.hits = hits
        context.changed = colours.changed
        context.attribution = attribution
        context.keys = presentKeys
        guard let movie = list.selectedMovie else { return context }
        context.marks = list.marks(of: movie)
        context.seenParts = list.marks.seenParts(of: movie)
        context.change = list.change(inRow: list.selected)
        context.sameDirector = list.sameDirector(first: FilmPage.mostOfDirector)
        // Beside the film, the list shows its neighbours.
        guard page == .film else { return context }
        context.isPlayedByEnter = hasPlayer
        let rows = list.rows.indices
        context.previous = rows.contains(list.selected - 1) ? list.movie(inRow: list.selected - 1) : nil
        context.next = rows.contains(list.selected + 1) ? list.movie(inRow: list.selected + 1) : nil
        return context
    }

    /// What the filter has found, and its colour.
    var hits: FilterHits { FilterHits(words: list.words, colour: colours.found) }

    /// The message to show; nil if there is none.
    package var message: String? {
        if overlay?.hidesFilms == true { return notice }
        switch overlay {
        case .question(let question, _): return question
        case .versions(let versions):
            let names = zip(Self.versionKeys, versions).map { "\($0) \($1.title)" }
            return "Play " + names.joined(separator: ", ") + "?"
        default: break
        }
        // A film in full explains itself why it has no poster, and lines have no posters.
        let failure = filmPage == nil && layout.style != .lines ? failure?.line(keys) : nil
        return notice ?? searchNote ?? failure ?? catalogue.explanation(keys)
    }

    /// What is wrong with the filter, or that its spelling was forgiven; nil if neither.
    private var searchNote: String? {
        list.problem ?? (list.areSimilar ? "No film has these words; these titles are similar" : nil)
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

    package mutating func resize(to size: CellSize, cellAspect: Double) -> [Effect] {
        self.cellAspect = cellAspect
        setLayout(size, layout.style)
        return showSelection() + [.redraw]
    }

    package mutating func advance(now: Double) -> [Effect] {
        handleTypedAhead(now: now) + motion.advance(now: now).map(Effect.motion)
    }

    package mutating func handle(_ event: TerminalEvent, now: Double) -> [Effect] {
        switch event {
        case .key(let key) where isTooSmall: return handleUnseen(key)
        case .wheel where isTooSmall, .click where isTooSmall, .paste where isTooSmall: return []
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

    /// Handles a key while the window is too small to show its effect.
    private func handleUnseen(_ key: TerminalKey) -> [Effect] {
        switch keys.meaning(of: key) {
        case TerminalKey(.character("q")), TerminalKey(.character("c"), .control): [.quit]
        case TerminalKey(.character("z"), .control): [.suspend]
        default: []
        }
    }

    /// The next of list, lines and wall; there is no wall without posters.
    var nextStyle: BrowserLayout.Style {
        switch layout.style {
        case .list: .lines
        case .lines: layout.hasPosters ? .wall : .list
        case .wall: .list
        }
    }

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
            case (.pageDown, _), (.character("f"), true): self = .pages(1)
            case (.character("u"), true): self = .halfPages(-1)
            case (.character("d"), true): self = .halfPages(1)
            case (.home, _), (.character("g"), false): self = .first
            case (.end, _), (.character("G"), false): self = .last
            default: return nil
            }
        }
    }

    /// The keys that answer a question.
    private static let answers: Set<TerminalKey.Code> = [
        .character("y"), .character("Y"), .character("n"), .character("N"), .escape,
    ]

    /// - Parameter typed: the key, which may stand for another one where no text is typed.
    mutating func handle(_ typed: TerminalKey, now: Double) -> [Effect] {
        guard let key = presentKeys.meaning(of: typed) else { return [] }
        if key.modifiers == .control {
            switch key.code {
            case .character("c"): return [.quit]
            case .character("z"): return [.suspend]
            case .character("l"): return [.redraw]
            default: break
            }
        }
        // A person who goes on has not answered, and need not.
        if case .question(_, .isSeen) = overlay, !Self.answers.contains(key.code) { overlay = nil }
        if let overlay { return handleOverlayKey(key, overlay) }
        if editor != nil, let effects = handleFilterKey(key, now: now) { return effects }
        if let movement = Movement(key) { return perform(movement, now: now) }
        if key == TerminalKey(.character(" ")) { return handleSpace(now: now) }
        // No other key is used with Control or Alt.
        guard key.modifiers.isDisjoint(with: [.control, .alt]) else { return [] }
        switch page {
        case .film: return handleFilmKey(key, now: now)
        case .films: return handleFilmsKey(key, now: now)
        }
    }

    /// The keys that act now: the person's own, or the usual ones where a text is typed or a question is answered.
    package var presentKeys: BrowserKeys {
        switch overlay {
        case .address, .question, .versions: BrowserKeys()
        case .help, .opening, .picture, .answer: keys
        case nil: editor == nil ? keys : BrowserKeys()
        }
    }

    /// Handles keys while a filter is being typed; nil for keys that move through the films as usual.
    private mutating func handleFilterKey(_ key: TerminalKey, now: Double) -> [Effect]? {
        switch key.code {
        case .enter:
            let words = editor?.text ?? ""
            endFilter()
            // The server knows neither the person's marks nor single fields.
            guard canSearch, !words.contains(":"), words.contains(where: { $0 != " " }) else { return [] }
            return search(words)
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

    /// Space reads on in a long text, as in a pager; elsewhere it selects the film together with others.
    private mutating func handleSpace(now: Double) -> [Effect] {
        if page == .film, scrollText(by: .pages(1)) { return [] }
        guard list.selectedMovie != nil else { return [] }
        list.toggleSelection()
        return page == .films ? move(1, now: now) : []
    }

    private mutating func endFilter() {
        searches.add(editor?.text ?? "")
        editor = nil
    }

    private mutating func handleFilmsKey(_ key: TerminalKey, now: Double) -> [Effect] {
        let isWall = layout.style == .wall
        switch key.code {
        case .character("q"): return [.quit]
        case .left where isWall, .character("h") where isWall, .character("N"): return move(-1, now: now)
        case .right where isWall, .character("l") where isWall, .character("n"): return move(1, now: now)
        case .enter, .right, .character("l"): return open()
        case .escape:
            if !list.selection.isEmpty {
                list.endSelection()
                return []
            }
            if !list.filter.isEmpty { return filter("") }
            return searched == nil ? [] : search(nil)
        case .character("v"):
            setLayout(layout.size, nextStyle)
            return [.rowsChanged] + showSelection()
        case .character(let letter): return handleCommand(letter)
        default: return []
        }
    }

    private mutating func handleFilmKey(_ key: TerminalKey, now: Double) -> [Effect] {
        switch key.code {
        case .character("q"), .escape, .backspace: return closeFilm()
        case .enter:
            if let movie = list.selectedMovie, movie.media != nil { return play(movie) }
            notice =
                list.selectedMovie?.unreadEpisodes == nil
                ? "this film has no media to play; the catalogue names a film's file as media"
                : "The episodes are not here yet; press Enter again"
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
            list.setOrder(list.nextOrder)
            return [.rowsChanged] + showSelection()
        case "y": return [.copyAddress]
        case "o" where page == .film || !list.selection.isEmpty:
            return targets().isEmpty ? [] : [.savePosters]
        case "o": show(.address(LineEditor()))
        case "A":
            list.selectAll()
            if catalogue.isReading, !list.selection.isEmpty {
                notice = "The films that are here are selected; others are being read"
            }
        case "e": return targets().isEmpty ? [] : [.export]
        case "w": return mark(.seen, 1)
        case "f": return mark(.favourite, 1)
        case "t": return mark(.toWatch, 1)
        case "0": return mark(.rating, 10)
        case "1"..."9": return mark(.rating, letter.wholeNumberValue ?? 0)
        case "-": return mark(.rating, 0)
        case "u": return undo()
        default: break
        }
        return []
    }

    /// The films that a command is for. Says why if there are none because the filter hides those that are selected.
    private mutating func targets() -> [Movie] {
        let targets = list.targets
        if targets.isEmpty, !list.selection.isEmpty {
            notice = "None of the selected films is shown" + keys.text("; {Esc} selects none")
        }
        return targets
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

/// The person's marks.
extension BrowserState {
    /// The most commands that can be undone.
    private static let mostUndone = 100

    /// Sets a mark of the films that commands are for, or removes it if all of them have it.
    private mutating func mark(_ mark: FilmMark, _ value: Int) -> [Effect] {
        let targets = targets()
        let changes = list.changes(mark, to: value, of: targets)
        guard let first = changes.first else { return [] }
        undoable.append(changes.map(\.undone))
        if undoable.count > Self.mostUndone { undoable.removeFirst() }
        let films = targets.count == 1 ? targets[0].title : "\(targets.count) films"
        notice = mark.text(first.value) + ": " + films + keys.text("; {u} undoes it")
        return store(changes)
    }

    private mutating func undo() -> [Effect] {
        guard let changes = undoable.popLast() else {
            notice = "There is no mark to undo"
            return []
        }
        let films = changes.count == 1 ? changes[0].movie.title : "\(changes.count) films"
        notice = "Undone: \(films)"
        return store(changes)
    }

    mutating func store(_ changes: [MarkBook.Change]) -> [Effect] {
        list.marks.set(changes, now: WallClock.system.seconds)
        return [.mark(changes)]
    }

    /// Takes what is stored. Asks once whether marks may be sent to the films' server.
    package mutating func take(_ news: MarkNews) {
        list.marks.take(news)
        if let problem = news.problem { notice = problem }
        if news.isSending == nil, let waiting = news.unsent.first, overlay == nil, editor == nil {
            let marks = waiting.mark == .favourite ? "favourite" : "seen"
            overlay = .question(
                "Send your marks (\(marks), and those to come) to the films' server too?", .sendsMarks)
        }
    }
}

extension FilmMark {
    /// The mark in a message, with its value.
    fileprivate func text(_ value: Int) -> String {
        switch self {
        case .seen: value > 0 ? "Seen" : "Not seen"
        case .favourite: value > 0 ? "Favourite" : "No favourite"
        case .toWatch: value > 0 ? "To watch" : "Not to watch"
        case .rating: value > 0 ? "Your rating \(value)" : "No rating of yours"
        }
    }
}

/// How the selection and the films move.
extension BrowserState {
    /// Moves the selection at once, and scrolls the films as far as needed.
    mutating func move(_ rows: Int, now: Double) -> [Effect] {
        let target = list.selected + rows
        // On a wall, up and down stay in their column.
        guard abs(rows) == 1 || list.rows.indices.contains(target) else { return step(now: now) }
        list.select(target)
        return step(now: now)
    }

    mutating func step(now: Double) -> [Effect] {
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.step(to: target, now: now).map(Effect.motion)
    }

    /// Moves the selection far away and glides there.
    mutating func jump(to row: Int, now: Double) -> [Effect] {
        list.select(row)
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.glide(to: target, now: now).map(Effect.motion)
    }

    /// The wheel moves the films. The selection follows where it would leave the screen.
    mutating func scroll(_ direction: Int, now: Double) -> [Effect] {
        let maximum = layout.maximumScroll(count: list.rows.count)
        let lines = max(1, layout.item.rows / 2)
        let target = max(0, min(maximum, motion.destination + direction * lines))
        let changes = motion.step(to: target, now: now)
        let shown = layout.visible(scroll: target, count: list.rows.count)
        if !shown.contains(list.selected) {
            list.select(list.selected < shown.lowerBound ? shown.lowerBound : shown.upperBound - 1)
        }
        return changes.map(Effect.motion)
    }

    mutating func click(_ position: CellPosition) -> [Effect] {
        if let overlay {
            if overlay.hidesFilms { self.overlay = nil }
            return []
        }
        guard page == .films else {
            page = .films
            return [.rowsChanged]
        }
        if let film = layout.film, position.column >= film.poster.columns.lowerBound { return open() }
        guard let row = layout.row(at: position, scroll: motion.offset, count: list.rows.count) else {
            return []
        }
        if row == list.selected { return open() }
        list.select(row)
        return []
    }

    mutating func open() -> [Effect] {
        guard list.selectedMovie != nil else { return [] }
        page = .film
        filmTop = 0
        return motion.setOffset(motion.destination).map(Effect.motion) + [.rowsChanged]
    }

    /// Turns to another film's page. Many turns in a burst count as scrolling too.
    mutating func turn(_ rows: Int, now: Double) -> [Effect] {
        list.select(list.selected + rows)
        filmTop = 0
        return step(now: now)
    }

    mutating func filter(_ text: String) -> [Effect] {
        list.setFilter(text)
        return [.rowsChanged] + showSelection()
    }

    private mutating func showSelection() -> [Effect] {
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.setOffset(target).map(Effect.motion)
    }
}

/// The results of reading the catalogue.
extension BrowserState {
    /// Takes news of the catalogue.
    package mutating func take(_ news: CatalogueNews) -> [Effect] {
        let effects = show(news)
        if !catalogue.isReading { isUnasked = false }
        guard mustRefresh, !catalogue.isReading else { return effects }
        mustRefresh = false
        return effects + refreshOnceRead()
    }

    /// The films may have changed: they are read again, at once or after the present reading.
    package mutating func refreshOnceRead() -> [Effect] {
        guard catalogue.refresh() else {
            mustRefresh = true
            return []
        }
        isUnasked = true
        return [.refresh]
    }

    /// The films that are left below the selected one when more are read, in windows.
    private static let windowsAhead = 3

    /// Reads more of an endless list when the end of what is there comes near.
    package mutating func readMoreNearEnd() -> [Effect] {
        guard list.films.hasMore, list.filter.isEmpty else { return [] }
        switch catalogue {
        case .complete, .outOfDate: break
        case .opening, .loading, .incomplete, .refreshing: return []
        }
        let left = list.rows.count - max(list.selected, shown.upperBound)
        guard left < Self.windowsAhead * max(1, layout.pageRows) else { return [] }
        return catalogue.readMore(after: list.catalogue.movies.count) ? [.readMore] : []
    }

    /// Lets the server search; nil shows the films of before.
    private mutating func search(_ words: String?) -> [Effect] {
        let before = catalogue
        guard catalogue.readMore(after: 0) else {
            notice = "The films are still being read; search then"
            return []
        }
        awaited = (words, before)
        notice = words.map { "Searching for \($0)…" }
        list.setFilter("")
        return [.search(words), .rowsChanged]
    }

    private mutating func show(_ news: CatalogueNews) -> [Effect] {
        switch news {
        case .came(let films):
            catalogue.count(films)
            return []
        case .part(let films): return show(films)
        case .whole(let films, let confirmed, let outage):
            let before = catalogue
            if let outage {
                catalogue = .outOfDate(confirmed: confirmed, why: outage)
            } else {
                catalogue = .complete(confirmed: confirmed)
            }
            if let search = awaited {
                awaited = nil
                searched = search.words
                notice = catalogue.explanation(keys)
                let effects = show(films)
                list.select(0)
                return effects + showSelection()
            }
            guard case .refreshing(let old, _) = before else {
                // What was said at the start stays until a key.
                notice = catalogue.explanation(keys) ?? notice
                return show(films)
            }
            if !isUnasked || films.hasChanged {
                notice = old == nil ? (films.hasMore ? nil : "All films are here") : films.summary
            }
            return show(old == nil ? films.unmarked : films)
        case .failed(let error):
            if let search = awaited {
                // The films before it stay.
                (awaited, catalogue) = (nil, search.before)
                notice = "The search failed: " + ImageLoadingError.withoutAddress("\(error)")
                return []
            }
            catalogue.fail(ImageLoadingError.withoutAddress("\(error)"))
            notice = catalogue.explanation(keys)
            return []
        }
    }

    /// Takes the network's new reach. If it has grown, failed posters are loaded again.
    package mutating func take(_ path: NetworkPath) -> [Effect] {
        defer { reach = path.reach }
        guard let before = reach, path.reach != before, before != .internet, path.reach != .none else {
            return []
        }
        switch catalogue {
        case .outOfDate, .incomplete: return catalogue.refresh() ? [.retry, .refresh] : [.retry]
        case .opening, .loading, .refreshing, .complete: return [.retry]
        }
    }

    /// Replaces the films.
    private mutating func show(_ films: FilmSet) -> [Effect] {
        // The film's page closes: another film on it could be mistaken for the one that is gone.
        if !list.replace(by: films), page == .film { page = .films }
        return [.rowsChanged] + showSelection()
    }
}
