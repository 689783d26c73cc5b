import BackgroundTransfers
import Dispatch
import FilmBrowser
import Films
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
        case completed(Movie, whole: Movie)
        case quit
    }

    /// What the browser shows, and what it needs for that.
    struct Environment: Sendable {
        /// A session that does not write to the screen.
        let session: Session
        /// Loads the files of posters.
        let files: FileLoader
        let images: ImageLoader
        /// The program that plays films; nil if there is none.
        let player: Player?
    }

    private let terminal: TerminalSession
    private let environment: Environment
    private let mailbox: Mailbox<Message>

    /// - Throws: when the system gives no descriptor.
    init(terminal: TerminalSession, environment: Environment) throws(ResourceShortage) {
        mailbox = try Mailbox()
        self.terminal = terminal
        self.environment = environment
    }

    /// Shows the films until the person quits, the terminal closes, or the task is cancelled.
    /// - Returns: why there was nothing to show; nil if there was something.
    /// - Throws: `TerminalError`, or `ResourceShortage` when the system gives no thread.
    func run() async throws -> (any Error)? {
        try terminal.enter()
        let session = environment.session
        let (orders, order) = AsyncStream.makeStream(of: CatalogueOrder.self)
        order.yield(.all(replacing: nil))
        let reading = Task { [mailbox] in
            let reader = CatalogueReader(session)
            for await order in orders { await reader.read(order) { mailbox.send(.catalogue($0)) } }
        }
        let marks = MarkKeeper(session) { [mailbox] in mailbox.send(.marks($0)) }
        marks.refresh()
        let folderWatch = watchFolder()
        let watching = Task { [mailbox] in
            for await path in PathMonitor() { mailbox.send(.path(path)) }
        }
        let ending = await Result<(any Error)?, any Error>.of { try await show(marks, order) }
        terminal.leave()
        reading.cancel()
        watching.cancel()
        await reading.value
        await marks.close()
        withExtendedLifetime(folderWatch) {}
        return try ending.get()
    }

    /// Reports changes of a folder of films until the result is released; nil if they are not noticed.
    private func watchFolder() -> FolderWatch? {
        guard let folder = environment.session.provider.abilities.watchedFolder else { return nil }
        // Ignored: without a thread or a descriptor, R reads the folder again.
        return try? FolderWatch(folder) { [mailbox] in mailbox.send(.changed) }
    }

    /// Shows the films with the parts that `run` has started.
    private func show(
        _ marks: MarkKeeper, _ order: AsyncStream<CatalogueOrder>.Continuation
    ) async throws -> (any Error)? {
        let last = environment.session.arguments.keys.last
        try BlockingThreads.startThread { [terminal, mailbox] in
            let delay = Terminal.isRemote ? TerminalInput.remoteEscapeDelay : TerminalInput.escapeDelay
            var input = TerminalInput(terminal, escapeDelay: delay, lastKeys: last)
            while true {
                let events = input.next()
                let handled = input.isLast(events) ? DispatchSemaphore(value: 0) : nil
                mailbox.send(.terminal(events, handled: handled))
                if events.contains(.closed) { return }
                // What was typed behind a key that ends or stops the browser is for the shell.
                handled?.wait()
            }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ended in
                do {
                    try BlockingThreads.startThread { [terminal, environment, mailbox] in
                        let loop = BrowserLoop(
                            terminal: terminal, environment: environment, mailbox: mailbox, marks: marks,
                            order: { order.yield($0) })
                        ended.resume(returning: loop.run())
                    }
                } catch {
                    ended.resume(throwing: error)
                }
            }
        } onCancel: {
            mailbox.send(.quit)
        }
    }
}
