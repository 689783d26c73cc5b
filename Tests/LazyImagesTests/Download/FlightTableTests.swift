import TestSupport
import Testing

@testable import LazyImages

@Suite("FlightTable", .timeLimit(.minutes(30)))
struct FlightTableTests {
    private typealias Table = FlightTable<String, Int>

    @Test("the first caller starts a flight, those who follow share it")
    func sharing() async throws {
        try await withCallers([.normal, .normal, .normal]) { callers in
            var table = Table()
            let first = number(table.join("a", callers[0]))
            #expect(first.isFirst)
            let second = number(table.join("a", callers[1]))
            #expect(!second.isFirst && second.flight === first.flight)
            let other = number(table.join("b", callers[2]))
            #expect(other.isFirst && other.flight !== first.flight)
            #expect(table.count == 2)
        }
    }

    @Test(
        "those who wait are answered first come, first served, whatever the order of joining a dictionary gives"
    )
    func order() async throws {
        try await withCallers([ImageRequest.Priority](repeating: .normal, count: 40)) { callers in
            var table = Table()
            let flight = callers.map { number(table.join("a", $0)).flight }[0]
            let answered = table.finish("a", flight).map(\.ticket)
            #expect(answered == callers.map(\.ticket).sorted())
            #expect(table.count == 0)
            #expect(table.flight(of: callers[0].ticket) == nil)
        }
    }

    @Test("a flight has the highest priority among its callers, as they come, change and go")
    func priority() async throws {
        try await withCallers([.low, .veryHigh, .normal]) { callers in
            var table = Table()
            _ = table.join("a", callers[0])
            #expect(table.priority(ofFlight: "a") == .low)
            _ = table.join("a", callers[1])
            _ = table.join("a", callers[2])
            #expect(table.priority(ofFlight: "a") == .veryHigh)
            table.setPriority(.veryLow, of: callers[1].ticket)
            #expect(table.priority(ofFlight: "a") == .normal)
            _ = table.leave(callers[2].ticket)
            #expect(table.priority(ofFlight: "a") == .low)
            table.setPriority(.high, of: callers[0].ticket)
            #expect(table.priority(ofFlight: "a") == .high)
            _ = table.leave(callers[0].ticket)
            #expect(table.priority(ofFlight: "a") == .veryLow)
            _ = table.leave(callers[1].ticket)
            #expect(table.priority(ofFlight: "a") == nil)
        }
    }

    @Test("only the last to leave ends the flight, and nobody leaves twice")
    func leaving() async throws {
        try await withCallers([.normal, .normal]) { callers in
            var table = Table()
            let flight = number(table.join("a", callers[0])).flight
            _ = table.join("a", callers[1])
            #expect(table.leave(callers[0].ticket)?.isLast == false)
            #expect(table.leave(callers[0].ticket) == nil)
            #expect(table.isUnderWay("a", flight))
            #expect(table.leave(callers[1].ticket)?.isLast == true)
            #expect(!table.isUnderWay("a", flight))
            #expect(table.finish("a", flight).isEmpty)
        }
    }

    @Test("a flight that was abandoned does not answer the callers of the one that followed it")
    func identity() async throws {
        try await withCallers([.normal, .normal]) { callers in
            var table = Table()
            let abandoned = number(table.join("a", callers[0])).flight
            _ = table.leave(callers[0].ticket)
            let next = number(table.join("a", callers[1])).flight
            #expect(table.finish("a", abandoned).isEmpty)
            #expect(table.finish("a", next).map(\.ticket) == [callers[1].ticket])
        }
    }

    @Test("the last to leave is handed the task to cancel; one that comes too late is cancelled at once")
    func tasks() async throws {
        try await withCallers([.normal]) { callers in
            var table = Table()
            let flight = number(table.join("a", callers[0])).flight
            let task = Task<Void, Never> {}
            table.setTask(task, of: "a", flight)
            #expect(table.leave(callers[0].ticket)?.task == task)
            let late = Task<Void, Never> {}
            table.setTask(late, of: "a", flight)
            #expect(late.isCancelled)
        }
    }

    private func number(_ arrival: Table.Arrival) -> (isFirst: Bool, flight: Flight) {
        switch arrival {
        case .first(let flight): (true, flight)
        case .shares(let flight): (false, flight)
        }
    }

    /// Callers of these priorities, in some order of their tickets; they are all resumed afterwards.
    private func withCallers(
        _ priorities: [ImageRequest.Priority], _ body: ([Table.Caller]) -> Void
    ) async throws {
        let callers = Shared<[Int: Table.Caller]>([:])
        let arrived = Tally()
        for (index, priority) in priorities.enumerated() {
            Task<Void, Never> {
                _ = await withCheckedContinuation { continuation in
                    let caller = Table.Caller(
                        ticket: LoadTicket(), priority: priority, progress: nil, continuation: continuation)
                    callers.change { $0[index] = caller }
                    arrived.add()
                }
            }
        }
        try await arrived.reaches(priorities.count)
        let arrivals = callers.value
        let all = priorities.indices.compactMap { arrivals[$0] }
        body(all)
        for caller in all { caller.resume(.failure(.cancelled(url: ""))) }
    }
}
