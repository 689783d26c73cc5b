import HTTPSemantics
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

private struct CachingHandler: HTTPHandler {
    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        var response = HTTPResponse.plain(.ok)
        if head.target == "/hit" { response.fields["Cache-Status"] = "marquee; hit" }
        return .answer(response)
    }

    func respond(to request: HTTPRequest) -> HTTPResponse { .plain(.internalServerError) }
}

extension OverSockets {
    @Suite("reports answers", .bounded)
    struct AnswerTests {
        @Test("with the peer, the client behind a proxy, and the cache status")
        func members() async throws {
            let told = Shared<[HTTPServer.Answer]>([])
            let count = Tally()
            let server = try HTTPServer(
                configuration: HTTPServer.Configuration(), handler: CachingHandler(),
                report: { answer in
                    told.change { $0.append(answer) }
                    count.add()
                })
            try server.start()
            let client = try RawClient(port: try #require(server.ports[0]))
            _ = try client.get("/hit", "X-Forwarded-For: a, b", "x-forwarded-for: c")
            _ = try client.get("/other")
            try await count.wait(for: 2)
            server.stop()
            let answers = told.value
            #expect(answers.map(\.target) == ["/hit", "/other"])
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers.map(\.cacheStatus) == ["marquee; hit", nil])
            #expect(answers.map(\.forwardedFor) == [["a, b", "c"], []])
            #expect(answers.allSatisfy { $0.peer == Peer(address: "127.0.0.1", isLocal: true) })
        }
    }
}
