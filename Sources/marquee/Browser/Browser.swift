import LazyImages
import MovieCatalogue
import SystemSupport
import TerminalGraphics

/// The full-screen browser: a thread that lives by a mailbox. Keys come from a second thread that blocks on the terminal,
/// news of posters from the list models, large pictures from a thread that draws; neither decoding, disk nor network is
/// ever waited for.
final class Browser: Sendable {
    /// What the browser's thread is told.
    enum Message: Sendable {
        case terminal([TerminalEvent])
        case row(PosterFeed.Place, RowUpdate)
        case drawn(PosterFeed.Place, PosterBoard.Drawing)
        case quit
    }

    /// What is browsed, and how it is to look.
    struct Subject: Sendable {
        let catalogue: Catalogue
        /// For a film, by its number, the request for its poster, or why its address is none; nil for one without.
        let poster: @Sendable (_ film: Int) -> Result<ImageRequest, ImageLoadingError>?
        let depth: ColourDepth
        let graphics: GraphicsMode
    }

    private let terminal: TerminalSession
    private let loader: ImageLoader
    private let subject: Subject
    private let mailbox = Mailbox<Message>()
    /// Draws the pictures that take long.
    private let drawing = BlockingThreads(count: 1, name: "Drawing")

    init(terminal: TerminalSession, loader: ImageLoader, subject: Subject) {
        self.terminal = terminal
        self.loader = loader
        self.subject = subject
    }

    /// Shows the films until the person quits, the terminal goes, or the task is cancelled.
    /// - Throws: `TerminalError`, or `ResourceShortage` when the system gives no thread.
    func run() async throws {
        try terminal.enter()
        let (list, film) = (feed(.list), feed(.film))
        defer {
            terminal.leave()
            for task in list.tasks + film.tasks { task.cancel() }
        }
        try BlockingThreads.startThread { [terminal, mailbox] in
            let delay = Terminal.isRemote ? TerminalInput.remoteEscapeDelay : TerminalInput.escapeDelay
            var input = TerminalInput(terminal, escapeDelay: delay)
            while true {
                let events = input.next()
                mailbox.send(.terminal(events))
                if events.contains(.closed) { return }
            }
        }
        let ending: Result<Void, ResourceShortage> = await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                do throws(ResourceShortage) {
                    try BlockingThreads.startThread { [self] in
                        BrowserLoop(
                            terminal: terminal, loader: loader, subject: subject, mailbox: mailbox,
                            feeds: Feeds(list: list.make(), film: film.make())
                        ).run()
                        ended.resume(returning: .success(()))
                    }
                } catch {
                    ended.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            mailbox.send(.quit)
        }
        try ending.get()
    }

    /// A list model with the tasks that pass on what it says and what it is told; `make` makes the rest on the browser's
    /// thread.
    private func feed(_ place: PosterFeed.Place) -> (
        make: @Sendable () -> PosterFeed, tasks: [Task<Void, Never>]
    ) {
        let model = ImageListModel(loader: loader, wantsPreviews: true)
        let (commands, continuation) = AsyncStream.makeStream(of: PosterFeed.Command.self)
        let driver = Task { for await command in commands { await command(model) } }
        let news = Task { [mailbox] in
            for await update in model.updates { mailbox.send(.row(place, update)) }
        }
        let canvas = subject.graphics.canvas(depth: subject.depth)
        let make = { @Sendable [mailbox, drawing] in
            let board = PosterBoard(canvas: canvas) { draw in
                do {
                    try drawing.enqueue { mailbox.send(.drawn(place, draw())) }
                } catch {
                    // Losing the error is right: without a thread the picture is drawn here, late but all the same.
                    mailbox.send(.drawn(place, draw()))
                }
            }
            return PosterFeed(model, commands: continuation, board: board)
        }
        return (make, [driver, news])
    }

    /// Both feeds of the browser's thread.
    struct Feeds {
        var list: PosterFeed
        var film: PosterFeed

        /// What the models are busy with.
        var counters: [ImageListCounters] { [list.model.counters, film.model.counters] }

        subscript(place: PosterFeed.Place) -> PosterFeed {
            get { place == .list ? list : film }
            set { if place == .list { list = newValue } else { film = newValue } }
        }
    }
}
