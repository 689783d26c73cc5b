import LazyImages
import SystemSupport

/// The clock of a gate, which the test advances. A sleep ends when its time has come.
final class GateClock: Sendable {
    private struct Sleeper {
        let end: Duration
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Duration.zero
        var sleepers: [Sleeper] = []
    }

    private let state = Lock(State())

    var timing: RetryTiming {
        RetryTiming(
            now: { self.state.withLock { $0.now } }, sleep: { await self.sleep($0) }, random: { 0.5 })
    }

    /// The number of tasks that sleep.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.end <= state.now }
            state.sleepers.removeAll { $0.end <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    private func sleep(_ pause: Duration) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard pause > .zero else { return true }
                state.sleepers.append(Sleeper(end: state.now + pause, continuation: continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
