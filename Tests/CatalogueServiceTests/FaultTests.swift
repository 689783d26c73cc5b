import CatalogueService
import Glibc
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    @Suite("withstands faulty clients", .bounded)
    struct Faults {
        @Test("a head that takes too long is answered 408")
        func slowHead() throws {
            let running = try RunningService { $0.server.headerTimeout = .milliseconds(40) }
            let client = try running.client()
            client.send("GET / HTTP/1.1\r\nHo")
            #expect(try client.answer().status == 408)
            #expect(client.isEnded())
        }

        @Test("a silent connection is closed without an answer")
        func idle() throws {
            let running = try RunningService { $0.server.idleTimeout = .milliseconds(40) }
            #expect(try running.client().isEnded())
            #expect(running.service.statistics.requests == 0)
        }

        @Test("a used connection that falls silent is closed without an answer")
        func idleAfterUse() throws {
            let running = try RunningService { $0.server.idleTimeout = .milliseconds(500) }
            let (used, answer) = try running.answered("/movies.json")
            #expect(answer.status == 200)
            #expect(used.isEnded())
            #expect(running.service.statistics.requests == 1)
        }

        @Test("empty lines do not keep a connection alive")
        func emptyLines() throws {
            let running = try RunningService { $0.server.idleTimeout = .milliseconds(40) }
            let client = try running.client()
            for _ in 0..<20 { client.send("\r\n") }
            #expect(client.isEnded())
        }

        @Test("the connection of a client that does not read its answer is closed")
        func stuckClient() async throws {
            let running = try RunningService(["large.png": ""]) { $0.server.writeTimeout = .milliseconds(40) }
            #expect(unsafe truncate(running.folder.file("large.png"), 256 << 20) == 0)
            let client = try running.client()
            client.send("GET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await eventually { running.service.statistics.connectionsInAll == 1 }
            try await eventually { running.service.statistics.connectionsNow == 0 }
            #expect(try running.client().get("/").status == 404)
            #expect(client.readToEnd().count < 256 << 20)
        }

        @Test("a client that leaves during its answer does no harm")
        func reset() throws {
            let running = try RunningService(["large.png": "", "a.png": "a"])
            #expect(unsafe truncate(running.folder.file("large.png"), 64 << 20) == 0)
            for _ in 0..<20 {
                let client = try running.client()
                client.send(
                    "GET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\nGET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\n"
                )
                client.reset()
            }
            #expect(try running.client().get("/a.png").text == "a")
        }

        @Test("connections far above the limit are closed without an answer")
        func farTooMany() async throws {
            let running = try RunningService { $0.server.maximumConnections = 1 }
            let clients = try (0..<80).map { _ in try running.client() }
            // One is served, 64 are being refused, and the rest are closed.
            #expect(try #require(clients.last).isEnded())
            // Each loop accepts on its own: another connection may still be in the queue.
            try await eventually { running.service.statistics.connectionsInAll == 80 }
            #expect(running.service.statistics.connectionsNow <= 65)
        }

        @Test("every connection above the limit is refused with an answer, however many came before")
        func tooManyInTurn() throws {
            let running = try RunningService { $0.server.maximumConnections = 1 }
            let first = try running.client()
            #expect(try first.get("/movies.json").status == 200)
            for _ in 0..<70 {
                let (client, answer) = try running.answered("/movies.json")
                #expect(answer.status == 503)
                #expect(client.isEnded())
            }
            #expect(try first.get("/movies.json").status == 200)
        }

        @Test("a freed connection slot is used again")
        func placeIsFreed() throws {
            let running = try RunningService { $0.server.maximumConnections = 1 }
            for _ in 0..<10 {
                let client = try running.client()
                let answer = try client.get("/movies.json", "Connection: close")
                #expect([200, 503].contains(answer.status))
                _ = client.readToEnd()
            }
            #expect(running.service.statistics.byStatus[200, default: 0] > 0)
        }
    }
}
