import SystemSupport

/// Slots that tasks wait for. Downloads, uploads and the sources of a service share one queue, so that a host sees its
/// limit once.
///
/// The race of a cancelled task with its entering: the cancellation may come before the task waits, while it waits, or
/// after it got the slot.
///
/// 1. The task looks under the lock whether it is cancelled, and only then waits: an earlier cancellation is seen here.
/// 2. A later cancellation finds the waiter under the same lock, and takes it out of the line.
/// 3. After that it finds no waiter. The task has its slot, and gives it back when its work notices the cancellation.
///
/// Safe for concurrent use.
package final class SlotQueue: Sendable {
    /// Why there is no slot.
    package enum Refusal: Error, Equatable {
        case cancelled
        /// The host's circuit breaker is open for this time.
        case hostFails(pause: Duration)
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Refusal?, Never>
        let priority: @Sendable () -> Int
    }

    private struct State {
        var slots: Slots
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
    }

    private let now: @Sendable () -> Duration
    private let state: Lock<State>

    /// - Parameters:
    ///   - perHost: the most slots of one host.
    ///   - total: the most slots in all.
    ///   - breaker: the circuit breaker of the hosts.
    ///   - now: the time on a monotonic clock.
    package init(
        perHost: Int, total: Int, breaker: HostCircuitBreaker, now: @escaping @Sendable () -> Duration
    ) {
        self.now = now
        state = Lock(State(slots: Slots(perHost: perHost, total: total, breaker: breaker)))
    }

    /// The number of new work, larger than all before.
    package func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Waits for a slot.
    /// - Parameters:
    ///   - number: the number of the work, which orders equal priorities.
    ///   - overrides: whether the work may run while the host's circuit breaker is open.
    ///   - priority: reads the present priority. Called under the lock, so that no change is lost between the reading and
    ///     the waiting.
    package func enter(
        _ number: Int, host: String, overrides: Bool = false, priority: @escaping @Sendable () -> Int
    ) async throws(Refusal) -> Slot {
        let refusal = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state in
                    if Task.isCancelled { return [(continuation, .cancelled)] }
                    state.waiters[number] = Waiter(continuation: continuation, priority: priority)
                    state.slots.enter(number, host: host, priority: priority(), overrides: overrides)
                    return []
                }
            }
        } onCancel: {
            change { state in
                guard state.slots.cancel(number), let waiter = state.waiters.removeValue(forKey: number)
                else {
                    return []
                }
                return [(waiter.continuation, .cancelled)]
            }
        }
        if let refusal { throw refusal }
        return Slot(queue: self, number: number)
    }

    /// Reads the priority of waiting work anew.
    package func reorder(_ number: Int) {
        change { state in
            if let priority = state.waiters[number]?.priority() { state.slots.reorder(number, priority) }
            return []
        }
    }

    /// Takes a slot away from work that does not end in time. Does nothing if the number has none.
    package func revoke(_ number: Int) { leave(number, .inconclusive) }

    fileprivate func leave(_ number: Int, _ report: HostReport) {
        let now = now()
        change { state in
            state.slots.leave(number, report, now: now)
            return []
        }
    }

    /// Changes the state, and resumes the waiters that have a slot or get none, with the lock released.
    private func change(_ body: (inout State) -> [(CheckedContinuation<Refusal?, Never>, Refusal?)]) {
        let now = now()
        let resumed = state.withLock { state in
            var resumed = body(&state)
            while let (number, admission) = state.slots.next(now: now) {
                guard let waiter = state.waiters.removeValue(forKey: number) else { continue }
                switch admission {
                case .admitted: resumed.append((waiter.continuation, nil))
                case .refused(let until):
                    resumed.append((waiter.continuation, .hostFails(pause: until - now)))
                }
            }
            return resumed
        }
        for (continuation, refusal) in resumed { continuation.resume(returning: refusal) }
    }
}

/// The right to run, until it is left. It cannot be copied, so that the compiler shows where work has none.
package struct Slot: ~Copyable {
    fileprivate let queue: SlotQueue
    fileprivate let number: Int

    /// Gives the slot back. Does nothing if it was revoked.
    package consuming func leave(_ report: HostReport) { queue.leave(number, report) }
}
