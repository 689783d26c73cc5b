public import LazyImages
import SystemSupport

/// Keeps everything a transport hands over, and has enough when it is told to.
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
    /// How often a head or a part of the body has come.
    public let arrivals = Tally()

    /// - Parameters:
    ///   - wantsBody: whether it takes the body after the head. Default true.
    ///   - limit: the bytes after which it has enough. Default: it never has.
    public init(wantsBody: Bool = true, limit: Int = .max) {
        self.wantsBody = wantsBody
        self.limit = limit
    }

    /// The heads that came; an honest transport hands over one.
    public var heads: [ResponseHead] { state.withLock { $0.heads } }

    /// The bytes of the body so far.
    public var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// What was measured; an honest transport hands it over once.
    public var metrics: [TransferMetrics] { state.withLock { $0.metrics } }

    /// How much of the request's body had been sent, each time it was told.
    public var sent: [Int] { state.withLock { $0.sent } }

    /// Notes how much was sent.
    public func sent(_ count: Int) { state.withLock { $0.sent.append(count) } }

    /// Notes what was measured.
    public func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics.append(metrics) } }

    /// Notes the head.
    public func receive(_ head: ResponseHead) -> Bool {
        state.withLock { $0.heads.append(head) }
        arrivals.add()
        return wantsBody
    }

    /// Notes the bytes.
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
