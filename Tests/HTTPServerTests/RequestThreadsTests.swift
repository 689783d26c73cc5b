import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// Handles each request on a thread that may block. A target that begins with `/held` waits for the gate.
private final class HeldHandler: HTTPHandler {
    let gate = Gate()
    /// The requests whose heads have been read.
    let admitted = Tally()
    /// The held requests that have begun.
    let held = Tally()
    let handled = Shared<[String]>([])
    /// The held requests that were given up when the gate opened.
    let givenUp = Shared<[String]>([])

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        admitted.add()
        return .handle(bodyLimit: 1 << 10) { [self] _ in respond(to: head) }
    }

    private func respond(to head: RequestHead) -> HTTPResponse {
        if head.target.hasPrefix("/held") {
            held.add()
            gate.wait()
            if BlockingThreads.isGivenUp { givenUp.change { $0.append(head.method) } }
        }
        handled.change { $0.append("\(head.method) \(head.target)") }
        return .plain(.ok)
    }
}

extension OverSockets {
    @Suite("the threads that handle requests", .bounded)
    struct RequestThreadsTests {
        private static func read(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n" }
        private static func write(_ target: String) -> String {
            "PUT \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na"
        }

        @Test(
            "a read whose client has gone leaves the queue; a write whose body has come is carried out",
            arguments: [true, false])
        func abandoned(isReset: Bool) async throws {
            let handler = HeldHandler()
            let running = try RunningServer(handler) { $0.blockingThreads = 1 }
            let (reader, writer) = (try running.client(), try running.client())
            reader.send(Self.read("/held"))
            try await handler.held.wait(for: 1)
            writer.send(Self.write("/held"))
            do {
                let gone = try (0..<60).map { _ in try running.client() }
                for (number, client) in gone.enumerated() {
                    if isReset || number < 3 { client.reset() }
                    client.send(number < 3 ? Self.write("/w\(number)") : Self.read("/r"))
                }
                // A reset would take what has not been read.
                try await handler.admitted.wait(for: 62)
            }
            try await eventually { running.server.statistics.connectionsNow == 2 }
            handler.gate.open()
            #expect(try reader.answer().status == 200 && writer.answer().status == 200)
            #expect(try reader.get("/last").status == 200)
            #expect(handler.handled.value.filter { $0 == "GET /r" } == [])
            try await eventually { handler.handled.value.filter { $0.hasPrefix("PUT /w") }.count == 3 }
        }

        @Test("a read that runs learns that its client has gone, and a write does not")
        func running() async throws {
            let handler = HeldHandler()
            let running = try RunningServer(handler)
            do {
                let (reader, writer) = (try running.client(), try running.client())
                for client in [reader, writer] { client.reset() }
                reader.send(Self.read("/held"))
                writer.send(Self.write("/held"))
                try await handler.held.wait(for: 2)
            }
            try await eventually { running.server.statistics.connectionsNow == 0 }
            handler.gate.open()
            try await eventually { handler.handled.value.count == 2 }
            #expect(handler.givenUp.value == ["GET"])
        }

        @Test("a read that waits for longer than the queue time is refused, and does not run; a write waits")
        func late() async throws {
            let handler = HeldHandler()
            let running = try RunningServer(handler) {
                $0.blockingThreads = 1
                $0.queueTime = .milliseconds(20)
            }
            let port = running.port
            let heldWriter = try running.client()
            heldWriter.send(Self.write("/held"))
            let status = Shared<Int?>(nil)
            try BlockingThreads.startThread {
                // Ignored: without an answer there is no status below.
                let held = try? RawClient(port: port).getPatiently("/held").status
                status.change { $0 = held }
            }
            try await handler.held.wait(for: 2)
            let (reader, writer) = (try running.client(), try running.client())
            writer.send(Self.write("/w"))
            let answer = try reader.get("/r")
            #expect(answer.status == 503 && answer.fields["retry-after"] != nil)
            handler.gate.open()
            // A read that has begun is answered, however long it takes.
            try await eventually { status.value == 200 }
            #expect(try reader.getPatiently("/again").status == 200)
            #expect(try writer.answer().status == 200)
            #expect(!handler.handled.value.contains("GET /r"))
        }

        @Test("reads do not wait behind writes that hold all of their threads")
        func writes() async throws {
            let handler = HeldHandler()
            let running = try RunningServer(handler) { $0.blockingThreads = 2 }
            let writers = try (0..<5).map { _ in try running.client() }
            for writer in writers { writer.send(Self.write("/held")) }
            try await handler.held.wait(for: 2)
            let reader = try running.client()
            reader.send(Self.read("/a"))
            try await eventually { handler.handled.value == ["GET /a"] }
            #expect(try reader.answer().status == 200)
            handler.gate.open()
            for writer in writers { #expect(try writer.answer().status == 200) }
        }
    }
}
