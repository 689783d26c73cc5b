import ImageCodecs
import LazyImages
import MovieCatalogue
import TerminalGraphics

/// The browser's thread: takes messages, changes the state, tells the list model, draws a frame.
final class BrowserLoop {
    /// Between two looks at what the loads are doing, while there are any; in seconds.
    private static let statusInterval = 0.1

    private let terminal: TerminalSession
    private let loader: ImageLoader
    private let filmPosters: [Result<ImageRequest, ImageLoadingError>?]
    private let mailbox: Mailbox<Browser.Message>
    private let model: ImageListModel<ImageLoader>
    private let commands: AsyncStream<Browser.ModelCommand>.Continuation
    private var state: BrowserState
    private var depth: ColourDepth
    private let graphics: GraphicsMode
    private var encoder: FrameEncoder
    private var posters: PosterBoard
    private var shownRange: Range<Int>?
    private var arrivals = 0
    private var isDone = false

    init(
        terminal: TerminalSession, loader: ImageLoader, catalogue: Catalogue,
        posters: [Result<ImageRequest, ImageLoadingError>?], depth: ColourDepth, graphics: GraphicsMode,
        mailbox: Mailbox<Browser.Message>,
        model: ImageListModel<ImageLoader>,
        commands: AsyncStream<Browser.ModelCommand>.Continuation
    ) {
        self.terminal = terminal
        self.loader = loader
        filmPosters = posters
        self.mailbox = mailbox
        self.model = model
        self.commands = commands
        state = BrowserState(catalogue, size: CellSize(columns: 80, rows: 24))
        self.depth = depth
        self.graphics = graphics
        encoder = FrameEncoder(depth: depth)
        self.posters = PosterBoard(canvas: graphics.canvas(depth: depth))
    }

    /// Runs until the person quits or the terminal is gone.
    func run() {
        readSize()
        draw()
        ask()
        while !isDone {
            let messages = mailbox.take(until: nextDeadline)
            for message in messages { handle(message) }
            perform(state.advance(now: MonotonicClock.now))
            tellVisible()
            if !isDone { draw() }
        }
    }

    private var nextDeadline: Double? {
        let now = MonotonicClock.now
        let isBusy = model.counters.running + model.counters.prefetching > 0
        return [state.motion.nextDeadline(now: now), isBusy ? now + Self.statusInterval : nil].compactMap(
            \.self
        ).min()
    }

    // MARK: What comes

    private func handle(_ message: Browser.Message) {
        switch message {
        case .quit: isDone = true
        case .row(let update):
            if case .loading(let progress) = update.state, progress.received > 0 { arrivals += 1 }
            posters.note(update)
        case .terminal(let events):
            for event in events {
                if event == .resized || event == .continued { readSize() }
                if case .answer(let answer) = event { hear(answer) }
                perform(state.handle(event, now: MonotonicClock.now))
            }
        }
    }

    private func perform(_ effects: [BrowserState.Effect]) {
        for effect in effects {
            switch effect {
            case .quit: isDone = true
            case .suspend: suspend()
            case .redraw: encoder.invalidate()
            case .rowsChanged: tellRows()
            case .retry: commands.yield { await $0.retryFailed() }
            case .motion(.beganDragging): commands.yield { await $0.willBeginDragging() }
            case .motion(.endedDragging): commands.yield { await $0.didEndDragging(willDecelerate: false) }
            case .motion(.beganGliding): commands.yield { await $0.didEndDragging(willDecelerate: true) }
            case .motion(.endedGliding): commands.yield { await $0.didEndDecelerating() }
            }
        }
    }

    /// Asks the terminal what it is, where the environment does not say that it shows all colours.
    private func ask() {
        guard depth > .none, depth < .trueColour else { return }
        // A terminal that is gone shows at the next frame.
        try? terminal.write(TerminalVersion.query)
    }

    private func hear(_ answer: [UInt8]) {
        guard let name = TerminalVersion.name(in: answer), TerminalVersion.showsTrueColour(name),
            depth > .none
        else { return }
        depth = .trueColour
        encoder = FrameEncoder(depth: depth)
        posters.use(graphics.canvas(depth: depth))
    }

    private func suspend() {
        do {
            try terminal.suspend()
        } catch {
            isDone = true
        }
        readSize()
        encoder.invalidate()
    }

    private func readSize() {
        guard let size = terminal.size else { return }
        let effects = state.resize(to: size.cells, cellAspect: size.cellAspect)
        perform(effects)
        tellRows()
    }

    // MARK: What the list model is told

    /// The rows as they are now, each at the size it is shown in.
    private func tellRows() {
        let size = pictureSize
        let rows = state.list.rows.map { film in
            guard case .success(var request) = filmPosters[film] else { return ImageRequest?.none }
            request.targetSize = size
            return request
        }
        let visible = state.visible
        shownRange = visible
        posters.begin(rows)
        commands.yield { await $0.setRows(rows, visible: visible) }
    }

    private func tellVisible() {
        let visible = state.visible
        guard visible != shownRange else { return }
        shownRange = visible
        commands.yield { await $0.setVisible(visible) }
    }

    /// The pixels a poster is decoded to: twice what its cells can show, so that averaging has something to work on.
    private var pictureSize: ImageSize {
        let cells = state.posterSize
        return ImageSize(width: max(1, cells.columns) * 16, height: max(1, cells.rows) * 16)
    }

    /// Why there is no poster for the row: its address is none, or it could not be had; nil if it could.
    private func failure(ofRow row: Int) -> String? {
        switch filmPosters[state.list.rows[row]] {
        case nil: "the catalogue names none"
        case .failure(let error): error.description
        case .success: posters.failure(ofRow: row)
        }
    }

    // MARK: Drawing

    private func draw() {
        let screen = BrowserScreen(
            state: state, status: status,
            poster: { [self] row, size in posters.view(ofRow: row, size: size, loader: loader) },
            failure: { [self] row in failure(ofRow: row) })
        let bytes = encoder.frame(screen.draw())
        guard !bytes.isEmpty else { return }
        do {
            try terminal.write(bytes)
        } catch {
            isDone = true
        }
    }

    private var status: BrowserStatus {
        let counters = model.counters
        var status = BrowserStatus()
        status.visible = state.visible.count
        status.loading = counters.running + counters.prefetching
        status.deferred = counters.deferred
        status.memoryHits = loader.memory.counters.hits
        status.diskHits = loader.disk?.counters.hits ?? 0
        status.arrivals = status.loading > 0 ? arrivals : nil
        return status
    }
}
