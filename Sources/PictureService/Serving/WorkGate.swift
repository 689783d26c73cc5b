import SystemSupport

/// Bounds the work of making pictures: how many sources are under way, how many are decoded at once, and how much memory that
/// takes. Who joins a source that is under way takes no place.
package final class WorkGate: Sendable {
    private struct Waiter {
        let number: Int
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var places: Int
        var workers: Int
        var memory: Int
        var waiting: [Waiter] = []
        var number = 0

        /// Those of the waiting that may begin, in their order. A large one that has to wait holds up the smaller ones behind
        /// it: it would never have its turn otherwise.
        mutating func begin() -> [Waiter] {
            var begun: [Waiter] = []
            while let first = waiting.first, workers > 0, first.bytes <= memory {
                workers -= 1
                memory -= first.bytes
                begun.append(waiting.removeFirst())
            }
            return begun
        }
    }

    /// The most bytes that decoding may take.
    package let memory: Int
    private let places: Int
    private let workers: Int
    private let state: Lock<State>

    /// - Parameters:
    ///   - workers: sources decoded at once.
    ///   - queue: sources that are fetched, or wait to be decoded, beside those.
    ///   - memory: bytes that decoding may take.
    package init(workers: Int, queue: Int, memory: Int) {
        self.memory = memory
        self.workers = workers
        places = workers + queue
        state = Lock(State(places: workers + queue, workers: workers, memory: memory))
    }

    /// Whether there is no place for another source at this moment.
    var isFull: Bool { state.withLock { $0.places == 0 } }

    /// Takes a place for a source; false where there is none.
    func enter() -> Bool {
        state.withLock { state in
            guard state.places > 0 else { return false }
            state.places -= 1
            return true
        }
    }

    /// Gives the place back.
    func leave() { state.withLock { $0.places += 1 } }

    /// Waits for a worker and memory.
    /// - Parameter bytes: at most `memory`.
    /// - Returns: false for a task that was cancelled meanwhile, which has neither.
    func acquire(_ bytes: Int) async -> Bool {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let begun = state.withLock { state in
                    // Under the lock: a cancellation comes before, and is seen here, or finds the waiter.
                    if Task.isCancelled { return [Waiter]?.none }
                    state.waiting.append(Waiter(number: number, bytes: bytes, continuation: continuation))
                    return state.begin()
                }
                guard let begun else { return continuation.resume(returning: false) }
                for waiter in begun { waiter.continuation.resume(returning: true) }
            }
        } onCancel: {
            let (left, begun) = state.withLock { state -> (Waiter?, [Waiter]) in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return (nil, [])
                }
                let left = state.waiting.remove(at: index)
                return (left, state.begin())
            }
            left?.continuation.resume(returning: false)
            for waiter in begun { waiter.continuation.resume(returning: true) }
        }
    }

    /// Takes more memory for a worker, without waiting: two that held a part each could wait for each other.
    /// - Returns: false where there is not so much.
    func extend(by bytes: Int) -> Bool {
        state.withLock { state in
            guard bytes <= state.memory else { return false }
            state.memory -= bytes
            return true
        }
    }

    /// Gives a worker and its memory back.
    func release(_ bytes: Int) {
        let begun = state.withLock { state in
            state.workers += 1
            state.memory += bytes
            return state.begin()
        }
        for waiter in begun { waiter.continuation.resume(returning: true) }
    }

    /// What is taken at this moment.
    package struct Usage: Hashable, Sendable {
        /// Sources under way, those that wait included.
        package let sources: Int
        /// Of them, those that wait to be decoded.
        package let waiting: Int
        /// Sources that are being decoded.
        package let workers: Int
        /// Bytes that this takes.
        package let memory: Int
    }

    package var usage: Usage {
        state.withLock { state in
            Usage(
                sources: places - state.places, waiting: state.waiting.count,
                workers: workers - state.workers, memory: memory - state.memory)
        }
    }
}
