import BackgroundTransfers
import Dispatch
import Films
import ImageCodecs
import LazyImages
import SystemSupport
import TerminalGraphics

/// The full-screen browser. One thread reads messages from a mailbox and never waits for decoding, the disk or the
/// network. A second thread blocks on the terminal and sends the keys. A third thread draws large pictures. The list
/// models send new states.
final class Browser: Sendable {
    /// A message to the browser's thread.
    enum Message: Sendable {
        /// Input of the terminal. The reader waits for `handled` before it reads on; nil if it does not wait.
        case terminal([TerminalEvent], handled: DispatchSemaphore?)
        /// A poster's new state, for the models.
        case poster(RowState)
        case drawn(PosterFeed.Pane, PosterFeed.Drawing)
        case catalogue(CatalogueNews)
        /// The player has ended.
        case played(PlayerEnding)
        /// The result of saving a poster.
        case notice(String)
        /// The content of an address, with the number of its request.
        case opened(Int, Overlay)
        case path(NetworkPath)
        /// The films may have changed.
        case changed
        /// The stored marks have changed.
        case marks(MarkNews)
        /// A film with what only its own page at the source has.
        case completed(Movie)
        case quit
    }

    /// The films, and how the browser shows them.
    struct Environment: Sendable {
        /// The catalogue's name in messages.
        let name: String
        /// The message at the start; nil for none.
        let welcome: String?
        /// Reads the catalogue and reports its progress, as `CatalogueReader` does.
        let read:
            @Sendable (CatalogueOrder, _ onNews: @escaping @Sendable (CatalogueNews) -> Void) async -> Void
        /// Whether the films' server can be searched.
        let canSearch: Bool
        /// Keeps the person's marks, and reports what has changed.
        let marks: @Sendable (_ onNews: @escaping @Sendable (MarkNews) -> Void) -> MarkKeeper
        /// Calls back when the films may have changed, until the result is released; nil if that is not noticed.
        let watch: @Sendable (_ onChange: @escaping @Sendable () -> Void) -> FolderWatch?
        /// The progress of the reading, in a text of at most `width` cells; nil when nothing is being read.
        let progress: @Sendable (_ width: Int) -> String?
        /// The request for a poster's address, or why the address is invalid. With the
        /// `pictureSize` of a canvas: at the server's size that is enough for it.
        let poster:
            @Sendable (_ address: String, BaseURL, _ size: ImageSize?) -> Result<
                ImageRequest, ImageLoadingError
            >
        /// Loads the picture at any address.
        let reader: AddressReader
        /// Saves a film's poster.
        let save: @Sendable (Movie, ImageRequest) async -> SavedPoster
        /// Saves films as a catalogue in the working directory, and returns where.
        let export: @Sendable ([Movie], FilmSet) async -> String
        let depth: ColourDepth
        /// How pictures are drawn. A program that asks the terminal uses this mode until the answer.
        let graphics: GraphicsMode
        let asksForGraphics: Bool
        /// A film with what only its own page at the source has.
        let complete: @Sendable (Movie) async -> Movie
        /// The program that plays films; nil if there is none.
        let player: Player?
        let keys: BrowserKeys
        let colours: BrowserColours
        /// What the source of the films wants to be said beside them; nil for nothing.
        let attribution: String?
        let interruption: Interruption
    }

    private let terminal: TerminalSession
    private let loader: ImageLoader
    private let environment: Environment
    private let mailbox: Mailbox<Message>
    /// Draws the large pictures.
    private let drawing = BlockingThreads(count: 1, name: "Drawing")

    /// - Throws: when the system gives no descriptor.
    init(
        terminal: TerminalSession, loader: ImageLoader, environment: Environment
    ) throws(ResourceShortage) {
        mailbox = try Mailbox()
        self.terminal = terminal
        self.loader = loader
        self.environment = environment
    }

    /// Shows the films until the person quits, the terminal closes, or the task is cancelled.
    /// - Returns: why there was nothing to show; nil if there was something.
    /// - Throws: `TerminalError`, or `ResourceShortage` when the system gives no thread.
    func run() async throws -> (any Error)? {
        try terminal.enter()
        let (list, film) = (feed(.list), feed(.film))
        let (orders, order) = AsyncStream.makeStream(of: CatalogueOrder.self)
        order.yield(.all(replacing: nil))
        let reading = Task { [environment, mailbox] in
            for await order in orders { await environment.read(order) { mailbox.send(.catalogue($0)) } }
        }
        let marks = environment.marks { [mailbox] in mailbox.send(.marks($0)) }
        marks.refresh()
        let folderWatch = environment.watch { [mailbox] in mailbox.send(.changed) }
        let watching = Task { [mailbox] in
            for await path in PathMonitor() { mailbox.send(.path(path)) }
        }
        let ending: Result<(any Error)?, any Error>
        do {
            ending = .success(try await show(Feeds.Makers(list: list.make, film: film.make), marks, order))
        } catch {
            ending = .failure(error)
        }
        terminal.leave()
        for task in [list.updates, film.updates, reading, watching] { task.cancel() }
        await reading.value
        await marks.close()
        withExtendedLifetime(folderWatch) {}
        return try ending.get()
    }

    /// Shows the films with the parts that `run` has started.
    private func show(
        _ feeds: Feeds.Makers, _ marks: MarkKeeper, _ order: AsyncStream<CatalogueOrder>.Continuation
    ) async throws -> (any Error)? {
        try BlockingThreads.startThread { [terminal, mailbox] in
            let delay = Terminal.isRemote ? TerminalInput.remoteEscapeDelay : TerminalInput.escapeDelay
            var input = TerminalInput(terminal, escapeDelay: delay, lastKeys: BrowserState.lastKeys)
            while true {
                let events = input.next()
                let handled = input.isLast(events) ? DispatchSemaphore(value: 0) : nil
                mailbox.send(.terminal(events, handled: handled))
                if events.contains(.closed) { return }
                // What was typed behind a key that ends or stops the browser is for the shell.
                handled?.wait()
            }
        }
        let ending: Result<(any Error)?, ResourceShortage> = await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                do throws(ResourceShortage) {
                    try BlockingThreads.startThread { [self] in
                        let failure = BrowserLoop(
                            terminal: terminal, loader: loader, environment: environment, mailbox: mailbox,
                            feeds: Feeds(list: feeds.list(), film: feeds.film()), marks: marks,
                            order: { order.yield($0) }
                        ).run()
                        ended.resume(returning: .success(failure))
                    }
                } catch {
                    ended.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            mailbox.send(.quit)
        }
        return try ending.get()
    }

    /// A list model with a task that passes its updates on. `make` makes its feed, on the browser's thread.
    private func feed(_ pane: PosterFeed.Pane) -> (
        make: @Sendable () -> PosterFeed, updates: Task<Void, Never>
    ) {
        let model = ImageListModel(loader: loader, wantsPreviews: true)
        let updates = Task { [mailbox] in
            for await update in model.updates { mailbox.send(.poster(update.state)) }
        }
        let canvas = environment.graphics.canvas(depth: environment.depth)
        let make = { @Sendable [mailbox, drawing] in
            PosterFeed(model, canvas: canvas) { draw in
                do {
                    try drawing.enqueue { mailbox.send(.drawn(pane, draw())) }
                } catch {
                    // Ignored: without a thread the picture is drawn on this one.
                    mailbox.send(.drawn(pane, draw()))
                }
            }
        }
        return (make, updates)
    }

    /// The feeds of both panes.
    struct Feeds {
        /// The closures that make the feeds, on the browser's thread.
        struct Makers: Sendable {
            let list: @Sendable () -> PosterFeed
            let film: @Sendable () -> PosterFeed
        }

        var list: PosterFeed
        var film: PosterFeed

        /// How many images are in each state.
        var counters: [ImageListCounters] { [list.model.counters, film.model.counters] }

        subscript(pane: PosterFeed.Pane) -> PosterFeed {
            get { pane == .list ? list : film }
            set { if pane == .list { list = newValue } else { film = newValue } }
        }
    }
}
