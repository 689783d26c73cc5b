import SystemSupport

/// Calls closures at their deadlines, mostly never: nearly all are removed before. One task waits for all of them.
///
/// Safe for concurrent use. The closures are called with the lock released, in that task.
package final class Deadlines: Sendable {
    private struct State {
        var entries: [Int: (time: Duration, action: @Sendable () -> Void)] = [:]
        var lastNumber = 0
        var isWatched = false
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
        let (number, isUnwatched) = state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = (deadline, action)
            defer { state.isWatched = true }
            return (state.lastNumber, !state.isWatched)
        }
        if isUnwatched {
            Task { [weak self, sleep] in
                // Ignored: this task is never cancelled.
                while let pause = self?.next() { try? await sleep(pause) }
            }
        }
        return number
    }

    package func remove(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    /// Calls what is due.
    /// - Returns: the time until the next deadline; nil if there is none, so that nobody need watch.
    private func next() -> Duration? {
        let now = now()
        let (due, next) = state.withLock { state in
            let due = state.entries.filter { $0.value.time <= now }
            for number in due.keys { state.entries[number] = nil }
            let next = state.entries.values.map(\.time).min()
            state.isWatched = next != nil
            return (due.sorted { $0.key < $1.key }.map(\.value.action), next)
        }
        for action in due { action() }
        return next.map { $0 - now }
    }
}
