import SystemSupport

/// Limits the work of making pictures: the sources in progress, the sources decoded at once, and the memory for that. A
/// request that joins a source in progress takes no place.
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

        /// The waiters that may begin, in their order. A large waiter holds up smaller ones behind it; otherwise it
        /// would never get its turn.
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

    /// The most bytes for decoding.
    package let memory: Int
    private let places: Int
    private let workers: Int
    private let state: Lock<State>

    /// - Parameters:
    /// - workers: the number of sources decoded at once.
    /// - queue: the number of other sources that are fetched or wait to be decoded.
    /// - memory: the most bytes for decoding.
    package init(workers: Int, queue: Int, memory: Int) {
        self.memory = memory
        self.workers = workers
        places = workers + queue
        state = Lock(State(places: workers + queue, workers: workers, memory: memory))
    }

    /// Whether there is no place for another source now.
    var isFull: Bool { state.withLock { $0.places == 0 } }

    /// Takes a place for a source; false if there is none.
    func enter() -> Bool {
        state.withLock { state in
            guard state.places > 0 else { return false }
            state.places -= 1
            return true
        }
    }

    /// Gives a place back.
    func leave() { state.withLock { $0.places += 1 } }

    /// Waits for a worker and memory.
    /// - Parameter bytes: at most `memory`.
    /// - Returns: false if the task was cancelled meanwhile; then it holds neither.
    func acquire(_ bytes: Int) async -> Bool {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let begun = state.withLock { state in
                    // Checked under the lock: a cancellation either came before and is seen here, or finds the waiter.
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

    /// Takes more memory for a worker, without waiting. Two workers that each hold a part could wait for each other for
    /// ever.
    /// - Returns: false if there is not enough memory.
    func extend(by bytes: Int) -> Bool {
        state.withLock { state in
            guard bytes <= state.memory else { return false }
            state.memory -= bytes
            return true
        }
    }

    /// Gives back a worker and its memory.
    func release(_ bytes: Int) {
        let begun = state.withLock { state in
            state.workers += 1
            state.memory += bytes
            return state.begin()
        }
        for waiter in begun { waiter.continuation.resume(returning: true) }
    }

    /// The present usage.
    package struct Usage: Hashable, Sendable {
        /// Sources in progress, waiting ones included.
        package let sources: Int
        /// The sources among them that wait to be decoded.
        package let waiting: Int
        /// Sources that are being decoded.
        package let workers: Int
        /// The bytes that decoding takes.
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
