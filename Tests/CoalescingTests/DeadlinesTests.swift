import Coalescing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Deadlines", .bounded)
struct DeadlinesTests {
    /// A clock that the test advances.
    private final class Clock: Sendable {
        private let state = Lock((now: Duration.zero, sleeper: CheckedContinuation<Void, Never>?.none))
        /// The pauses of the watching task.
        let pauses = Lock<[Duration]>([])
        let sleeps = Tally()

        var now: Duration { state.withLock { $0.now } }

        func sleep(_ pause: Duration) async {
            await withCheckedContinuation { continuation in
                state.withLock { $0.sleeper = continuation }
                pauses.withLock { $0.append(pause) }
                sleeps.add()
            }
        }

        func advance(by time: Duration) {
            let sleeper = state.withLock { state in
                state.now += time
                return state.sleeper.take()
            }
            sleeper?.resume()
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
}
