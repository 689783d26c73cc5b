import FilmBrowser
import Films
import ImageCodecs
import LazyImages
import SystemSupport
import TerminalGraphics

/// The browser's thread: takes messages, changes the state, sends commands to the list models, draws a frame.
final class BrowserLoop {
    /// The time between two frames while images load, in seconds.
    private static let statusInterval = 0.1
    /// The time between two frames while the screen shows an age, in seconds.
    private static let ageInterval = 1.0

    private let terminal: TerminalSession
    private let environment: Browser.Environment
    private let mailbox: Mailbox<Browser.Message>
    private let feeds: PosterFeeds
    private let marks: MarkKeeper
    /// Orders a reading of the catalogue.
    private let order: (CatalogueOrder) -> Void
    private var state: BrowserState
    private let playing: Playing
    private let opening: Opening
    /// The last drawn picture of an address.
    private var opened: (image: LoadedImage, cells: CellGrid)?
    private var graphics: BrowserGraphics
    private var encoder: FrameEncoder
    private var arrivals = 0
    /// The frames drawn while the catalogue is read. They turn the sign in the status line.
    private var turns = 0
    private let began = MonotonicClock.seconds
    private let accents = PosterAccents()
    /// The film on the screen whose own page was asked for, as its list had it.
    private var asked: Movie?
    private let onlyASCII = Terminal.showsOnlyASCII(STDOUT_FILENO)
    private var isDone = false
    /// Why there is nothing to show.
    private var failureToOpen: (any Error)?

    init(
        terminal: TerminalSession, environment: Browser.Environment, mailbox: Mailbox<Browser.Message>,
        marks: MarkKeeper, order: @escaping (CatalogueOrder) -> Void
    ) {
        self.terminal = terminal
        self.environment = environment
        self.mailbox = mailbox
        self.marks = marks
        self.order = order
        let session = environment.session
        state = BrowserState(
            size: CellSize(columns: 80, rows: 24), hasPosters: session.settings.graphics != .none)
        state.notice = session.welcome
        let abilities = session.provider.abilities
        state.attribution = abilities.attribution
        state.canSearch = abilities.isEndless && abilities.searches
        state.hasPlayer = environment.player != nil
        state.keys = session.arguments.keys
        state.colours = session.arguments.colours
        playing = Playing(
            environment.player, terminal: terminal, interruption: session.interruption, mailbox: mailbox)
        opening = Opening(AddressReader(session: session, images: environment.images), mailbox: mailbox)
        graphics = BrowserGraphics(session.settings)
        encoder = graphics.encoder(onlyASCII: onlyASCII)
        feeds = PosterFeeds(environment.images, graphics.canvas, mailbox: mailbox)
    }

    /// Runs until the person quits or the terminal closes.
    /// - Returns: why there was nothing to show; nil if there was something.
    func run() -> (any Error)? {
        readSize()
        draw()
        // Ignored: a closed terminal fails at the next frame too.
        try? graphics.ask(terminal)
        while !isDone {
            let wait = nextDeadline.map { $0 - MonotonicClock.seconds }
            let messages = mailbox.take(until: wait.map { .now + .seconds($0) })
            for message in messages { handle(message) }
            perform(state.advance(now: MonotonicClock.seconds))
            perform(state.readMoreNearEnd())
            updateVisible()
            complete()
            if !isDone, !playing.isUnderWay { draw() }
        }
        playing.stop()
        opening.stop()
        return failureToOpen
    }

    private var nextDeadline: Double? {
        let now = MonotonicClock.seconds
        let isBusy =
            state.catalogue.isReading || state.isOpening
            || feeds.counters.contains { $0.running + $0.prefetching > 0 }
        let isAgeing = if case .outOfDate = state.catalogue { true } else { false }
        return [
            state.motion.nextDeadline(now: now), isBusy ? now + Self.statusInterval : nil,
            isAgeing ? now + Self.ageInterval : nil, encoder.isUnfinished ? now : nil,
        ].compactMap(\.self).min()
    }

    // MARK: Messages

    private func handle(_ message: Browser.Message) {
        switch message {
        case .quit: isDone = true
        case .poster(let poster):
            if case .loading(let progress, _) = poster, progress.received > 0 { arrivals += 1 }
        case .drawn(let pane, let drawing): feeds[pane].take(drawing)
        case .catalogue(.failed(let error)) where state.catalogue == .opening:
            failureToOpen = error
            isDone = true
        case .catalogue(let news):
            perform(state.take(news))
            // Other programs may have set marks. And the server answers: it can take marks too.
            if case .whole = news { marks.refresh() }
        case .marks(let news): state.take(news)
        case .played(let ending): endPlaying(ending)
        case .notice(let text): state.notice = text
        case .opened(let number, let overlay): if opening.awaits(number) { state.show(overlay) }
        case .path(let path):
            perform(state.take(path))
            marks.send()
        case .changed: perform(state.refreshOnceRead())
        case .completed(let movie, let whole): state.list.complete(movie, with: whole)
        case .terminal(let events, let handled):
            for event in events {
                if event == .resized || event == .continued { readSize() }
                if case .answer(let answer) = event { learn { $0.take(answer) } }
                perform(state.handle(event, now: MonotonicClock.seconds))
            }
            // At the end the reader reads no more.
            if !isDone { handled?.signal() }
        }
    }

    private func perform(_ effects: [BrowserState.Effect]) {
        for effect in effects {
            switch effect {
            case .quit: isDone = true
            case .suspend: suspend()
            case .redraw: encoder.invalidate()
            case .rowsChanged: updateRows()
            case .retry: for pane in PosterFeed.Pane.allCases { feeds[pane].retry() }
            case .refresh: order(.all(replacing: state.list.catalogue))
            case .readMore: order(.more)
            case .search(let words): order(.search(words))
            case .play(let media): play(media)
            case .copyAddress: copyAddress()
            case .savePosters: savePosters()
            case .export: export()
            case .mark(let changes): marks.set(changes)
            case .sendMarks(let sends): marks.setSending(sends)
            case .open(let text): open(text)
            case .showAnswer: showAnswer()
            case .stopOpening: opening.stop()
            case .motion(let phase): for pane in PosterFeed.Pane.allCases { feeds[pane].scroll(phase) }
            }
        }
    }

    /// Takes news about the terminal, and draws all pictures again if the news changes them.
    private func learn(_ take: (inout BrowserGraphics) -> Void) {
        let before = graphics.appearance
        take(&graphics)
        let appearance = graphics.appearance
        state.colours.isOnLight = graphics.isOnLight
        if appearance == before { return }
        if appearance.pictureProtocol != before.pictureProtocol || appearance.depth != before.depth {
            // The next encoder does not know the pictures of this one, so they are removed.
            // Ignored: a closed terminal fails at the next frame too.
            try? terminal.write(encoder.cleanup)
            encoder = graphics.encoder(onlyASCII: onlyASCII)
        }
        for pane in PosterFeed.Pane.allCases { feeds[pane].use(graphics.canvas) }
        opened = nil
        updateRows()
    }

    private func suspend() {
        useTerminal { try terminal.suspend() }
        startOver()
    }

    /// Calls `work`. The browser ends if the terminal fails.
    private func useTerminal(_ work: () throws -> Void) {
        do { try work() } catch { isDone = true }
    }

    /// Forgets the content and the size of the screen, which are unknown now.
    private func startOver() {
        readSize()
        encoder.invalidate()
    }

    private func readSize() {
        guard let size = terminal.size else { return }
        learn { $0.take(cell: size.cell) }
        let effects = state.resize(to: size.cells, cellAspect: size.cellAspect)
        perform(effects)
        updateRows()
    }

    // MARK: Commands to the list models

    /// Gives both models the present rows, with the poster size of each pane.
    private func updateRows() {
        // The film's pane goes first: then a transfer that the list drops continues for the film.
        let full = state.filmPage?.poster.size ?? state.layout.poster
        feeds.film.setRows(rows(in: full), visible: state.visibleInFull, focus: state.list.selected)
        feeds.list.setRows(
            rows(in: state.layout.poster, asCards: state.layout.style == .wall), visible: state.visible,
            focus: state.list.selected)
    }

    private func rows(in cells: CellSize, asCards: Bool = false) -> ListRows {
        let size = graphics.canvas?.pictureSize(for: cells) ?? cells.pictureSize
        var processors = [ImageProcessor.resize(size: size)]
        if asCards, graphics.appearance.pictureProtocol?.keepsTransparency == true {
            processors.append(.roundedCorners(radius: Double(size.width) / Self.widthsOfCorner))
        }
        return ListRows(count: state.list.rows.count) {
            [
                processors, size, rows = state.list.rows, films = state.list.films,
                session = environment.session, hasPosters = state.layout.hasPosters
            ] row in
            guard hasPosters, let address = films.catalogue.movies[rows[row]].poster,
                // Ignored: `failure` says why the address is invalid.
                var request = try? session.posterRequest(
                    for: address, relativeTo: films.base, decodedAt: size)
            else { return nil }
            request.processors = processors
            return request
        }
    }

    /// A card's width, in radii of its corners.
    private static let widthsOfCorner = 20.0

    /// Asks for what only the opened film's own page has. If that fails, asks again when the film is opened again.
    private func complete() {
        let shown = state.page == .film ? state.list.selectedMovie : nil
        defer { asked = shown }
        guard let shown, shown != asked, !state.list.isWhole(shown) else { return }
        Task { [session = environment.session, mailbox] in
            let whole = await session.whole(shown)
            if whole != shown { mailbox.send(.completed(shown, whole: whole)) }
        }
    }

    private func updateVisible() {
        feeds.film.setVisible(state.visibleInFull, focus: state.list.selected)
        feeds.list.setVisible(state.visible, focus: state.list.selected)
    }

    /// Why the selected film has no poster: its address is invalid, or its load failed; nil if neither.
    private var failure: PosterFailure? {
        let row = state.list.selected
        guard state.layout.hasPosters, let movie = state.list.selectedMovie else { return nil }
        let pane: PosterFeed.Pane = state.filmPage == nil ? .list : .film
        if feeds[pane].hasRequest(forRow: row) {
            return feeds[pane].failure(ofRow: row).map { request, error in
                let reason = ImageLoadingError.withoutAddress(error.advised)
                return PosterFailure(reason, request: request, error: error)
            }
        }
        do throws(ImageLoadingError) {
            if let address = movie.poster {
                _ = try environment.session.posterRequest(
                    for: address, relativeTo: state.list.films.base, decodedAt: nil)
            }
            return PosterFailure("the catalogue names none")
        } catch {
            return PosterFailure(error.advised)
        }
    }

    // MARK: Drawing

    private func draw() {
        state.failure = failure
        if state.catalogue.isReading || state.isOpening { turns += 1 }
        var screen = BrowserScreen(state, status, source: environment.session.provider.name)
        (screen.accent, screen.poster, screen.openedPicture) = (accent, view, picture)
        screen.progress = environment.session.output.progress.present
        let bytes = encoder.frame(
            screen.draw(), isMoving: state.motion.isDragging || state.motion.isGliding)
        guard !bytes.isEmpty else { return }
        useTerminal {
            try terminal.setCleanup(encoder.cleanup)
            try terminal.write(bytes)
        }
    }

    /// The colour of the selected film's poster; the terminal's own colour until the poster is there.
    private var accent: CellColour {
        if let own = state.colours.accent { return own }
        for pane in [PosterFeed.Pane.list, .film] {
            guard let image = feeds[pane].image(ofRow: state.list.selected) else { continue }
            return accents.accent(
                of: image.bitmap, key: image.key, depth: graphics.appearance.depth,
                isOnLight: graphics.isOnLight) ?? .standard
        }
        return .standard
    }

    /// Draws the picture once for each size and picture protocol.
    private func picture(of image: LoadedImage, _ size: CellSize) -> CellGrid? {
        if let opened, opened.image === image, opened.cells.size == size { return opened.cells }
        let cells = graphics.canvas?.draw(image.bitmap, size: size)
        opened = cells.map { (image, $0) }
        return cells
    }

    private func view(_ pane: PosterFeed.Pane, _ row: Int, _ size: CellSize) -> PosterView {
        feeds[pane].view(
            ofRow: row, size: size, loader: environment.images,
            isMoving: state.motion.isDragging || state.motion.isGliding)
    }

    private var status: BrowserStatus {
        var status = BrowserStatus()
        status.visible = max(state.visible.count, state.visibleInFull.count)
        for counters in feeds.counters {
            status.loading += counters.running + counters.prefetching
            status.deferred += counters.deferred
            // A film shown in both panes has one poster.
            status.failed = max(status.failed, counters.failed)
        }
        status.memoryHits = environment.images.memory.counters.hits
        status.diskHits = environment.images.disk?.counters.hits ?? 0
        status.arrivals =
            status.loading > 0 || state.catalogue.isReading || state.isOpening ? arrivals + turns : nil
        status.message = state.message
        status.isStanding = state.notice == nil
        if status.failed > 0 { status.remedy = state.presentKeys.text("{r} tries again") }
        status.now = WallClock.system.seconds
        status.seconds = Int(MonotonicClock.seconds - began)
        return status
    }
}

/// The commands for the selected film, and for an address.
extension BrowserLoop {
    private func play(_ media: String) {
        guard !playing.isUnderWay else { return }
        useTerminal {
            guard let fault = try playing.begin(media, relativeTo: state.list.films.base) else { return }
            state.notice = fault
            startOver()
        }
    }

    private func endPlaying(_ ending: PlayerEnding) {
        useTerminal {
            state.notice = try playing.end(ending)
            if ending == .exited(0), playing.waitsForEnd { state.offerSeen() }
            startOver()
        }
    }

    private func copyAddress() {
        do {
            guard let movie = state.list.selectedMovie else { throw Failure("No film is selected") }
            let poster = try SelectedPoster(movie, of: state.list.films.base, environment.session)
            let copying = try poster.copying(state.keys)
            try terminal.write(copying.bytes)
            state.notice = copying.notice
        } catch let failure as Failure {
            state.notice = failure.description
        } catch {
            isDone = true
        }
    }

    /// Saves the posters of the films that are selected together, or of the selected film.
    private func savePosters() {
        let posters = state.list.targets.map { movie in
            Result { () throws(Failure) in
                try SelectedPoster(movie, of: state.list.films.base, environment.session)
            }
        }
        if posters.count == 1, case .failure(let failure) = posters[0] {
            state.notice = failure.description
            return
        }
        state.notice = posters.count == 1 ? "Saving the poster…" : "Saving \(posters.count) posters…"
        Task { [files = environment.files, mailbox] in
            var (saved, problems) = ([String](), [String]())
            for poster in posters {
                do throws(Failure) {
                    saved.append(try await poster.get().save(with: files))
                } catch {
                    problems.append(error.description)
                }
            }
            mailbox.send(.notice(SelectedPoster.summary(saved, problems)))
        }
    }

    /// Saves the films that are selected together, or the selected film, as a catalogue.
    private func export() {
        let (movies, films) = (state.list.targets, state.list.films)
        if movies.isEmpty { return }
        Task { [mailbox] in mailbox.send(.notice(await SavedFilms.save(movies, of: films))) }
    }

    private func open(_ text: String) {
        do {
            let size = graphics.canvas?.pictureSize(for: state.layout.page.size)
            state.show(.opening(try opening.open(text, relativeTo: state.list.films.base, size: size)))
        } catch {
            state.notice = error.description
        }
    }

    private func showAnswer() {
        guard let address = state.failure.flatMap(opening.showAnswer) else { return }
        state.show(.opening(address))
    }
}

/// The feeds of both panes. Their large pictures are drawn on a thread of their own.
struct PosterFeeds {
    let list: PosterFeed
    let film: PosterFeed
    /// They end with the feeds.
    private let observations: [RowObservation]

    init(_ loader: ImageLoader, _ canvas: (any Canvas)?, mailbox: Mailbox<Browser.Message>) {
        let drawing = BlockingThreads(count: 1, name: "Drawing")
        func feed(_ pane: PosterFeed.Pane) -> PosterFeed {
            PosterFeed(ImageListModel(loader: loader, wantsPreviews: true), canvas: canvas) { draw in
                do {
                    try drawing.enqueue { mailbox.send(.drawn(pane, draw())) }
                } catch {
                    // Ignored: without a thread the picture is drawn on this one.
                    mailbox.send(.drawn(pane, draw()))
                }
            }
        }
        (list, film) = (feed(.list), feed(.film))
        observations = [list, film].map { $0.model.observe { mailbox.send(.poster($0.state)) } }
    }

    /// How many images are in each state.
    var counters: [ImageListCounters] { [list.model.counters, film.model.counters] }

    subscript(pane: PosterFeed.Pane) -> PosterFeed { pane == .list ? list : film }
}
