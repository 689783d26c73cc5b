import SystemSupport

/// The network activity of a downloader: events of all transfers, and counts by host. Can be read from any thread
/// without waiting.
public final class NetworkActivity: Sendable {
    /// The counts of one host and port.
    public struct HostCounters: Sendable, Hashable {
        /// Transfers that have a slot now.
        public var running = 0
        /// Transfers with an answer.
        public var finished = 0
        /// Transfers that failed.
        public var failed = 0
        /// Bytes of bodies received.
        public var bytes = 0
        /// Bytes of request bodies sent.
        public var sent = 0

        fileprivate static func += (left: inout Self, right: Self) {
            left.running += right.running
            left.finished += right.finished
            left.failed += right.failed
            left.bytes += right.bytes
            left.sent += right.sent
        }
    }

    /// The bytes of bodies received, and the bytes still expected.
    package struct Traffic: Sendable, Hashable, Codable {
        /// Bytes received so far, including those of running transfers.
        package var received = 0
        /// Bytes that the running transfers still expect.
        package var remaining = 0
        /// The progress of the running transfers, in transfers: 0.5 for one that is half done.
        package var underWay = 0.0

        /// All counts are zero.
        package init() {}
    }

    /// The most events that a slow reader finds, in all about 3 MB.
    private static let eventLimit = 10_000
    /// The most hosts whose counts are kept, except those with running transfers.
    private static let hostLimit = 1_000

    /// Receives every event; nil for nobody.
    private let observer: (@Sendable (TransferEvent) -> Void)?

    init(observer: (@Sendable (TransferEvent) -> Void)? = nil) { self.observer = observer }

    private struct Host {
        var counters = HostCounters()
        /// Larger than that of every host used before.
        var lastUse = 0
    }

    private struct State {
        var hosts: [String: Host] = [:]
        var uses = 0
        var received = 0
        /// The arriving bodies by the number of their transfer.
        var bodies: [Int: BodyBuffer] = [:]
        var abandoned = 0
        var readers = Broadcast<TransferEvent>()

        mutating func count(_ host: String, _ change: (inout HostCounters) -> Void) {
            uses += 1
            var counted = hosts[host] ?? Host()
            change(&counted.counters)
            counted.lastUse = uses
            hosts[host] = counted
            if hosts.count > hostLimit { removeIdleHost() }
        }

        /// Adds the counts of the host that was idle for the longest time to those of the empty name.
        private mutating func removeIdleHost() {
            let idle = hosts.lazy.filter { !$0.key.isEmpty && $0.value.counters.running == 0 }
            guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
            hosts[oldest.key] = nil
            hosts["", default: Host()].counters += oldest.value.counters
        }
    }

    private let state = Lock(State())

    deinit { state.withLock { $0.readers }.finish() }

    /// All events from now on. Each use makes a new stream, which ends when it is released. A slow reader gets the newest
    /// 10,000 events.
    public var events: AsyncStream<TransferEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferEvent.self, bufferingPolicy: .bufferingNewest(Self.eventLimit))
        let number = state.withLock { $0.readers.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers.remove(number) } }
        return stream
    }

    /// The counts by host and port, `example.org:443`, of the 1,000 hosts that were used last. The empty name has the
    /// sums of all others, and of requests with a closure.
    public var hosts: [String: HostCounters] { state.withLock { $0.hosts.mapValues(\.counters) } }

    /// The bytes of bodies so far, for a progress display.
    package var traffic: Traffic {
        state.withLock { state in
            var traffic = Traffic()
            traffic.received = state.received
            for body in state.bodies.values {
                let (arrived, progress) = body.traffic
                traffic.received += arrived
                guard let expected = progress.expected, expected > 0 else { continue }
                traffic.remaining += max(0, expected - progress.received)
                traffic.underWay += min(1, Double(progress.received) / Double(expected))
            }
            return traffic
        }
    }

    /// How many transfers were given up at their total timeout, because the transport or the request's closure did not
    /// end.
    package var abandonedCount: Int { state.withLock { $0.abandoned } }

    // MARK: What the downloader records

    /// Passes an event on. The event is made only if somebody listens.
    func record(_ event: () -> TransferEvent) {
        let isRead = state.withLock { !$0.readers.isEmpty }
        guard isRead || observer != nil else { return }
        let event = event()
        observer?(event)
        if isRead { state.withLock { $0.readers.yield(event) } }
    }

    /// An attempt of a transfer begins.
    func start(host: String) { state.withLock { state in state.count(host) { $0.running += 1 } } }

    /// The body of an attempt may arrive.
    func read(_ body: BodyBuffer, for number: Int) { state.withLock { $0.bodies[number] = body } }

    /// A transfer was given up, while its attempt still runs.
    func recordAbandoned() { state.withLock { $0.abandoned += 1 } }

    /// An attempt has ended.
    func end(_ number: Int, host: String, didSucceed: Bool, _ metrics: TransferMetrics?) {
        state.withLock { state in
            if let body = state.bodies.removeValue(forKey: number) { state.received += body.traffic.arrived }
            state.count(host) { counters in
                counters.running -= 1
                if didSucceed { counters.finished += 1 } else { counters.failed += 1 }
                counters.bytes += metrics?.bytes ?? 0
                counters.sent += metrics?.sent ?? 0
            }
        }
    }
}

/// An event of one transfer.
public struct TransferEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// An attempt waits for a slot. At most once for each attempt, before it is started.
        case waiting
        /// The attempt has its slot, after waiting for this time.
        case started(queueWait: Duration)
        /// A redirect leads to another URL.
        case redirected(to: String)
        /// The answer has arrived, with this status.
        case finished(status: Int, metrics: TransferMetrics)
        /// The attempt failed.
        case failed(ImageLoadingError, metrics: TransferMetrics?)
        /// The transfer is retried after this time.
        case retrying(after: Duration)
    }

    /// The number of the transfer, unique within one downloader.
    public let transfer: Int
    /// The URL of the attempt, without credentials.
    public let url: String
    /// What happened.
    public let kind: Kind
}
