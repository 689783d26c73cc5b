import Glibc
import HTTPSemantics
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// A request for `/block` blocks the epoll thread, so that the server sees no event meanwhile.
private struct BlockingHandler: HTTPHandler {
    let entered = Tally()
    let gate = Gate()

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        if head.target == "/block" {
            entered.add()
            gate.wait()
        }
        return .answer(.plain(.ok))
    }
}

extension OverSockets {
    @Suite("drains and stops", .bounded)
    struct Drain {
        private let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

        @Test("a draining server accepts and serves, and every answer closes its connection")
        func drain() throws {
            let running = try RunningServer()
            let old = try running.client()
            #expect(try old.get("/a").fields["connection"] == nil)
            running.server.drain()
            let new = try running.client()
            for client in [old, new] {
                #expect(try client.get("/a").fields["connection"] == "close")
                #expect(client.isEnded())
            }
        }

        @Test("requests that have arrived are all answered before their connection is drained")
        func pipelined() throws {
            let running = try RunningServer()
            running.server.drain()
            let client = try running.client()
            client.send(request + request + request)
            let answers = try (0..<3).map { _ in try client.answer() }
            #expect(answers.map(\.status) == [200, 200, 200])
            #expect(answers.map { $0.fields["connection"] } == [nil, nil, "close"])
            #expect(client.isEnded() && !client.wasReset)
        }

        @Test(
            "a stop answers the requests of connections that are not yet accepted", arguments: [true, false])
        func backlog(drains: Bool) throws {
            let server = try HTTPServer(configuration: HTTPServer.Configuration(), handler: EchoHandler())
            let port = try #require(server.ports[0])
            let clients = try (0..<50).map { _ in try RawClient(port: port) }
            for client in clients { client.send(request) }
            try server.start()
            if drains { server.drain() }
            server.stop(grace: .seconds(60))
            for client in clients { #expect(try client.answer().status == 200) }
            #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
        }

        @Test(
            "an idle connection whose request arrives at the moment of the stop is answered",
            arguments: [true, false])
        func idle(drains: Bool) async throws {
            let handler = BlockingHandler()
            let running = try RunningServer(handler) {
                $0.eventThreads = 1
                $0.stopGrace = .seconds(60)
            }
            let idle = try running.client()
            #expect(try idle.get("/a").status == 200)
            let other = try running.client()
            other.send("GET /block HTTP/1.1\r\nHost: x\r\n\r\n")
            try await handler.entered.wait(for: 1)
            idle.send(request)
            if drains { running.server.drain() }
            let stopped = Tally()
            try BlockingThreads.startThread { [server = running.server] in
                server.stop()
                stopped.add()
            }
            try await eventually { running.server.context.stopTime != nil }
            handler.gate.open()
            for client in [idle, other] {
                let answer = try client.answer()
                #expect(answer.status == 200 && answer.fields["connection"] == "close")
                #expect(client.isEnded() && !client.wasReset)
            }
            try await stopped.wait(for: 1)
        }

        @Test("a stop after a drain ends silent connections too, without a reset")
        func silent() throws {
            let running = try RunningServer { $0.stopGrace = .seconds(600) }
            running.server.drain()
            let clients = try (0..<20).map { _ in try running.client() }
            // The answer shows that the last connection is accepted.
            #expect(try clients[19].get("/a").status == 200)
            running.server.stop()
            for client in clients { #expect(client.isEnded() && !client.wasReset) }
            #expect(running.server.statistics.connectionsNow == 0)
        }

        @Test("no request fails while the server drains and stops under load")
        func load() async throws {
            // On a busy machine a client's request may be late.
            let running = try RunningServer {
                $0.stopGrace = .seconds(60)
                $0.lastCall = .seconds(60)
            }
            let port = running.port
            let answered = Tally()
            let ended = Tally()
            let failures = Shared<[String]>([])
            let count = 16
            let gate = ReadyGate()
            for _ in 0..<count {
                try BlockingThreads.startThread {
                    do {
                        while let client = try gate.connect(port) {
                            while true {
                                let answer = try client.get("/a")
                                guard answer.status == 200 else { throw Refused(status: answer.status) }
                                answered.add()
                                if answer.fields["connection"] == "close" { break }
                            }
                        }
                    } catch {
                        failures.change { $0.append("\(error)") }
                    }
                    ended.add()
                }
            }
            try await answered.wait(for: 2000)
            try await gate.close()
            running.server.drain()
            running.server.stop()
            try await ended.wait(for: count)
            #expect(failures.value.isEmpty)
            #expect(answered.count >= 2000)
        }
    }
}

private struct Refused: Error {
    let status: Int
}

/// The load balancer's view of `/health/ready`: closed, it makes no new connection, and none is being made.
private final class ReadyGate: Sendable {
    private let connecting = Lock(0)
    private let isOpen = Shared(true)

    func connect(_ port: UInt16) throws -> RawClient? {
        connecting.withLock { $0 += 1 }
        defer { connecting.withLock { $0 -= 1 } }
        return isOpen.value ? try RawClient(port: port) : nil
    }

    func close() async throws {
        isOpen.change { $0 = false }
        try await eventually { connecting.withLock { $0 == 0 } }
    }
}
