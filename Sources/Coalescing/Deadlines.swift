import SystemSupport

/// Calls closures at their deadlines, or some milliseconds later. Mostly never: nearly all are removed before. One task
/// waits for all of them; an earlier deadline than its next one gets a task that takes over.
///
/// Safe for concurrent use. The closures are called with the lock released, in that task.
package final class Deadlines: Sendable {
    private struct State {
        var entries: [Int: (time: Duration, action: @Sendable () -> Void)] = [:]
        var lastNumber = 0
        /// When the watching task wakes; nil if none watches.
        var wake: Duration?
    }

    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - now: the time on a monotonic clock.
    ///   - sleep: waits on this clock.
    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// - Returns: the number of the deadline.
    package func add(after time: Duration, _ action: @escaping @Sendable () -> Void) -> Int {
        let deadline = now() + time
        let (number, isEarliest) = state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = (deadline, action)
            let isEarliest = state.wake.map { deadline < $0 } ?? true
            if isEarliest { state.wake = deadline }
            return (state.lastNumber, isEarliest)
        }
        if isEarliest {
            Task { [weak self, sleep] in
                var (wake, pause) = (deadline, time)
                while true {
                    // Ignored: this task is never cancelled.
                    try? await sleep(pause)
                    guard let next = self?.next(after: wake) else { return }
                    (wake, pause) = next
                }
            }
        }
        return number
    }

    package func remove(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    /// The least time between two looks. A look goes through all entries, and thousands may be due one after the other.
    private static let leastPause = Duration.milliseconds(10)

    /// Calls what is due.
    /// - Parameter wake: when the watching task meant to wake.
    /// - Returns: the next deadline and the time until then; nil if there is none, or if another task watches.
    private func next(after wake: Duration) -> (wake: Duration, pause: Duration)? {
        let now = now()
        let (due, next) = state.withLock { state in
            guard state.wake == wake else { return ([@Sendable () -> Void](), Duration?.none) }
            let due = state.entries.filter { $0.value.time <= now }
            for number in due.keys { state.entries[number] = nil }
            state.wake = state.entries.values.map(\.time).min().map { max($0, now + Self.leastPause) }
            return (due.sorted { $0.key < $1.key }.map(\.value.action), state.wake)
        }
        for action in due { action() }
        return next.map { ($0, max(.zero, $0 - now)) }
    }
}
