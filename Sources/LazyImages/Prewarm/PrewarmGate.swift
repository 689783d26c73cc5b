import SystemSupport

/// Where the images of a prewarmer wait while it is paused.
final class PrewarmGate: Sendable {
    private enum Phase { case open, shut, stopped }

    private struct State {
        var phase = Phase.open
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Lock(State())

    /// Lets nobody pass from now on.
    func shut() { state.withLock { if $0.phase == .open { $0.phase = .shut } } }

    /// Lets waiting and later images pass.
    func open() { leave(.open) }

    /// Turns everybody away, for good.
    func stop() { leave(.stopped) }

    /// Waits while the gate is shut. False: what waits is not to begin, because of a stop or because its task is cancelled.
    func pass() async -> Bool {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // A cancellation before this line is seen here. One after it finds the waiter, since it needs the lock.
                    if Task.isCancelled { return false }
                    switch state.phase {
                    case .open: return true
                    case .stopped: return false
                    case .shut:
                        state.waiters[number] = continuation
                        return nil
                    }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    private func leave(_ phase: Phase) {
        let waiters = state.withLock { state in
            guard state.phase != .stopped else { return [CheckedContinuation<Bool, Never>]() }
            state.phase = phase
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: phase == .open) }
    }
}
