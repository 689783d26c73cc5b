import SystemSupport

/// What a downloader is doing on the network: every transfer's events as they come, counts by host, and a sign for a person
/// that does not flicker. Can be read from anywhere without waiting.
public final class NetworkActivity: Sendable {
    /// What has happened with one host and port.
    public struct HostCounters: Sendable, Hashable {
        /// Transfers that have their place now.
        public var running = 0
        /// Transfers that brought an answer.
        public var finished = 0
        /// Transfers that came to nothing.
        public var failed = 0
        /// Transfers over a connection that was open already.
        public var reusedConnections = 0
        /// Bytes of bodies that arrived.
        public var bytes = 0

        /// Nothing yet.
        public init() {}
    }

    /// What has come of bodies, and what is still to come.
    public struct Traffic: Sendable, Hashable {
        /// Bytes that have arrived so far, of transfers under way too.
        public var received = 0
        /// Bytes that servers have promised for the transfers under way and that have not arrived.
        public var remaining = 0
        /// How much has come of the transfers under way, in transfers: 0.5 for one that is half there.
        public var underWay = 0.0

        /// Nothing yet.
        public init() {}
    }

    /// How long the sign stays on after the last transfer: the next row's often begins within it.
    public static let linger = Duration.milliseconds(250)

    private struct State {
        var hosts: [String: HostCounters] = [:]
        var received = 0
        /// The transfers under way, by number: where each says how far it is, and what had come there before.
        var bodies: [Int: (relay: ProgressRelay, before: Int)] = [:]
        var running = 0
        /// Rises with every start: a pause that was interrupted by one does not end the sign.
        var starts = 0
        var isActive = false
        /// Whether somebody waits already for the pause to end.
        var isPausing = false
        var lastListener = 0
        var listeners: [Int: AsyncStream<TransferEvent>.Continuation] = [:]
        var watchers: [Int: AsyncStream<Bool>.Continuation] = [:]
    }

    private let state = Lock(State())
    private let pause: @Sendable () async -> Void

    /// - Parameter clock: what the pause before the sign goes off is measured by.
    init(clock: some Clock<Duration> = ContinuousClock()) {
        // Nobody cancels the pause.
        pause = { try? await clock.sleep(until: clock.now.advanced(by: Self.linger), tolerance: nil) }
    }

    deinit {
        let (listeners, watchers) = state.withLock { ($0.listeners, $0.watchers) }
        for listener in listeners.values { listener.finish() }
        for watcher in watchers.values { watcher.finish() }
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

    /// Whether the sign is on: from the first transfer's start until a quarter of a second after the last one's end.
    public var isActive: Bool { state.withLock { $0.isActive } }

    /// The sign as it is, then every change of it.
    public var changes: AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        let number = state.withLock { state in
            state.lastListener += 1
            state.watchers[state.lastListener] = continuation
            continuation.yield(state.isActive)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.watchers[number] = nil } }
        return stream
    }

    /// The counts by host and port, `example.org:443`.
    public var hosts: [String: HostCounters] { state.withLock { $0.hosts } }

    /// The bytes of bodies so far, for a sign that moves while a transfer runs.
    public var traffic: Traffic {
        state.withLock { state in
            var traffic = Traffic()
            traffic.received = state.received
            for (relay, before) in state.bodies.values {
                let (arrived, body) = relay.traffic
                traffic.received += arrived - before
                guard let body, let expected = body.expected, expected > 0 else { continue }
                traffic.remaining += max(0, expected - body.received)
                traffic.underWay += min(1, Double(body.received) / Double(expected))
            }
            return traffic
        }
    }

    // MARK: What the downloader tells

    /// A transfer begins. How far it is, its relay knows, which is asked when somebody wants to know.
    func beginBody(of transfer: Int, at relay: ProgressRelay) {
        let before = relay.traffic.arrived
        state.withLock { $0.bodies[transfer] = (relay, before) }
    }

    /// Passes an event on, which is only made if somebody listens.
    func note(_ event: () -> TransferEvent) {
        let listeners = state.withLock { $0.listeners }
        if listeners.isEmpty { return }
        let event = event()
        for listener in listeners.values { listener.yield(event) }
    }

    /// No more comes of a transfer's body.
    func endBody(of transfer: Int) {
        state.withLock { state in
            guard let (relay, before) = state.bodies.removeValue(forKey: transfer) else { return }
            state.received += relay.traffic.arrived - before
        }
    }

    /// A transfer has its place.
    func begin(at place: String) {
        let watchers = state.withLock { state in
            state.hosts[place, default: HostCounters()].running += 1
            state.running += 1
            state.starts += 1
            defer { state.isActive = true }
            return state.isActive ? [:] : state.watchers
        }
        for watcher in watchers.values { watcher.yield(true) }
    }

    /// A transfer has left its place.
    func end(at place: String, didSucceed: Bool, _ metrics: TransferMetrics?) {
        let beginsPause = state.withLock { state in
            var host = state.hosts[place] ?? HostCounters()
            host.running -= 1
            if didSucceed { host.finished += 1 } else { host.failed += 1 }
            host.bytes += metrics?.bytes ?? 0
            if metrics?.isReused == true { host.reusedConnections += 1 }
            state.hosts[place] = host
            state.running -= 1
            guard state.running == 0, !state.isPausing else { return false }
            state.isPausing = true
            return true
        }
        guard beginsPause else { return }
        Task { [self] in
            var starts = state.withLock { $0.starts }
            while true {
                await pause()
                guard let startsSince = rest(unlessStartedSince: starts) else { return }
                starts = startsSince
            }
        }
    }

    /// Ends the sign, unless a transfer runs or has run since; then how many have started, or nil if nobody need wait.
    private func rest(unlessStartedSince starts: Int) -> Int? {
        let (watchers, startsSince) = state.withLock {
            state -> ([Int: AsyncStream<Bool>.Continuation], Int?) in
            if state.running == 0, state.starts != starts { return ([:], state.starts) }
            state.isPausing = false
            guard state.running == 0 else { return ([:], nil) }
            state.isActive = false
            return (state.watchers, nil)
        }
        for watcher in watchers.values { watcher.yield(false) }
        return startsSince
    }
}
