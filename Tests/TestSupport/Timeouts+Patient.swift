public import LazyImages

extension Timeouts {
    /// Timeouts that never end a transfer before the test does. The test may be slow on a busy machine.
    public static let patient = Timeouts(each: .seconds(600))
}

extension RetryTiming {
    /// The system's clock, with sleeps that end only when their task is cancelled. A tier's flush then waits for all its
    /// writes, however slow the machine is.
    package static let patient = RetryTiming(
        now: RetryTiming.system.now, sleep: { _ in try await Tally().wait(for: 1) }, random: { 0 })
}
