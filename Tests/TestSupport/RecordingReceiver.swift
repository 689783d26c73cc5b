public import LazyImages
import SystemSupport

/// Records everything a transport delivers, and can stop the transfer.
public final class RecordingReceiver: BodyReceiver {
    private struct State {
        var heads: [ResponseHead] = []
        var bytes: [UInt8] = []
        var metrics: [TransferMetrics] = []
        var sent: [Int] = []
    }

    private let wantsBody: Bool
    private let limit: Int
    private let state = Lock(State())
    /// Counts heads and pieces of the body.
    public let arrivals = Tally()

    /// - Parameters:
    ///   - wantsBody: whether it accepts the body after the head. Default true.
    ///   - limit: the number of bytes after which it stops the transfer. Default: none.
    public init(wantsBody: Bool = true, limit: Int = .max) {
        self.wantsBody = wantsBody
        self.limit = limit
    }

    /// The delivered heads; a correct transport delivers one.
    public var heads: [ResponseHead] { state.withLock { $0.heads } }

    /// The received bytes of the body.
    public var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// The delivered metrics; a correct transport delivers them once.
    public var metrics: [TransferMetrics] { state.withLock { $0.metrics } }

    /// The sent bytes of the request's body, at each report.
    public var sent: [Int] { state.withLock { $0.sent } }

    /// Records the number of sent bytes.
    public func sent(_ count: Int) { state.withLock { $0.sent.append(count) } }

    /// Records the metrics.
    public func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics.append(metrics) } }

    /// Records the head.
    public func receive(_ head: ResponseHead) -> Bool {
        state.withLock { $0.heads.append(head) }
        arrivals.add()
        return wantsBody
    }

    /// Records the bytes.
    public func receive(_ bytes: Span<UInt8>) -> Bool {
        let copy = [UInt8](copying: bytes)
        let count = state.withLock { state in
            state.bytes += copy
            return state.bytes.count
        }
        arrivals.add()
        return count < limit
    }
}
