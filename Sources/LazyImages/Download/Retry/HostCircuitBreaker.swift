/// Which hosts are left alone for a while because they failed again and again, so that a dead host is not hammered by
/// everything that waits for it. A plain struct, not safe for concurrent use.
///
///     working --(n failures in a row)--> resting until a time --(that time)--> probed by one transfer
///        ^                                  ^----------(it fails: twice as long)-----|
///        |------------------------------------------------(it succeeds)--------------|
struct HostCircuitBreaker {
    /// Whether a transfer to a host may start.
    enum Admission: Equatable {
        case allowed
        /// Not before this time.
        case refused(until: Duration)
    }

    private struct Host {
        var failures = 0
        /// Nil while it works.
        var restsUntil: Duration?
        var pause: Duration
        var isProbed = false
    }

    /// The longest pause of a host.
    private static let longestPause = Duration.seconds(60)
    /// Hosts remembered; beyond that all that are not resting are forgotten.
    private static let hostLimit = 1000

    private let policy: RetryPolicy
    private var hosts: [String: Host] = [:]

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// How many hosts are remembered.
    var hostCount: Int { hosts.count }

    /// Asks for one transfer. Where it is the probe of a host that rested, `succeeded`, `failed` or `gaveUp` must follow.
    /// - Parameters:
    ///   - now: on any clock that only goes forward.
    ///   - overrides: whether it is made even while the host rests, as a probe before its time. Default: no.
    mutating func admit(_ host: String, now: Duration, overrides: Bool = false) -> Admission {
        guard !hosts.isEmpty, let until = hosts[host]?.restsUntil else { return .allowed }
        if !overrides, hosts[host]?.isProbed == true || now < until {
            return .refused(until: max(until, now))
        }
        hosts[host]?.isProbed = true
        return .allowed
    }

    /// The host has answered, whatever it said.
    mutating func succeeded(_ host: String) {
        if !hosts.isEmpty { hosts[host] = nil }
    }

    /// A transfer was given up before it told anything.
    mutating func gaveUp(_ host: String) {
        if !hosts.isEmpty { hosts[host]?.isProbed = false }
    }

    /// The host has failed.
    mutating func failed(_ host: String, now: Duration) {
        var state = hosts[host] ?? Host(pause: policy.pauseOfHost)
        state.failures = min(state.failures, Int.max - 1) + 1
        if state.isProbed {
            state.pause = min(state.pause * 2, Self.longestPause)
            state.restsUntil = now + state.pause
            state.isProbed = false
        } else if state.restsUntil == nil, state.failures >= policy.failuresOfHost {
            state.restsUntil = now + state.pause
        }
        if hosts.count >= Self.hostLimit { hosts = hosts.filter { $0.value.restsUntil != nil } }
        hosts[host] = state
    }
}
