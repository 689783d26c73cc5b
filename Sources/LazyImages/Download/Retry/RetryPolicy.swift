/// When a transfer that failed is tried again. Only what may well succeed the next time is: a connection that did not come
/// about or was lost, one that this system had no thread or descriptor for, and the statuses 408, 425, 429, 500, 502, 503 and 504. The pause before each try is drawn at random
/// from nothing to a bound that doubles every time (full jitter), so that clients which failed together do not come back
/// together; a server's Retry-After is obeyed up to a limit, beyond which there is no other try.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a transfer is made at most, the first time included. Default 3.
    public var attempts: Int
    /// The bound of the first pause. Default 200 ms.
    public var firstPause: Duration
    /// What no pause's bound exceeds. Default 10 s.
    public var longestPause: Duration
    /// The longest Retry-After that is waited for. Default 30 s.
    public var longestRetryAfter: Duration
    /// How many failures of one host in a row have it left alone for a while. Default 8.
    public var failuresOfHost: Int
    /// How long it is left alone; then one transfer tries. It doubles with each that fails, up to a minute. Default 2 s.
    public var pauseOfHost: Duration

    /// A policy with the defaults for what is not given.
    /// - Parameters:
    ///   - attempts: how often a transfer is made at most. Default 3.
    ///   - firstPause: the bound of the first pause. Default 200 ms.
    ///   - longestPause: the bound that no pause exceeds. Default 10 s.
    ///   - longestRetryAfter: the longest `Retry-After` that is waited for. Default 30 s.
    ///   - failuresOfHost: after how many failures in a row a host is left alone. Default 8.
    ///   - pauseOfHost: how long it is left alone at first. Default 2 s.
    public init(
        attempts: Int = 3, firstPause: Duration = .milliseconds(200), longestPause: Duration = .seconds(10),
        longestRetryAfter: Duration = .seconds(30), failuresOfHost: Int = 8,
        pauseOfHost: Duration = .seconds(2)
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.longestRetryAfter = longestRetryAfter
        self.failuresOfHost = failuresOfHost
        self.pauseOfHost = pauseOfHost
    }

    /// Nothing is tried again, and no host left alone.
    public static let never = RetryPolicy(attempts: 1, failuresOfHost: .max)

    /// The pause before another try, or nil if there is none.
    /// - Parameters:
    ///   - tries: how many there were, 1 or more.
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - random: a number from 0 up to but not including 1.
    func pause(afterTries tries: Int, retryAfter: Int? = nil, random: Double) -> Duration? {
        guard tries < attempts else { return nil }
        var bound = firstPause
        for _ in 1..<max(1, tries) where bound < longestPause { bound *= 2 }
        let pause = min(bound, longestPause) * random
        guard let retryAfter else { return pause }
        guard .seconds(retryAfter) <= longestRetryAfter else { return nil }
        return max(pause, .seconds(retryAfter))
    }

    /// Whether a transfer that brought this status is tried again: one that says that it may pass within seconds.
    static func covers(status: Int) -> Bool { [408, 425, 429, 500, 502, 503, 504].contains(status) }

    /// Whether a transfer that failed so is tried again. A timeout is not: whoever asked has waited long enough.
    static func covers(_ error: ImageLoadingError) -> Bool {
        switch error {
        case .connectionFailed, .connectionLost, .resourcesShort: true
        // Cut by the connection, that is; an image that is cut in its file is the same the next time.
        case .truncated(_, _, let expected): expected != nil
        default: false
        }
    }
}

/// The clock and the chance that retries go by, so that tests need not wait and know what comes.
package struct RetryTiming: Sendable {
    /// A time that only goes forward.
    package var now: @Sendable () -> Duration
    /// Waits; throws when the calling task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to but not including 1.
    package var random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's.
    package static let system: RetryTiming = {
        let clock = ContinuousClock()
        let start = clock.now
        return RetryTiming(
            now: { clock.now - start }, sleep: { try await clock.sleep(for: $0) },
            random: { Double.random(in: 0..<1) })
    }()
}
