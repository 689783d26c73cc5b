/// A circuit breaker for each host: after repeated failures transfers to a host fail at once for a while. A plain
/// struct, not safe for concurrent use.
///
///     closed --(n failures in a row)--> open until a time --(that time)--> one transfer probes the host
///        ^                                 ^----------(it fails: twice as long)-----|
///        |-----------------------------------------------(it succeeds)--------------|
struct HostCircuitBreaker {
    /// Whether a transfer to a host may start.
    enum Admission: Equatable {
        case allowed
        /// Not before this time.
        case refused(until: Duration)
    }

    private struct Host {
        var failures = 0
        /// Nil while the circuit is closed.
        var openUntil: Duration?
        var pause: Duration
        var isProbed = false
    }

    /// The longest time that a circuit stays open.
    private static let longestPause = Duration.seconds(60)
    /// The most hosts to remember. Beyond it all hosts with a closed circuit are forgotten.
    private static let hostLimit = 1000

    private let policy: RetryPolicy
    private var hosts: [String: Host] = [:]

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// How many hosts have failures.
    var hostCount: Int { hosts.count }

    /// Decides on one transfer. If it is a probe, `succeeded`, `failed` or `inconclusive` must follow.
    /// - Parameters:
    ///   - now: the time on any monotonic clock.
    ///   - overrides: whether to probe the host even while its circuit is open. Default: false.
    mutating func admit(_ host: String, now: Duration, overrides: Bool = false) -> Admission {
        guard !hosts.isEmpty, let until = hosts[host]?.openUntil else { return .allowed }
        if !overrides, hosts[host]?.isProbed == true || now < until {
            return .refused(until: max(until, now))
        }
        hosts[host]?.isProbed = true
        return .allowed
    }

    /// Whether a host's circuit is open, or is being probed.
    func isOpen(_ host: String) -> Bool { hosts[host]?.openUntil != nil }

    /// The host has answered, with any status.
    mutating func succeeded(_ host: String) {
        if !hosts.isEmpty { hosts[host] = nil }
    }

    /// A transfer ended without an answer or a failure of the host.
    mutating func inconclusive(_ host: String) {
        if !hosts.isEmpty { hosts[host]?.isProbed = false }
    }

    /// The host did not answer.
    mutating func failed(_ host: String, now: Duration) {
        var state = hosts[host] ?? Host(pause: policy.pauseOfHost)
        state.failures = min(state.failures, Int.max - 1) + 1
        if state.isProbed {
            state.pause = min(state.pause * 2, Self.longestPause)
            state.openUntil = now + state.pause
            state.isProbed = false
        } else if state.openUntil == nil, state.failures >= policy.failuresOfHost {
            state.openUntil = now + state.pause
        }
        if hosts.count >= Self.hostLimit { hosts = hosts.filter { $0.value.openUntil != nil } }
        hosts[host] = state
    }
}
