import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

private struct CachingHandler: HTTPHandler {
    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        var response = HTTPResponse.plain(.ok)
        if head.target == "/hit" { response.fields["Cache-Status"] = "marquee; hit" }
        if head.target == "/film" { (response.route, response.writer) = (.film, "laptop") }
        if head.target.hasPrefix("/lines") {
            response.fields["Location"] = "a\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\u{0}\u{7F}b"
            response.fields["X-Name\r\nX-Evil"] = "1"
            response.fields["Content-Type"] = "a\tb"
            if head.target == "/lines/prepared" { response.prepare() }
        }
        response.fields["Handled-Id"] = head.id
        return .answer(response)
    }
}

extension OverSockets {
    @Suite("reports answers", .bounded)
    struct AnswerTests {
        private final class Running {
            let answers = Shared<[HTTPServer.Answer]>([])
            let count = Tally()
            let server: HTTPServer
            let client: RawClient

            init() throws {
                server = try HTTPServer(
                    configuration: HTTPServer.Configuration(), handler: CachingHandler(),
                    report: { [answers, count] answer in
                        answers.change { $0.append(answer) }
                        count.add()
                    })
                try server.start()
                client = try RawClient(port: try #require(server.ports[0]))
            }

            deinit { server.stop() }
        }

        @Test("with the peer, the client behind a proxy, and the cache status")
        func members() async throws {
            let running = try Running()
            _ = try running.client.get("/hit", "X-Forwarded-For: a, b", "x-forwarded-for: c")
            _ = try running.client.get("/other")
            try await running.count.wait(for: 2)
            let answers = running.answers.value
            #expect(answers.map(\.target) == ["/hit", "/other"])
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers.map(\.cacheStatus) == ["marquee; hit", nil])
            #expect(answers.map(\.forwardedFor) == [["a, b", "c"], []])
            #expect(answers.allSatisfy { $0.peer == Peer(address: "127.0.0.1", isLocal: true) })
        }

        @Test(
            "a handler's field never becomes two: its control characters are spaces",
            arguments: ["/lines", "/lines/prepared"])
        func lineEnds(target: String) throws {
            let running = try Running()
            let answer = try running.client.get(target)
            #expect(answer.fields["location"] == "a  X-Evil: 1    HTTP/1.1 200 OK      b")
            #expect(answer.fields["x-evil"] == nil && answer.fields.keys.allSatisfy { $0.isToken })
            #expect(answer.fields["content-type"] == "a\tb" && answer.text == "200 OK\n")
            #expect(try running.client.get("/hit").status == 200)
        }

        @Test("with the route and the writer, which are not sent, and counts by route")
        func route() async throws {
            let running = try Running()
            let film = try running.client.get("/film")
            _ = try running.client.get("/film")
            _ = try running.client.get("/other")
            #expect(!film.fields.values.contains { $0.contains("laptop") })
            #expect(running.server.statistics.answers == [.film: [200: 2], .other: [200: 1]])
            #expect(running.server.statistics.requests == 3)
            try await running.count.wait(for: 3)
            #expect(running.answers.value.map(\.route) == [.film, .film, .other])
            #expect(running.answers.value.map(\.writer) == ["laptop", "laptop", nil])
        }

        @Test("with an id of each request, which its handler and its client get too")
        func ids() async throws {
            let running = try Running()
            var ids: [String] = []
            for _ in 0..<20 {
                let answer = try running.client.get("/a")
                let id = try #require(answer.fields["x-request-id"])
                #expect(id.utf8.count == 15 && id.utf8.allSatisfy { $0.hexadecimalValue != nil })
                #expect(answer.fields["handled-id"] == id)
                ids.append(id)
            }
            #expect(Set(ids).count == 20 && Set(ids.map { $0.prefix(6) }).count == 1)
            try await running.count.wait(for: 20)
            #expect(running.answers.value.map(\.id) == ids)
        }

        @Test("with the id of the client, if it can stand in a log")
        func ownIDs() throws {
            let running = try Running()
            let client = running.client
            let longest = String(repeating: "x", count: 128)
            for id in ["a", "7b0c9f7e-1f5e-4c2b-9d6a-0f3c2b1a4d5e", "<!#$%&()*+,-./:;=?@[]^_`{|}~>", longest]
            {
                #expect(try client.get("/a", "x-request-id: \(id)").fields["x-request-id"] == id)
            }
            for id in ["", "a b", "a\"b", "a'b", "a\\b", "caf\u{e9}", longest + "x", "a\tb"] {
                let given = try #require(try client.get("/a", "X-Request-Id: \(id)").fields["x-request-id"])
                #expect(given != id && given.utf8.count == 15)
            }
            let twice = try client.get("/a", "X-Request-Id: a", "X-Request-Id: b").fields["x-request-id"]
            #expect(twice?.utf8.count == 15)
            client.send("nonsense\r\n\r\n")
            #expect(try client.answer().fields["x-request-id"] == nil)
        }
    }
}
