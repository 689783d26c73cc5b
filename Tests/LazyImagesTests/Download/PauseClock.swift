import SystemSupport

import LazyImages

/// A manual clock for pauses: it records each pause and advances by it, without waiting.
final class PauseClock: Sendable {
    private let state = Lock((now: Duration.zero, all: [Duration]()))

    var now: Duration { state.withLock { $0.now } }
    var all: [Duration] { state.withLock { $0.all } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    var timing: RetryTiming {
        RetryTiming(
            now: { self.now },
            sleep: { pause in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.all.append(pause)
                    state.now += pause
                }
                await Task.yield()
            }, random: { 0.5 })
    }
}
