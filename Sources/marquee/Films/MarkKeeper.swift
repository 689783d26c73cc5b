import FilmBrowser
import FilmSources
import Films
import LazyImages
import SystemSupport

/// Stores the marks of the browser's films, and sends them to the films' server, if that has such marks and the person
/// agrees. What a server does not get waits in the store, also for other programs and later runs.
final class MarkKeeper: Sendable {
    private let session: Session
    private let onNews: @Sendable (MarkNews) -> Void
    /// All work with the store: one call after the other.
    private let threads = BlockingThreads(count: 1, name: "marquee-marks")
    private let state = Lock(State())

    private struct State {
        var store: MarkStore?
        /// The highest revision that the browser has.
        var revision = 0
        /// Sends what waits, after each wake-up.
        var sender: Task<Void, Never>?
        /// Sends what waits after a while.
        var retry: Task<Void, Never>?
    }

    /// Wakes the sender. Calls during one sending are one wake-up.
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - session: a session that does not write to the screen.
    ///   - onNews: receives the marks that have changed, in order.
    init(_ session: Session, onNews: @escaping @Sendable (MarkNews) -> Void) {
        (self.session, self.onNews) = (session, onNews)
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wake = wake
        guard let source else { return }
        let sender = Task { for await _ in wakes where !Task.isCancelled { await sendAll(to: source) } }
        state.withLock { $0.sender = sender }
    }

    /// The name of the films' server, and of its user, in the store; nil for other sources.
    private var server: String? { source?.account }

    private var source: (any FilmServer)? { session.provider.server }

    /// Reads the marks that are new, if there are any, and sends what waits.
    func refresh() {
        enqueue("Your marks cannot be read") { [self] in
            guard FileKind(MarkStore.standardPath) == .file else { return }
            try report(try store())
        }
        send()
    }

    /// Stores marks.
    /// - Parameter isAsked: whether the person has answered whether marks are sent.
    func set(_ changes: [MarkBook.Change]) {
        enqueue { [self] in
            let store = try store()
            let sent = changes.map { change in
                let item = change.item.flatMap { item in
                    source?.request(toSet: change.mark, true, of: item).map { _ in item }
                }
                return MarkStore.Change(key: change.key, mark: change.mark, value: change.value, film: item)
            }
            let isRefused = try server.map { try store.isSending(to: $0) == false } ?? true
            try store.set(sent, for: isRefused ? nil : server, now: WallClock.system.seconds)
            try report(store)
        }
        send()
    }

    /// Keeps the person's answer whether marks are sent to the films' server.
    func setSending(_ sends: Bool) {
        enqueue { [self] in
            guard let server else { return }
            try store().setSending(sends, to: server)
            try report(store())
        }
        send()
    }

    /// How long marks wait for a server that did not take them.
    private static let retryInterval = Duration.seconds(30)
    /// A server that refuses so many marks in a row will refuse the others too.
    private static let mostRefused = 20
    /// How long the end of the program waits for a server that takes marks.
    private static let longestEnd = Duration.seconds(3)

    /// Returns when every mark is stored, and what waited for the server has been sent or gets no answer.
    func close() async {
        state.withLock { $0.retry.take() }?.cancel()
        await done()
        wake.finish()
        if let sender = state.withLock({ $0.sender }) {
            let limit = Task {
                // Ignored: without a wait there is nothing to cancel.
                try? await Task.sleep(for: Self.longestEnd)
                sender.cancel()
            }
            await sender.value
            limit.cancel()
        }
        await done()
    }

    /// Waits for the work so far.
    private func done() async {
        // Ignored: without a thread nothing is waiting for one.
        _ = try? await threads.run({ $0 }) { () throws(ResourceShortage) in }
    }

    /// - Parameter failure: the beginning of the message if the work fails.
    private func enqueue(
        _ failure: String = "The mark is not kept beyond this run",
        _ work: @escaping @Sendable () throws -> Void
    ) {
        do throws(ResourceShortage) {
            try threads.enqueue { [self] in
                do {
                    try work()
                } catch {
                    onNews(news(problem: "\(failure): \(error)"))
                }
            }
        } catch {
            onNews(news(problem: "\(failure): \(error)"))
        }
    }

    // MARK: The store

    private func store() throws(FilmLibraryError) -> MarkStore {
        if let store = state.withLock({ $0.store }) { return store }
        let store = try MarkStore()
        state.withLock { $0.store = store }
        return store
    }

    /// Tells what has changed since the last report, also by other programs.
    private func report(_ store: MarkStore, problem: String? = nil) throws(FilmLibraryError) {
        let stored = try store.marks(after: state.withLock { $0.revision })
        state.withLock { state in state.revision = stored.map(\.revision).max() ?? state.revision }
        var news = try MarkNews(stored, of: store, for: server)
        news.problem = problem
        onNews(news)
    }

    private func news(problem: String) -> MarkNews {
        // Ignored: the problem is what matters.
        let store = state.withLock { $0.store }
        var news = store.flatMap { try? MarkNews([], of: $0, for: server) } ?? MarkNews()
        news.problem = problem
        return news
    }

    // MARK: Sending

    /// Sends what waits for the films' server. If that does not answer, the marks wait for the next call.
    func send() { wake.yield() }

    private func sendAll(to source: any FilmServer) async {
        await done()
        guard let store = state.withLock({ $0.store }) else { return }
        let name = source.account
        let reader = FilmReader(session, reading: name)
        var refused = 0
        while !Task.isCancelled {
            let next = await run { store throws(FilmLibraryError) -> MarkStore.Unsent? in
                guard try store.isSending(to: name) == true else { return nil }
                return try store.claimUnsent(to: name, now: WallClock.system.seconds)
            }
            guard let unsent = next ?? nil,
                let request = source.request(toSet: unsent.mark, unsent.value > 0, of: unsent.film)
            else { break }
            var upload = UploadRequest(url: request.url, request.method)
            // A mark that is set twice is set. So it needs no connection of its own.
            upload.mayBeRepeated = true
            let failure = await Self.send(upload, reader)
            // A refused mark keeps its claim, so that the others are sent. It is sent again by the next run.
            if failure?.waits ?? true {
                let isDone = failure == nil
                await run { store throws(FilmLibraryError) in
                    try store.end(unsent, to: name, isDone: isDone, now: WallClock.system.seconds)
                }
            }
            let count = await run { store throws(FilmLibraryError) in try store.unsent(to: name).count } ?? 0
            let problem = failure.map { failure in
                failure.waits
                    ? "\(count) \(count == 1 ? "mark waits" : "marks wait") for \(name): \(failure.reason)"
                    : "\(name) does not take the mark, which stays here: \(failure.reason)"
            }
            enqueue { [self] in try report(store, problem: problem) }
            guard let failure else { continue }
            if failure.waits {
                sendLater()
                break
            }
            refused += 1
            if refused == Self.mostRefused { break }
        }
        await reader.close()
    }

    /// Sends what waits once more after a while, as long as the browser is open.
    private func sendLater() {
        let retry = Task { [weak self] in
            // Ignored: a cancelled wait ends.
            guard (try? await Task.sleep(for: Self.retryInterval)) != nil else { return }
            self?.send()
        }
        state.withLock { state in
            state.retry?.cancel()
            state.retry = retry
        }
    }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable (MarkStore) throws(FilmLibraryError) -> Value
    ) async -> Value? {
        guard let store = state.withLock({ $0.store }) else { return nil }
        // Ignored: what cannot be read or written now is sent later.
        return try? await threads.run({ $0 as any Error }) { () throws in try work(store) }
    }

    /// - Returns: why the server does not have the mark, and whether it may get it later; nil if it has it.
    private static func send(
        _ request: UploadRequest, _ reader: FilmReader
    ) async -> (reason: String, waits: Bool)? {
        do throws(ImageLoadingError) {
            let status = try await reader.send(request).status
            switch status {
            case 200..<300: return nil
            case 401, 403: return ("it refuses the credential", true)
            case 404:
                return ("it has no such film, or the token has no user; name one with ?userId=ID", false)
            default: return ("HTTP status \(status)", status >= 500 || status == 429)
            }
        } catch {
            return (ImageLoadingError.withoutAddress("\(error)"), true)
        }
    }
}

extension MarkNews {
    /// The marks that have changed in a store, and all that wait there.
    /// - Parameter server: the name of the films' server in the store; nil for other sources.
    fileprivate init(
        _ marks: [MarkStore.Stored], of store: MarkStore, for server: String?
    ) throws(FilmLibraryError) {
        self.init()
        self.marks = marks.map { ($0.key, $0.mark, $0.value, $0.changed) }
        guard let server else { return }
        unsent = try store.unsent(to: server).map { ($0.film, $0.mark) }
        isSending = try store.isSending(to: server)
    }
}

extension MarkBook {
    /// The marks that are stored now.
    /// - Parameter source: whose films they are for.
    init(storedFor films: any FilmProvider) throws(FilmLibraryError) {
        self.init()
        guard FileKind(MarkStore.standardPath) == .file else { return }
        let store = try MarkStore()
        take(try MarkNews(try store.marks(), of: store, for: films.server?.account))
    }

    /// The marks of a film that was just read.
    func marks(of movie: Movie, in open: OpenCatalogue) -> FilmMarks {
        marks(of: movie, served: open.served[movie.id], confirmed: open.confirmed)
    }
}
