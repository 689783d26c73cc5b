import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// Keeps its pending answers.
private final class LateHandler: HTTPHandler {
    let owed = Lock<[PendingAnswer]>([])
    let asked = Tally()
    let abandoned = Tally()

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        .later { [self] pending in
            pending.whenAbandoned { [abandoned] in abandoned.add() }
            owed.withLock { $0.append(pending) }
            asked.add()
        }
    }

    func answerAll(_ response: HTTPResponse) {
        for pending in owed.withLock({ $0 }) { pending.send(response) }
    }
}

extension OverSockets {
    @Suite("PendingAnswer", .bounded)
    struct PendingAnswerTests {
        private let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

        @Test("an answer may be sent later, from any thread, and no thread waits for it")
        func later() async throws {
            let handler = LateHandler()
            let running = try RunningServer(handler) { $0.blockingThreads = 1 }
            let clients = try (0..<20).map { _ in try running.client() }
            for client in clients { client.send(request) }
            try await handler.asked.wait(for: 20)
            handler.answerAll(HTTPResponse(status: .ok, body: .bytes([7])))
            for client in clients { #expect(try client.answer().body == [7]) }
            // Only the first answer counts, and the connection stays open.
            handler.answerAll(.plain(.forbidden))
            clients[0].send(request)
            try await handler.asked.wait(for: 21)
            handler.answerAll(HTTPResponse(status: .ok, body: .bytes([8])))
            #expect(try clients[0].answer().body == [8])
            #expect(handler.abandoned.count == 0)
        }

        @Test("a client's departure is reported once, and its answer is dropped")
        func abandoned() async throws {
            let handler = LateHandler()
            let running = try RunningServer(handler)
            do {
                let client = try running.client()
                client.send(request)
                try await handler.asked.wait(for: 1)
            }
            try await handler.abandoned.wait(for: 1)
            handler.answerAll(.plain(.ok))
            let late = try #require(handler.owed.withLock { $0.first })
            let told = Tally()
            late.whenAbandoned { told.add() }
            #expect(told.count == 1)
            #expect(handler.abandoned.count == 1)
        }

        @Test("a request whose answer is dropped is answered 500, and its connection stays open")
        func dropped() async throws {
            let handler = LateHandler()
            let running = try RunningServer(handler)
            let client = try running.client()
            for count in 1...2 {
                client.send(request)
                try await handler.asked.wait(for: count)
                handler.owed.withLock { $0 = [] }
                #expect(try client.answer().status == 500)
            }
            #expect(handler.abandoned.count == 0)
        }

        @Test("a client that goes before its dropped answer ends its connection")
        func droppedAndGone() async throws {
            let handler = LateHandler()
            let running = try RunningServer(handler)
            do {
                let client = try running.client()
                client.send(request)
                try await handler.asked.wait(for: 1)
                handler.owed.withLock { $0 = [] }
            }
            try await eventually { running.server.statistics.connectionsNow == 0 }
        }

        @Test("a stop waits for an answer no longer than its grace period")
        func stop() async throws {
            let handler = LateHandler()
            let running = try RunningServer(handler) { $0.stopGrace = .milliseconds(20) }
            let client = try running.client()
            client.send(request)
            try await handler.asked.wait(for: 1)
            running.server.stop()
            #expect(client.isEnded())
            #expect(handler.abandoned.count == 1)
        }
    }
}
