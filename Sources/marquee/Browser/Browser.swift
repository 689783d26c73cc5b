import LazyImages
import MovieCatalogue
import TerminalGraphics

/// The full-screen browser: a thread that lives by a mailbox. Keys come from a second thread that blocks on the terminal,
/// news of posters from the list model; neither decoding, disk nor network is ever waited for.
final class Browser: Sendable {
    /// What the browser's thread is told.
    enum Message: Sendable {
        case terminal([TerminalEvent])
        case row(RowUpdate<LoadedImage>)
        case quit
    }

    /// What the list model is told, in order.
    typealias ModelCommand = @Sendable (ImageListModel<ImageLoader>) async -> Void

    private let terminal: TerminalSession
    private let loader: ImageLoader
    private let catalogue: Catalogue
    private let posters: [Result<ImageRequest, ImageLoadingError>?]
    private let depth: ColourDepth
    private let graphics: GraphicsMode
    private let mailbox = Mailbox<Message>()

    /// - Parameter posters: for each film the request for its poster, or why its address is none; nil for a film without.
    init(
        terminal: TerminalSession, loader: ImageLoader, catalogue: Catalogue,
        posters: [Result<ImageRequest, ImageLoadingError>?], depth: ColourDepth, graphics: GraphicsMode
    ) {
        self.terminal = terminal
        self.loader = loader
        self.catalogue = catalogue
        self.posters = posters
        self.depth = depth
        self.graphics = graphics
    }

    /// Shows the films until the person quits, the terminal goes, or the task is cancelled.
    func run() async throws(TerminalError) {
        try terminal.enter()
        let model = ImageListModel(loader: loader)
        let (commands, continuation) = AsyncStream.makeStream(of: ModelCommand.self)
        let driver = Task { for await command in commands { await command(model) } }
        let news = Task { [mailbox] in for await update in model.updates { mailbox.send(.row(update)) } }
        BlockingThreads.startThread { [terminal, mailbox] in
            var input = TerminalInput(terminal)
            while true {
                let events = input.next()
                mailbox.send(.terminal(events))
                if events.contains(.closed) { return }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                BlockingThreads.startThread { [self] in
                    BrowserLoop(
                        terminal: terminal, loader: loader, catalogue: catalogue, posters: posters,
                        depth: depth, graphics: graphics, mailbox: mailbox, model: model,
                        commands: continuation
                    ).run()
                    ended.resume()
                }
            }
        } onCancel: {
            mailbox.send(.quit)
        }
        terminal.leave()
        continuation.finish()
        driver.cancel()
        news.cancel()
    }
}
