import SystemSupport

/// Lets decodes run while their memory together is within a limit, in the order in which they asked. A decode that needs
/// more than the limit runs alone: `DecodingLimits` refuses what may not run at all.
package final class DecodeBudget: Sendable {
    private struct State {
        var free: Int
        var waiting: [(need: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let limit: Int
    private let state: Lock<State>

    /// - Parameter limit: in bytes.
    package init(limit: Int) {
        self.limit = limit
        state = Lock(State(free: limit))
    }

    /// Runs a decode, once there is room for it.
    /// - Parameter memory: the bytes that it needs at most.
    package func run<Value, Failure: Error>(
        needing memory: Int, _ decode: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let need = min(memory, limit)
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                guard state.waiting.isEmpty, need <= state.free else {
                    state.waiting.append((need, continuation))
                    return false
                }
                state.free -= need
                return true
            }
            if mayRun { continuation.resume() }
        }
        defer { giveBack(need) }
        return try await decode()
    }

    private func giveBack(_ need: Int) {
        let next = state.withLock { state in
            state.free += need
            var next: [CheckedContinuation<Void, Never>] = []
            while let first = state.waiting.first, first.need <= state.free {
                state.free -= first.need
                next.append(state.waiting.removeFirst().continuation)
            }
            return next
        }
        for continuation in next { continuation.resume() }
    }
}
