/// Somebody who wants to know how far a transfer is: a caller's stream, or the relay of a flight that waits for another.
struct ProgressListener: Sendable {
    let report: @Sendable (TransferProgress) -> Void
    let finish: @Sendable () -> Void

    init(_ stream: AsyncStream<TransferProgress>.Continuation) {
        report = { stream.yield($0) }
        finish = { stream.finish() }
    }

    init(_ relay: ProgressRelay) {
        report = { relay.report($0) }
        finish = {}
    }
}

/// Passes one transfer's progress on to everyone who listens. It is told on the transport's thread; a caller's stream
/// is expected to keep only the newest value it has not read, so nobody is slowed down by one who does not look.
final class ProgressRelay: Sendable {
    private struct State {
        var listeners: [LoadTicket: ProgressListener] = [:]
        var latest: TransferProgress?
    }

    private let state = Lock(State())

    /// Adds a listener and tells it at once how far things are.
    func add(_ listener: ProgressListener, for ticket: LoadTicket) {
        let latest = state.withLock { state in
            state.listeners[ticket] = listener
            return state.latest
        }
        if let latest { listener.report(latest) }
    }

    func remove(_ ticket: LoadTicket) {
        state.withLock { $0.listeners[ticket] = nil }
    }

    func report(_ progress: TransferProgress) {
        let listeners = state.withLock { state in
            state.latest = progress
            return state.listeners
        }
        for listener in listeners.values { listener.report(progress) }
    }
}
