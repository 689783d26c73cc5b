import LazyImages
import MovieCatalogue
import SystemSupport
import TerminalGraphics

/// The full-screen browser: a thread that reads messages from a mailbox. A second thread blocks on the terminal and sends
/// the keys, the list models send new states, and a third thread draws large pictures. The browser's thread never waits for
/// decoding, the disk or the network.
final class Browser: Sendable {
    /// A message to the browser's thread.
    enum Message: Sendable {
        case terminal([TerminalEvent])
        /// A poster has this state now. The models tell whose.
        case poster(RowState)
        case drawn(PosterFeed.Pane, PosterFeed.Drawing)
        case catalogue(CatalogueNews)
        /// The player has ended.
        case played(PlayerEnding)
        /// What came of saving a poster.
        case said(String)
        /// What an address has, by the number that it was asked for with.
        case opened(Int, Overlay)
        case path(NetworkPath)
        case quit
    }

    /// The films, and how they are shown.
    struct Subject: Sendable {
        /// How messages call the catalogue.
        let name: String
        /// Reads the catalogue and tells of it, as `CatalogueReader` does.
        let read:
            @Sendable (_ shown: Catalogue?, _ tell: @escaping @Sendable (CatalogueNews) -> Void) async -> Void
        /// How far that is, in so many cells; nil when nothing is being read.
        let progress: @Sendable (_ width: Int) -> String?
        /// The request for a poster's address, or why it is invalid.
        let poster: @Sendable (_ address: String, BaseURL) -> Result<ImageRequest, ImageLoadingError>
        /// Gets what any address has.
        let reader: AddressReader
        /// Saves a film's poster, and says where.
        let save: @Sendable (Movie, ImageRequest) async -> String
        let depth: ColourDepth
        /// How pictures are drawn; where the terminal is to be asked, how without an answer.
        let graphics: GraphicsMode
        let asksForGraphics: Bool
        /// What plays films; nil for nothing.
        let player: Player?
        let interruption: Interruption
    }

    private let terminal: TerminalSession
    private let loader: ImageLoader
    private let subject: Subject
    private let mailbox = Mailbox<Message>()
    /// Draws the large pictures.
    private let drawing = BlockingThreads(count: 1, name: "Drawing")

    init(terminal: TerminalSession, loader: ImageLoader, subject: Subject) {
        self.terminal = terminal
        self.loader = loader
        self.subject = subject
    }

    /// Shows the films until the person quits, the terminal goes, or the task is cancelled.
    /// - Returns: why there was nothing to show; nil if there was.
    /// - Throws: `TerminalError`, or `ResourceShortage` when the system gives no thread.
    func run() async throws -> (any Error)? {
        try terminal.enter()
        let (list, film) = (feed(.list), feed(.film))
        let (refreshes, orders) = AsyncStream.makeStream(of: Catalogue.self)
        let reading = Task { [subject, mailbox] in
            await subject.read(nil) { mailbox.send(.catalogue($0)) }
            for await shown in refreshes { await subject.read(shown) { mailbox.send(.catalogue($0)) } }
        }
        let watching = Task { [mailbox] in
            for await path in PathMonitor() { mailbox.send(.path(path)) }
        }
        let ending: Result<(any Error)?, any Error>
        do {
            ending = .success(try await show(Feeds.Makers(list: list.make, film: film.make), orders))
        } catch {
            ending = .failure(error)
        }
        terminal.leave()
        for task in list.tasks + film.tasks + [reading, watching] { task.cancel() }
        await reading.value
        return try ending.get()
    }

    /// Shows the films, by what `run` has begun.
    private func show(
        _ feeds: Feeds.Makers, _ refreshes: AsyncStream<Catalogue>.Continuation
    ) async throws -> (any Error)? {
        try BlockingThreads.startThread { [terminal, mailbox] in
            let delay = Terminal.isRemote ? TerminalInput.remoteEscapeDelay : TerminalInput.escapeDelay
            var input = TerminalInput(terminal, escapeDelay: delay)
            while true {
                let events = input.next()
                mailbox.send(.terminal(events))
                if events.contains(.closed) { return }
            }
        }
        let ending: Result<(any Error)?, ResourceShortage> = await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                do throws(ResourceShortage) {
                    try BlockingThreads.startThread { [self] in
                        let failure = BrowserLoop(
                            terminal: terminal, loader: loader, subject: subject, mailbox: mailbox,
                            feeds: Feeds(list: feeds.list(), film: feeds.film()),
                            refresh: { refreshes.yield($0) }
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

    /// A list model with the tasks that pass on its updates and the commands to it. `make` makes its feed, on the browser's
    /// thread.
    private func feed(_ pane: PosterFeed.Pane) -> (
        make: @Sendable () -> PosterFeed, tasks: [Task<Void, Never>]
    ) {
        let model = ImageListModel(loader: loader, wantsPreviews: true)
        let (commands, continuation) = AsyncStream.makeStream(of: PosterFeed.Command.self)
        let driver = Task { for await command in commands { await command(model) } }
        let updates = Task { [mailbox] in
            for await update in model.updates { mailbox.send(.poster(update.state)) }
        }
        let canvas = subject.graphics.canvas(depth: subject.depth)
        let make = { @Sendable [mailbox, drawing] in
            PosterFeed(model, commands: continuation, canvas: canvas) { draw in
                do {
                    try drawing.enqueue { mailbox.send(.drawn(pane, draw())) }
                } catch {
                    // Losing the error is right: without a thread the picture is drawn on this one.
                    mailbox.send(.drawn(pane, draw()))
                }
            }
        }
        return (make, [driver, updates])
    }

    /// The feeds of both panes.
    struct Feeds {
        /// What makes them, on the browser's thread.
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
