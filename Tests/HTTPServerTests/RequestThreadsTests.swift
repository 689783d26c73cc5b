import HTTPSemantics
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// Handles each request on a thread that may block. A target that begins with `/held` waits for the gate.
private final class HeldHandler: HTTPHandler {
    let gate = Gate()
    /// The held requests that have begun.
    let held = Tally()
    let handled = Shared<[String]>([])

    func admit(_ head: RequestHead, from peer: Peer) -> Admission { .handle(bodyLimit: 1 << 10) }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.head.target.hasPrefix("/held") {
            held.add()
            gate.wait()
        }
        handled.change { $0.append("\(request.head.method) \(request.head.target)") }
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
