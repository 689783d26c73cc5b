/// Somebody who wants to know how far a transfer is: a caller's streams, or the relay of a flight that waits for another.
struct ProgressListener: Sendable {
    /// Told how far it is, and where the body is that arrives, which is nobody's to keep.
    let report: @Sendable (TransferProgress, BodyBuffer?) -> Void
    let finish: @Sendable () -> Void
    /// Shown what the picture looks like so far; nil for who does not want to see it.
    var show: (@Sendable (ImagePreview) -> Void)?

    init(_ stream: AsyncStream<TransferProgress>.Continuation) { self.init(stream, previews: nil) }

    /// Nil for a caller who wants neither.
    init?(
        _ stream: AsyncStream<TransferProgress>.Continuation?,
        _ previews: AsyncStream<ImagePreview>.Continuation?
    ) {
        guard stream != nil || previews != nil else { return nil }
        self.init(stream, previews: previews)
    }

    private init(
        _ stream: AsyncStream<TransferProgress>.Continuation?,
        previews: AsyncStream<ImagePreview>.Continuation?
    ) {
        report = { progress, _ in _ = stream?.yield(progress) }
        finish = {
            stream?.finish()
            previews?.finish()
        }
        if let previews { show = { previews.yield($0) } }
    }

    init(_ relay: ProgressRelay) {
        report = { relay.report($0, of: $1) }
        finish = {}
    }

    /// The relay of a flight that can make previews, for those among its listeners who want them.
    init(_ relay: ProgressRelay, previews: PreviewMaker) {
        report = { progress, body in
            relay.report(progress, of: body)
            if let body, relay.wantsPreviews { previews.note(progress, of: body) }
        }
        finish = {}
    }
}

/// Passes one transfer's progress on to everyone who listens. It is told on the transport's thread; a caller's stream
/// is expected to keep only the newest value it has not read, so nobody is slowed down by one who does not look.
final class ProgressRelay: Sendable {
    private struct State {
        var listeners: [LoadTicket: ProgressListener] = [:]
        var latest: TransferProgress?
        /// The body that arrives. Not kept for longer than its transfer.
        weak var body: BodyBuffer?
    }

    private let state = Lock(State())

    /// Adds a listener and tells it at once how far things are: one that makes previews begins with what has arrived.
    func add(_ listener: ProgressListener, for ticket: LoadTicket) {
        let (latest, body) = state.withLock { state in
            state.listeners[ticket] = listener
            return (state.latest, state.body)
        }
        if let latest { listener.report(latest, body) }
    }

    func remove(_ ticket: LoadTicket) {
        state.withLock { $0.listeners[ticket] = nil }
    }

    /// Whether anybody who listens now wants to see what the picture looks like so far.
    var wantsPreviews: Bool { state.withLock { $0.listeners.values.contains { $0.show != nil } } }

    func show(_ preview: ImagePreview) {
        for listener in state.withLock({ $0.listeners }).values { listener.show?(preview) }
    }

    func report(_ progress: TransferProgress, of body: BodyBuffer? = nil) {
        let listeners = state.withLock { state in
            state.latest = progress
            if let body { state.body = body }
            return state.listeners
        }
        for listener in listeners.values { listener.report(progress, body) }
    }
}
