import LazyImages
import SystemSupport

/// A counter of events. A test waits for a count instead of sleeping.
public final class Tally: Sendable {
    private struct Waiter {
        let target: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var count = 0
        var lastWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var cancelled: Set<Int> = []

        /// Removes and returns the waiters whose target is reached.
        mutating func due() -> [Waiter] {
            let due = waiters.filter { $0.value.target <= count }
            for number in due.keys { waiters[number] = nil }
            return Array(due.values)
        }
    }

    private let state = Lock(State())

    /// A count of 0.
    public init() {}

    /// The number of events so far.
    public var count: Int { state.withLock { $0.count } }

    /// Counts one event.
    public func add() {
        let due = state.withLock { state in
            state.count += 1
            return state.due()
        }
        for waiter in due { waiter.continuation.resume() }
    }

    /// Waits until the count is at least `target`.
    /// - Throws: `CancellationError` when the calling task is cancelled, as a test's time limit does.
    public func wait(for target: Int) async throws {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.count >= target || state.cancelled.remove(number) != nil { return true }
                    state.waiters[number] = Waiter(target: target, continuation: continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: number)
                if waiter == nil { state.cancelled.insert(number) }
                return waiter
            }
            waiter?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
