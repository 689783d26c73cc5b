import Coalescing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Deadlines", .bounded)
struct DeadlinesTests {
    /// A clock that the test advances.
    private final class Clock: Sendable {
        private typealias Sleeper = (wake: Duration, continuation: CheckedContinuation<Void, Never>)
        private let state = Lock((now: Duration.zero, sleepers: [Sleeper]()))
        /// The pauses of the watching task.
        let pauses = Lock<[Duration]>([])
        let sleeps = Tally()

        var now: Duration { state.withLock { $0.now } }

        func sleep(_ pause: Duration) async {
            await withCheckedContinuation { continuation in
                state.withLock { $0.sleepers.append(($0.now + pause, continuation)) }
                pauses.withLock { $0.append(pause) }
                sleeps.add()
            }
        }

        func advance(by time: Duration) {
            let woken = state.withLock { state in
                state.now += time
                let now = state.now
                defer { state.sleepers.removeAll { $0.wake <= now } }
                return state.sleepers.filter { $0.wake <= now }
            }
            for sleeper in woken { sleeper.continuation.resume() }
        }
    }

    private let clock = Clock()
    private let deadlines: Deadlines
    private let log = Shared<[String]>([])

    init() {
        deadlines = Deadlines(now: { [clock] in clock.now }, sleep: { [clock] in await clock.sleep($0) })
    }

    private func add(_ name: String, after time: Duration) -> Int {
        deadlines.add(after: time) { [log] in log.change { $0.append(name) } }
    }

    @Test("what is due is called once, in order; the rest stays, and one task sleeps for all")
    func due() async throws {
        for (name, time) in [("a", 5), ("b", 5), ("c", 8)] { _ = add(name, after: .seconds(time)) }
        try await clock.sleeps.wait(for: 1)
        clock.advance(by: .seconds(5))
        try await clock.sleeps.wait(for: 2)
        #expect(log.value == ["a", "b"])
        #expect(clock.pauses.withLock { $0 } == [.seconds(5), .seconds(3)])
        clock.advance(by: .seconds(3))
        try await eventually { log.value == ["a", "b", "c"] }
    }

    @Test("deadlines that pass one soon after the other are called together")
    func together() async throws {
        for (name, time) in [("a", 5000), ("b", 5001), ("c", 5009)] {
            _ = add(name, after: .milliseconds(time))
        }
        try await clock.sleeps.wait(for: 1)
        clock.advance(by: .seconds(5))
        try await clock.sleeps.wait(for: 2)
        #expect(log.value == ["a"])
        clock.advance(by: .milliseconds(10))
        try await eventually { log.value == ["a", "b", "c"] }
        #expect(clock.pauses.withLock { $0 } == [.seconds(5), .milliseconds(10)])
    }

    @Test("a removed deadline is not called, and a later one is watched anew")
    func removed() async throws {
        let first = add("a", after: .seconds(5))
        try await clock.sleeps.wait(for: 1)
        deadlines.remove(first)
        let second = add("b", after: .seconds(6))
        clock.advance(by: .seconds(5))
        try await clock.sleeps.wait(for: 2)
        #expect(log.value.isEmpty)
        clock.advance(by: .seconds(1))
        try await eventually { log.value == ["b"] }
        deadlines.remove(second)
        _ = add("c", after: .seconds(1))
        try await clock.sleeps.wait(for: 3)
        clock.advance(by: .seconds(1))
        try await eventually { log.value == ["b", "c"] }
    }
    @Test("a deadline before the next one is called in time, and both tasks do not watch the rest")
    func earlier() async throws {
        _ = add("late", after: .seconds(60))
        _ = add("early", after: .seconds(2))
        try await clock.sleeps.wait(for: 2)
        clock.advance(by: .seconds(2))
        try await eventually { log.value == ["early"] }
        try await clock.sleeps.wait(for: 3)
        _ = add("last", after: .seconds(90))
        clock.advance(by: .seconds(58))
        try await eventually { log.value == ["early", "late"] }
        try await clock.sleeps.wait(for: 4)
        clock.advance(by: .seconds(32))
        try await eventually { log.value == ["early", "late", "last"] }
        #expect(clock.sleeps.count == 4)
    }
}
