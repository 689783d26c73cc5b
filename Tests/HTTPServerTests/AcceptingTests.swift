import Glibc
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// Answers at once, and records the requests. A request for `/hold/0` or `/hold/1` holds its event loop until the gate
/// of that number opens.
private final class TurnHandler: HTTPHandler {
    struct Turn: Sendable {
        let thread: UInt
        let target: String
    }

    let turns = Shared<[Turn]>([])
    let held = Tally()
    let gates = [Gate(), Gate()]

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        turns.change { $0.append(Turn(thread: UInt(pthread_self()), target: head.target)) }
        if head.target.hasPrefix("/hold/"), let gate = head.target.last?.wholeNumberValue {
            held.add()
            gates[gate].wait()
        }
        return .answer(HTTPResponse(status: .ok))
    }

    func openAll() {
        for gate in gates { gate.open() }
    }
}

extension OverSockets {
    @Suite("accepts connections beside busy ones", .bounded)
    struct Accepting {
        private func request(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n" }

        @Test("connections that wait are accepted together, not one for each round of the busy ones")
        func together() async throws {
            let handler = TurnHandler()
            let running = try RunningServer(handler) { $0.eventThreads = 1 }
            defer { handler.openAll() }
            let busy = try (0..<4).map { _ in try running.client() }
            for client in busy { #expect(try client.get("/busy").status == 200) }
            let holding = try running.client()
            holding.send(request("/hold/0"))
            try await handler.held.wait(for: 1)
            for client in busy { client.send(String(repeating: request("/busy"), count: 200)) }
            let new = try (0..<32).map { _ in try running.client() }
            for client in new { client.send(request("/new")) }
            handler.openAll()
            for client in new { #expect(try client.answer().status == 200) }
            let turns = handler.turns.value.map(\.target)
            let last = try #require(turns.lastIndex(of: "/new"))
            let before = turns[..<last].count { $0 == "/busy" } - busy.count
            // A round answers each busy connection once.
            #expect(before <= 5 * busy.count)
        }

        @Test("a loop that accepts many at once leaves others to the other loops")
        func shared() async throws {
            let handler = TurnHandler()
            let running = try RunningServer(handler) { $0.eventThreads = 2 }
            defer { handler.openAll() }
            let busy = try running.client()
            #expect(try busy.get("/busy").status == 200)
            let thread = try #require(handler.turns.value.first?.thread)
            var holding: [RawClient] = []
            for number in 0..<2 {
                let client = try running.client()
                client.send(request("/hold/\(number)"))
                holding.append(client)
                // A loop that is held accepts nothing more, so the other one has the next connection.
                try await handler.held.wait(for: number + 1)
            }
            let hold = try #require(
                handler.turns.value.first { $0.thread == thread && $0.target.hasPrefix("/hold/") })
            busy.send(String(repeating: request("/busy"), count: 200))
            let new = try (0..<100).map { _ in try running.client() }
            for client in new { client.send(request("/new")) }
            handler.gates[hold.target == "/hold/0" ? 0 : 1].open()
            for client in new { #expect(try client.answer().status == 200) }
            // The busy connection has one turn in each round.
            let rounds = handler.turns.value.filter { $0.thread == thread }.split { $0.target == "/busy" }
            let first = rounds.prefix(3).joined().count { $0.target == "/new" }
            #expect((8...50).contains(first))
            handler.openAll()
            for client in holding { #expect(try client.answer().status == 200) }
        }
    }
}
