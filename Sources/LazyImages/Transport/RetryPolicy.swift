/// Decides whether a failed attempt is retried, and when: a program's own rules, in place of those of ``RetryPolicy``.
public protocol RetryStrategy: Sendable {
    /// The pause before the next attempt; nil for no more. May wait, for a new token for example. The total timeout holds all the same, and an upload that may
    /// have had an effect is not repeated.
    /// - Parameter attempt: the attempt that failed.
    func pause(after attempt: FailedAttempt) async -> Duration?
}

/// An attempt that failed.
public struct FailedAttempt: Sendable {
    /// Why it failed.
    public enum Reason: Sendable {
        /// There was no answer.
        case error(ImageLoadingError)
        /// The answer has this status.
        case status(Int)
    }

    /// The URL, without credentials.
    public let url: String
    /// Why it failed.
    public let reason: Reason
    /// How many attempts there were, this one included.
    public let attempts: Int
    /// How long the attempts took, without the pauses.
    public let elapsed: Duration
    /// The server's Retry-After, in seconds; nil for none.
    public let retryAfter: Int?
}

/// The retry rules: when a failed transfer is retried, and after which backoff. Retried are failed and lost connections,
/// a lack of threads or descriptors, and the statuses 408, 425, 429, 500, 502, 503 and 504. The pause before each retry
/// is random, between zero and a bound that doubles every time (exponential backoff with full jitter), so that clients
/// that failed together do not return together. A server's Retry-After is obeyed up to a limit; beyond it there is no
/// retry.
public struct RetryPolicy: Sendable, Hashable {
    /// The most attempts, including the first. Default: 3.
    public var attempts: Int
    /// The bound of the first pause. Default: 200 ms.
    public var firstPause: Duration
    /// The highest bound of a pause. Default: 10 s.
    public var longestPause: Duration
    /// The longest Retry-After to wait for. Default: 30 s.
    public var longestRetryAfter: Duration
    /// After how many failures in a row a host's circuit breaker opens. Default: 8.
    public var failuresOfHost: Int
    /// How long the circuit breaker stays open. Then one transfer probes the host. The time doubles with each failed
    /// probe, up to a minute. Default: 2 s.
    public var pauseOfHost: Duration

    /// A policy with the defaults for what is not given.
    /// - Parameters:
    ///   - attempts: the most attempts. Default: 3.
    ///   - firstPause: the bound of the first pause. Default: 200 ms.
    ///   - longestPause: the highest bound of a pause. Default: 10 s.
    ///   - longestRetryAfter: the longest `Retry-After` to wait for. Default: 30 s.
    ///   - failuresOfHost: after how many failures in a row a host's circuit breaker opens. Default: 8.
    ///   - pauseOfHost: how long the circuit breaker stays open at first. Default: 2 s.
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

    /// No retries, and no circuit breakers.
    public static let never = RetryPolicy(attempts: 1, failuresOfHost: .max)

    /// The pause before the next attempt; nil if there is none.
    /// - Parameters:
    ///   - tries: how many attempts there were, 1 or more.
    ///   - retryAfter: the server's Retry-After, in seconds.
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

    /// Whether an attempt that failed so is retried. Not after a timeout: the caller has waited long enough.
    static func covers(_ failure: FailedAttempt.Reason) -> Bool {
        switch failure {
        case .error(.connectionFailed), .error(.connectionLost), .error(.resourcesShort): true
        // Only if the connection truncated the body. A file that is truncated on the server stays so.
        case .error(.truncated(_, _, let expected)): expected != nil
        case .error: false
        // The statuses of temporary failures.
        case .status(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
        }
    }
}

/// The clock and the random numbers of retries. Tests replace them.
package struct RetryTiming: Sendable {
    /// The time on a monotonic clock.
    package var now: @Sendable () -> Duration
    /// Waits; throws if the calling task is cancelled.
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

    /// The system's clock and random numbers.
    package static let system: RetryTiming = {
        let clock = ContinuousClock()
        let start = clock.now
        return RetryTiming(
            now: { clock.now - start }, sleep: { try await clock.sleep(for: $0) },
            random: { Double.random(in: 0..<1) })
    }()
}
