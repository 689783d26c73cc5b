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
