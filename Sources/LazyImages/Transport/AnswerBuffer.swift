import Synchronization
import SystemSupport

/// Receives the answer to an upload: its head, and its body up to a limit.
final class AnswerBuffer: BodyReceiver {
    private struct State {
        var head: ResponseHead?
        var headTime = FileTime(nanoseconds: 0)
        var bytes: [UInt8] = []
        var isCut = false
        var metrics: TransferMetrics?
    }

    private let limit: Int
    private let onSent: @Sendable (Int) -> Void
    private let state = Lock(State())

    /// - Parameter onSent: receives the number of bytes sent of the request's body.
    init(limit: Int, onSent: @escaping @Sendable (Int) -> Void) {
        self.limit = limit
        self.onSent = onSent
    }

    /// The head of the answer; nil before it has arrived.
    var head: ResponseHead? { state.withLock { $0.head } }
    /// When the head arrived, in seconds since 1970.
    var received: Int { state.withLock { $0.headTime.seconds } }
    /// The body so far, and whether it exceeds the limit.
    var body: (bytes: [UInt8], isCut: Bool) { state.withLock { ($0.bytes, $0.isCut) } }
    /// The metrics, once the transfer has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    func receive(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            state.head = head
            state.headTime = .coarseNow
        }
        return true
    }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        state.withLock { state in
            let room = limit - state.bytes.count
            state.isCut = bytes.count > room
            state.bytes += [UInt8](copying: bytes.extracting(first: max(0, min(room, bytes.count))))
            return !state.isCut
        }
    }

    func sent(_ count: Int) { onSent(count) }

    func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics = metrics } }
}
