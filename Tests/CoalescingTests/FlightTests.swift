import Coalescing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Flight", .bounded)
struct FlightTests {
    private let flight = TestFlight { .left }

    @Test("a flight has the highest priority of its present callers")
    func priority() throws {
        let first = flight.firstCaller(1)
        #expect(flight.priority == 1)
        let second = try #require(flight.join(4))
        let third = try #require(flight.join(2))
        #expect(flight.priority == 4)
        second.setPriority { 0 }
        #expect(flight.priority == 2 && second.priority == 0)
        third.leave()
        #expect(flight.priority == 1 && third.priority == nil)
        first.setPriority { 3 }
        #expect(flight.priority == 3)
    }

    @Test("the observer reads each change of the highest priority, and nothing else")
    func observer() throws {
        let seen = Lock<[Int]>([])
        let first = flight.firstCaller(1)
        flight.observe { [flight] in
            let priority = flight.priority
            seen.withLock { $0.append(priority) }
        }
        let second = try #require(flight.join(0))
        second.setPriority { 1 }
        let third = try #require(flight.join(3))
        third.leave()
        first.setPriority { 2 }
        #expect(seen.withLock { $0 } == [3, 1, 2])
    }

    @Test(
        "four times the callers of a flight take about four times as long to leave, in any order, with listeners or without"
    )
    func manyCallers() throws {
        for hasListeners in [true, false] {
            let growth = ProcessorTime.growth(from: 2_000) { count in
                let flight = TestFlight { .left }
                let last = flight.firstCaller(0)
                let callers = (0..<count).compactMap { number in
                    let caller = flight.join(number % 3)
                    if hasListeners { caller?.listen(TestFlight.Listener { _ in }) }
                    return caller
                }
                let demands = Lock(0)
                flight.observe { [weak flight] in
                    if flight?.isDemanded == true { demands.withLock { $0 += 1 } }
                }
                for caller in callers.prefix(count / 2) { caller.leave() }
                for caller in callers.suffix(count / 2).reversed() { caller.leave() }
                #expect(flight.callerCount == 1 && demands.withLock { $0 } == 0)
                last.leave()
            }
            #expect(growth < 10, "listeners: \(hasListeners)")
        }
    }

    @Test("every caller gets the outcome, whenever and as often as it asks")
    func finishing() async throws {
        let (first, second) = (flight.firstCaller(0), try #require(flight.join(0)))
        async let early = first.value
        try await eventually { flight.callerCount == 2 }
        #expect(first.outcome == nil)
        flight.finish(.success(7))
        flight.finish(.success(8))
        #expect(try await early == 7)
        for caller in [first, second] {
            #expect(try await caller.value == 7)
            caller.leave()
            #expect(caller.outcome == .success(7))
        }
        #expect(flight.join(0) == nil && flight.isOver && flight.callerCount == 0)
    }

    @Test("a caller that leaves does not affect the others, and the last one cancels the work")
    func leaving() async throws {
        let cancelled = Tally()
        let (first, second) = (flight.firstCaller(0), try #require(flight.join(0)))
        flight.run { () async throws(Failure) in
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    Task {
                        try? await cancelled.wait(for: 1)
                        continuation.resume()
                    }
                }
            } onCancel: {
                cancelled.add()
            }
            return 7
        }
        first.leave()
        first.leave()
        #expect(first.outcome == .failure(.left))
        #expect(!flight.isOver && cancelled.count == 0)
        second.leave()
        #expect(flight.isOver)
        try await cancelled.wait(for: 1)
        flight.finish(.success(8))
        await #expect(throws: Failure.left) { try await second.value }
    }

    @Test("a cancelled task makes its caller leave at once")
    func cancelledTask() async throws {
        let (first, second) = (flight.firstCaller(0), try #require(flight.join(0)))
        let waiting = Task { try await first.value }
        waiting.cancel()
        await #expect(throws: Failure.left) { try await waiting.value }
        #expect(!flight.isOver && second.outcome == nil)
    }

    @Test("work that begins after the last caller left is cancelled")
    func abandonedBefore() async throws {
        flight.firstCaller(0).leave()
        let wasCancelled = Tally()
        flight.run(isImmediate: true) { () async throws(Failure) in
            while !Task.isCancelled { await Task.yield() }
            wasCancelled.add()
            return 7
        }
        try await wasCancelled.wait(for: 1)
    }

    @Test("every listener hears each event once and in order; a late one hears the recent ones first")
    func listening() throws {
        let (leaver, stayer, late) = (Log(), Log(), Log())
        let first = flight.firstCaller(0)
        first.listen(leaver.listener)
        let second = try #require(flight.join(0, listener: stayer.listener))
        flight.emit(.passing(0))
        flight.emit(.lasting(1))
        first.leave()
        flight.emit(.lasting(2))
        second.listen(late.listener)
        flight.emit(.passing(3))
        flight.finish(.success(7))
        flight.emit(.lasting(4))
        #expect(leaver.heard == [.passing(0), .lasting(1), nil])
        #expect(stayer.heard == [.passing(0), .lasting(1), .lasting(2), .passing(3), nil])
        #expect(late.heard == [.lasting(2), .passing(3), nil])
        let after = Log()
        second.listen(after.listener)
        #expect(after.heard == [nil])
    }

    @Test("an event that happens while a listener hears another is heard after it")
    func reentrance() throws {
        let log = Log()
        let caller = flight.firstCaller(0)
        flight.emit(.lasting(1))
        caller.listen(
            TestFlight.Listener { [flight] event in
                if event == .lasting(1) { flight.emit(.lasting(2)) }
                log.hear(event)
            })
        #expect(log.heard == [.lasting(1), .lasting(2)])
    }

    @Test("a caller gets the outcome only after its listener has heard all events")
    func outcomeAfterEvents() async throws {
        let (log, reached, gate) = (Log(), Tally(), Gate())
        let caller = flight.firstCaller(0)
        caller.listen(
            TestFlight.Listener { event in
                if event == .passing(1) {
                    reached.add()
                    gate.wait()
                }
                log.hear(event)
            })
        let threads = BlockingThreads(count: 1)
        try threads.enqueue { [flight] in flight.emit(.passing(1)) }
        try await reached.wait(for: 1)
        let waiting = Task {
            _ = try await caller.value
            return log.heard
        }
        flight.emit(.passing(2))
        flight.finish(.success(7))
        let late = Task {
            _ = try await caller.value
            return log.heard
        }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        for task in [waiting, late] { #expect(try await task.value == [.passing(1), .passing(2), nil]) }
    }

    @Test("events of many threads reach every listener in one order")
    func order() async throws {
        let logs = [Log(), Log()]
        let caller = flight.firstCaller(0)
        for log in logs { caller.listen(log.listener) }
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask { [flight] in
                    for number in 0..<500 { flight.emit(.passing(thread * 1000 + number)) }
                }
            }
        }
        flight.finish(.success(7))
        try await eventually { logs.allSatisfy { $0.heard.last == .some(nil) } }
        #expect(logs[0].heard == logs[1].heard && logs[0].heard.count == 2001)
        for thread in 0..<4 {
            let own = logs[0].heard.compactMap { event -> Int? in
                if case .passing(let number) = event, number / 1000 == thread { number } else { nil }
            }
            #expect(own == own.sorted() && own.count == 500)
        }
    }

    @Test("one demanding listener counts as demand, and its removal ends it")
    func demand() throws {
        let changes = Tally()
        let caller = flight.firstCaller(0)
        flight.observe { changes.add() }
        let log = Log()
        caller.demand { TestFlight.Listener(isDemanding: true, log.hear) }
        caller.demand { TestFlight.Listener(isDemanding: true, log.hear) }
        flight.emit(.passing(1))
        #expect(log.heard == [.passing(1)] && flight.isDemanded)
        caller.endDemand()
        #expect(!flight.isDemanded && changes.count == 1)
        let reader = caller.stream(.unbounded, isDemanding: true) { $0 }
        #expect(flight.isDemanded && changes.count == 2)
        withExtendedLifetime(reader) {}
    }

    @Test("a finished flight keeps its callers, without what listens and observes")
    func releasing() async throws {
        final class Heard: Sendable {}
        weak var heard: Heard?
        let caller = flight.firstCaller(0)
        do {
            let strong = Heard()
            heard = strong
            caller.listen(TestFlight.Listener { _ in withExtendedLifetime(strong) {} })
            flight.observe { withExtendedLifetime(strong) {} }
        }
        #expect(heard != nil)
        flight.finish(.success(7))
        #expect(heard == nil)
        #expect(caller.outcome == .success(7))
    }
}

typealias TestFlight = Flight<Int, Failure, TestEvent>

enum Failure: Error { case left, broken }

enum TestEvent: FlightEvent, Equatable {
    case lasting(Int)
    case passing(Int)

    func record(in recent: inout [TestEvent]) { if case .lasting = self { recent = [self] } }
}

/// Records what a listener hears.
private final class Log: Sendable {
    private let events = Lock<[TestEvent?]>([])
    var heard: [TestEvent?] { events.withLock { $0 } }
    var listener: TestFlight.Listener { TestFlight.Listener(hear) }
    @Sendable func hear(_ event: TestEvent?) { events.withLock { $0.append(event) } }
}
