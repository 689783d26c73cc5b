import Coalescing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("FlightTable", .bounded)
struct FlightTableTests {
    private let table = FlightTable<String, Int, Failure, TestEvent>()
    private let work = HeldWork()

    private func join(_ key: String, since ends: Int? = nil, priority: Int = 0) -> TestFlight.Caller {
        table.join(key, priority: priority, since: ends, cancelled: { .left }) { [work] flight, mustLook in
            await work.run(flight, mustLook)
        }
    }

    @Test("the callers of a key share one flight, and its work runs once")
    func sharing() async throws {
        let callers = (0..<10_000).map { _ in join("a") }
        let other = join("b")
        #expect(table.running.count == 2 && table["a"] === callers[0].flight)
        try await work.begun(2)
        work.end(callers[0].flight, with: 7)
        for caller in callers { #expect(try await caller.value == 7) }
        work.end(other.flight, with: 8)
        #expect(try await other.value == 8)
        try await eventually { table["a"] == nil && table["b"] == nil }
        #expect(work.count == 2)
    }

    @Test("only the caller that began a flight is its first, also after it has left")
    func first() async throws {
        let callers = (0..<3).map { _ in join("a") }
        callers[0].leave()
        #expect(callers.map(\.isFirst) == [true, false, false] && !join("a").isFirst)
        try await work.begun(1)
        work.end(callers[1].flight, with: 1)
        #expect(try await callers[1].value == 1)
    }

    @Test("the listener of a flight without events hears only the end")
    func withoutEvents() async throws {
        let plain = FlightTable<String, Int, Failure, Never>()
        let heard = Tally()
        let caller = plain.join("a", priority: 0, cancelled: { .left }) { _, _ async throws(Failure) in 7 }
        caller.listen(FlightListener { _ in heard.add() })
        try await heard.wait(for: 1)
        #expect(caller.outcome == .success(7) && heard.count == 1)
    }

    @Test("work looks again if any flight has ended since its caller looked, and not otherwise")
    func looks() async throws {
        let before = table.ends
        let first = join("a", since: before)
        try await work.begun(1)
        work.end(first.flight, with: 1)
        _ = try await first.value
        let second = join("a", since: before)
        let third = join("b", since: table.ends)
        let unwilling = join("c")
        try await work.begun(4)
        #expect(work.looks(first.flight) == false && work.looks(second.flight) == true)
        #expect(work.looks(third.flight) == false && work.looks(unwilling.flight) == false)
        for caller in [second, third, unwilling] { work.end(caller.flight, with: 2) }
    }

    @Test("an abandoned flight is not joined, and its late end does not end or unlist its successor")
    func abandoned() async throws {
        let before = table.ends
        let first = join("a")
        try await work.begun(1)
        first.leave()
        #expect(table["a"] == nil && first.flight.isCurrent, "what has arrived may be kept")
        let second = join("a", since: before)
        #expect(second.flight !== first.flight && !first.flight.isCurrent)
        try await work.begun(2)
        #expect(work.looks(second.flight) == true)
        work.end(first.flight, with: 1)
        try await eventually { table.ends == before + 2 }
        #expect(table["a"] === second.flight && second.outcome == nil)
        work.end(second.flight, with: 2)
        #expect(try await second.value == 2)
    }

    @Test("after a removal the old flight goes on for its callers, must store nothing, and is not joined")
    func invalidation() async throws {
        let before = table.removals
        let (first, other) = (join("a"), join("b"))
        try await work.begun(2)
        table.invalidate(["a"]) { $0 == "a" }
        #expect(table.removals.outdate("a", since: before) && !before.outdate("a", since: before))
        #expect(!table.removals.outdate("a", since: table.removals))
        #expect(!first.flight.isCurrent && other.flight.isCurrent && !first.flight.isOver)
        let second = join("a")
        #expect(second.flight !== first.flight && second.flight.isCurrent)
        try await work.begun(3)
        work.end(first.flight, with: 1)
        #expect(try await first.value == 1)
        #expect(table["a"] === second.flight)
        for caller in [second, other] { work.end(caller.flight, with: 2) }
    }

    @Test("work that a removal has outdated begins a flight that nobody joins, or joins a newer one")
    func outdated() async throws {
        func joinOutdated() -> TestFlight.Caller {
            table.join("a", priority: 0, unless: { _ in true }, cancelled: { .left }) {
                [work] flight, mustLook in
                await work.run(flight, mustLook)
            }
        }
        let first = joinOutdated()
        #expect(!first.flight.isCurrent && table["a"] == nil)
        let newer = join("a")
        #expect(newer.flight !== first.flight && newer.flight.isCurrent)
        #expect(joinOutdated().flight === newer.flight && newer.flight.isCurrent)
        try await work.begun(2)
        work.end(first.flight, with: 1)
        #expect(try await first.value == 1)
        #expect(table["a"] === newer.flight)
        work.end(newer.flight, with: 2)
        #expect(try await newer.value == 2)
    }

    @Test("callers that join, leave and finish at once all get an answer")
    func stress() async throws {
        let quick = FlightTable<Int, Int, Failure, TestEvent>()
        let (answers, wrong) = (Tally(), Shared<[String]>([]))
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let caller = quick.join(round % 3, priority: round % 5, cancelled: { .left }) {
                            _, _ async throws(Failure) in round
                        }
                        let leaves = (round + thread) % 4 == 0
                        if leaves { caller.leave() }
                        do throws(Failure) {
                            let value = try await caller.value
                            // Each flight of a key ends with a number of its callers.
                            if value % 3 != round % 3 { wrong.change { $0.append("\(round): \(value)") } }
                        } catch {
                            if !leaves || error != .left { wrong.change { $0.append("\(round): \(error)") } }
                        }
                        answers.add()
                    }
                }
            }
        }
        #expect(answers.count == 8 * 200 && wrong.value.isEmpty, "\(wrong.value.prefix(5))")
        try await eventually { quick.running.isEmpty }
    }
}

/// Work that ends when the test says so.
private final class HeldWork: Sendable {
    private struct Run {
        let mustLook: Bool
        var continuation: CheckedContinuation<Int, Never>?
    }

    private let runs = Lock<[ObjectIdentifier: Run]>([:])
    private let begun = Tally()

    var count: Int { begun.count }

    func run(_ flight: TestFlight, _ mustLook: Bool) async -> Int {
        await withCheckedContinuation { continuation in
            runs.withLock {
                $0[ObjectIdentifier(flight)] = Run(mustLook: mustLook, continuation: continuation)
            }
            begun.add()
        }
    }

    func begun(_ count: Int) async throws { try await begun.wait(for: count) }

    func looks(_ flight: TestFlight) -> Bool? { runs.withLock { $0[ObjectIdentifier(flight)]?.mustLook } }

    func end(_ flight: TestFlight, with value: Int) {
        runs.withLock { $0[ObjectIdentifier(flight)]?.continuation.take() }?.resume(returning: value)
    }
}
