import CatalogueService
import Glibc
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    @Suite("withstands faulty clients", .bounded)
    struct Faults {
        @Test(
            "a refused head is answered, and the connection ends",
            arguments: [
                ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nbad\r\n\r\n", 400),
                ("GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
                ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\nbody", 501),
                ("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\nbody", 405),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
                (
                    "GET / HTTP/1.1\r\nHost: localhost\r\nlong: " + String(repeating: "x", count: 17_000)
                        + "\r\n\r\n", 431
                ),
                ("GET /" + String(repeating: "x", count: 40_000), 431),
                ("GET /" + String(repeating: "x", count: 9000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\n\r\n", 417),
                ("GET / HTTP/1.1\nHost: localhost\n\n", 400), ("GET / HTTP/1.0\r\n\n", 400),
                ("\nGET / HTTP/1.0\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: localhost\n", 400),
            ])
        func refused(request: String, status: Int) throws {
            let running = try RunningService()
            let client = try running.client()
            client.send(request)
            let answer = try client.answer()
            #expect(answer.status == status)
            #expect(answer.fields["connection"] == "close")
            #expect(client.isEnded())
            #expect(!client.wasReset)
            #expect(running.service.statistics.byStatus == [status: 1])
        }

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

        @Test("a body that does not arrive is answered 408")
        func missingBody() throws {
            let running = try RunningService { $0.server.bodyTimeout = .milliseconds(40) }
            let client = try running.client()
            client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf")
            #expect(try client.answer().status == 408)
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
            #expect(try running.client().get("/").status == 200)
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

        @Test("one connection above the limit is refused with an answer, and the others continue")
        func tooMany() throws {
            let running = try RunningService { $0.server.maximumConnections = 2 }
            let first = try running.client()
            let second = try running.client()
            #expect(try first.get("/movies.json").status == 200)
            #expect(try second.get("/movies.json").status == 200)
            let (third, answer) = try running.answered("/movies.json")
            #expect(answer.status == 503)
            #expect(answer.fields["connection"] == "close")
            #expect(third.isEnded())
            #expect(try first.get("/movies.json").status == 200)
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

        @Test("random bytes never end the service")
        func noise() throws {
            let running = try RunningService { $0.server.headerTimeout = .milliseconds(200) }
            let good = Array(
                "GET /posters/a.jpg HTTP/1.1\r\nHost: localhost\r\nRange: bytes=1-5\r\nContent-Length: 2\r\n\r\nab"
                    .utf8)
            var state: UInt64 = 42
            func random(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % bound
            }
            for round in 0..<200 {
                var bytes = good
                if round.isMultiple(of: 2) {
                    for _ in 0...random(4) { bytes[random(bytes.count)] = UInt8(random(256)) }
                } else {
                    bytes = (0..<random(300)).map { _ in UInt8(random(256)) }
                }
                let client = try running.client()
                client.send(bytes)
                client.finishSending()
                _ = client.readToEnd()
            }
            #expect(try running.client().get("/posters/a.jpg").text == "0123456789")
        }
    }
}
