import SystemSupport

/// What a downloader is doing on the network: every transfer's events as they come, and counts by host. Can
/// be read from anywhere without waiting.
public final class NetworkActivity: Sendable {
    /// What has happened with one host and port.
    public struct HostCounters: Sendable, Hashable {
        /// Transfers that have their slot now.
        public var running = 0
        /// Transfers that brought an answer.
        public var finished = 0
        /// Transfers that came to nothing.
        public var failed = 0
        /// Transfers over a connection that was open already.
        public var reusedConnections = 0
        /// Bytes of bodies that arrived.
        public var bytes = 0
        /// Bytes of requests' bodies that were sent.
        public var sent = 0

        /// Nothing yet.
        public init() {}
    }

    /// What has come of bodies, and what is still to come.
    package struct Traffic: Sendable, Hashable {
        /// Bytes that have arrived so far, of transfers under way too.
        package var received = 0
        /// Bytes that servers have promised for the transfers under way and that have not arrived.
        package var remaining = 0
        /// How much has come of the transfers under way, in transfers: 0.5 for one that is half there.
        package var underWay = 0.0

        /// Nothing yet.
        package init() {}
    }

    private struct State {
        var hosts: [String: HostCounters] = [:]
        var received = 0
        /// The transfers under way, by number, and how many bytes had come of each when its attempt began.
        var transfers: [Int: (transfer: any CountedTransfer, before: Int)] = [:]
        var lastListener = 0
        var listeners: [Int: AsyncStream<TransferEvent>.Continuation] = [:]
    }

    private let state = Lock(State())
    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    /// Every event from now on. Each use is a stream of its own, and events wait for whoever reads slowly; one that is let
    /// go of ends.
    public var events: AsyncStream<TransferEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferEvent.self)
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
        return stream
    }

    /// The counts by host and port, `example.org:443`.
    public var hosts: [String: HostCounters] { state.withLock { $0.hosts } }

    /// The bytes of bodies so far, for a sign that moves while a transfer runs.
    package var traffic: Traffic {
        state.withLock { state in
            var traffic = Traffic()
            traffic.received = state.received
            for (transfer, before) in state.transfers.values {
                let (arrived, body) = transfer.traffic
                traffic.received += arrived - before
                guard let body, let expected = body.expected, expected > 0 else { continue }
                traffic.remaining += max(0, expected - body.received)
                traffic.underWay += min(1, Double(body.received) / Double(expected))
            }
            return traffic
        }
    }

    // MARK: What the downloader tells

    /// Passes an event on, which is only made if somebody listens.
    func note(_ event: () -> TransferEvent) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let event = event()
        for listener in listeners.values { listener.yield(event) }
    }

    /// An attempt of a transfer has its slot. How far it is, the transfer knows, which is asked when somebody wants to know.
    func begin(_ transfer: some CountedTransfer, host: String) {
        let before = transfer.traffic.arrived
        state.withLock { state in
            state.hosts[host, default: HostCounters()].running += 1
            state.transfers[transfer.number] = (transfer, before)
        }
    }

    /// An attempt has left its slot.
    func end(
        _ transfer: some CountedTransfer, host: String, didSucceed: Bool, _ metrics: TransferMetrics?
    ) {
        state.withLock { state in
            if let (transfer, before) = state.transfers.removeValue(forKey: transfer.number) {
                state.received += transfer.traffic.arrived - before
            }
            var counters = state.hosts[host] ?? HostCounters()
            counters.running -= 1
            if didSucceed { counters.finished += 1 } else { counters.failed += 1 }
            counters.bytes += metrics?.bytes ?? 0
            counters.sent += metrics?.sent ?? 0
            if metrics?.isReused == true { counters.reusedConnections += 1 }
            state.hosts[host] = counters
        }
    }
}

/// A transfer whose bytes are counted.
protocol CountedTransfer: AnyObject, Sendable {
    /// Like no other's of one downloader or uploader.
    var number: Int { get }
    /// How many bytes have come so far, and how far the body is.
    var traffic: (arrived: Int, progress: TransferProgress?) { get }
}

extension SharedTask: CountedTransfer {}

/// One thing that happened to a transfer.
public struct TransferEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// It was asked for and waits for a slot.
        case waiting
        /// It has its slot, after waiting so long.
        case started(queueWait: Duration)
        /// A redirect leads on to another address.
        case redirected(to: String)
        /// Its answer is there, with this status.
        case finished(status: Int, metrics: TransferMetrics)
        /// It came to nothing.
        case failed(ImageLoadingError, metrics: TransferMetrics?)
        /// What it came to may pass: it is tried again after so long.
        case retrying(after: Duration)
    }

    /// The same for all events of one transfer, and like no other's of one downloader.
    public let transfer: Int
    /// Where it goes, without credentials.
    public let url: String
    /// What happened.
    public let kind: Kind
}

/// Where one transfer's time went, and what it carried. Times are counted from the transfer's start; zero where a phase did
/// not happen, as on a connection that was open already.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the host's address was known.
    public var nameLookup = Duration.zero
    /// Until the connection stood.
    public var connect = Duration.zero
    /// Until TLS stood.
    public var secureConnect = Duration.zero
    /// Until the first byte of the answer.
    public var firstByte = Duration.zero
    /// Until the end.
    public var total = Duration.zero
    /// Bytes of the body that arrived.
    public var bytes = 0
    /// Bytes of the request's body that were sent.
    public var sent = 0
    /// `HTTP/1.1`, `HTTP/2`; empty where no answer came.
    public var protocolVersion = ""
    /// Whether it went over a connection that was open already.
    public var isReused = false

    /// A transfer of which nothing is known.
    public init() {}
}
