import SystemSupport

/// Somebody who wants to know how far a transfer is: a caller's streams, or the relay of a flight that waits for another.
struct ProgressListener: Sendable {
    /// Told how far it is, and where the body is that arrives, which is nobody's to keep.
    let report: @Sendable (TransferProgress, BodyBuffer?) -> Void
    let finish: @Sendable () -> Void
    /// Shown what the picture looks like so far; nil for who does not want to see it.
    var show: (@Sendable (ImagePreview) -> Void)?
    /// Told that the transfer has its place, and how long it has waited for one so far; nil for who does not want to know.
    var begin: (@Sendable (_ queued: Duration) -> Void)?

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
        begin = { relay.begin(queued: $0) }
    }

    /// One that is told how far it is, and nothing else.
    init(report: @escaping @Sendable (TransferProgress) -> Void) {
        self.report = { progress, _ in report(progress) }
        finish = {}
    }

    /// The relay of a flight that can make previews, for those among its listeners who want them.
    init(_ relay: ProgressRelay, previews: PreviewMaker) {
        report = { progress, body in
            relay.report(progress, of: body)
            if let body, relay.wantsPreviews { previews.note(progress, of: body) }
        }
        finish = {}
        begin = { relay.begin(queued: $0) }
    }
}

/// Passes one transfer's progress on to everyone who listens. It is told on the transport's thread; a caller's stream
/// is expected to keep only the newest value it has not read, so nobody is slowed down by one who does not look.
final class ProgressRelay: Sendable {
    private struct State {
        var listeners: [LoadTicket: ProgressListener] = [:]
        var latest: TransferProgress?
        /// How long the transfer has waited for its places; nil while it has had none.
        var queued: Duration?
        /// The body that arrives. Not kept for longer than its transfer.
        weak var body: BodyBuffer?
        /// How many bytes have come of the bodies so far, without what a body began with.
        var arrived = 0
    }

    private let state = Lock(State())

    /// Adds a listener and tells it at once how far things are: one that makes previews begins with what has arrived.
    func add(_ listener: ProgressListener, for ticket: LoadTicket) {
        let (queued, latest, body) = state.withLock { state in
            state.listeners[ticket] = listener
            return (state.queued, state.latest, state.body)
        }
        if let queued { listener.begin?(queued) }
        if let latest { listener.report(latest, body) }
    }

    func remove(_ ticket: LoadTicket) {
        state.withLock { $0.listeners[ticket] = nil }
    }

    /// Whether anybody who listens now wants to see what the picture looks like so far.
    var wantsPreviews: Bool { state.withLock { $0.listeners.values.contains { $0.show != nil } } }

    /// The transfer has a place after waiting so long for it. One that is led on, or tried again, waits more than once.
    func begin(after wait: Duration) {
        let queued = state.withLock { state in
            // The next body begins anew, or with the part that is there.
            state.latest = nil
            return state.queued ?? .zero
        }
        begin(queued: queued + wait)
    }

    /// The transfer has a place, and has waited so long for all of its places.
    func begin(queued: Duration) {
        let listeners = state.withLock { state in
            state.queued = queued
            return state.listeners
        }
        for listener in listeners.values { listener.begin?(queued) }
    }

    /// How many bytes have come so far, and how far the body is.
    var traffic: (arrived: Int, latest: TransferProgress?) { state.withLock { ($0.arrived, $0.latest) } }

    func show(_ preview: ImagePreview) {
        for listener in state.withLock({ $0.listeners }).values { listener.show?(preview) }
    }

    func report(_ progress: TransferProgress, of body: BodyBuffer? = nil) {
        let listeners = state.withLock { state in
            let earlier = state.latest?.received ?? progress.received
            state.arrived += max(0, progress.received - earlier)
            // A body's first report. Storing a weak reference with every chunk would cost more than the chunk.
            if let body, progress.received <= earlier { state.body = body }
            state.latest = progress
            return state.listeners
        }
        for listener in listeners.values { listener.report(progress, body) }
    }
}
