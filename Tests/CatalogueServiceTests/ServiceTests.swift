import CatalogueService
import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

/// All suites with sockets.
@Suite("CatalogueService", .bounded, .ownThread)
enum OverSockets {}

extension OverSockets {
    @Suite("serves", .bounded)
    struct Serving {
        @Test("large files and empty files are sent whole")
        func sizes() throws {
            let large = String(repeating: "abcdefgh", count: 1 << 19)
            let running = try RunningService(["large.png": large, "empty.png": ""])
            let connection = try running.client()
            #expect(try connection.get("/large.png").text == large)
            #expect(try connection.get("/empty.png").body == [])
            #expect(try connection.get("/large.png", "Range: bytes=-9").text == "habcdefgh")
        }

        @Test("the catalogue of a folder is movies.json, or its only catalogue")
        func catalogue() throws {
            for (files, name) in [
                (["movies.xml": "x", "movies.json": "[1]"], "movies.json"),
                (["films.json": "[]"], "films.json"),
            ] {
                let running = try RunningService(files)
                // It is looked up in the folder, which lives as long as `running`.
                withExtendedLifetime(running) { #expect(running.service.catalogueName == name) }
            }
        }

        @Test("every answer is reported, with its request and its number of bytes")
        func report() throws {
            let folder = try TemporaryFolder()
            try Data("0123456789".utf8).write(to: URL(filePath: folder.file("a.png")))
            let answers = Lock<[String]>([])
            let service = try CatalogueService(.folder(path: folder.path)) { answer in
                let text = "\(answer.method) \(answer.target) \(answer.status) \(answer.bytes)"
                answers.withLock { $0.append(text) }
            }
            try service.start()
            do {
                let client = try RawClient(port: service.port, owner: folder)
                _ = try client.get("/a.png")
                _ = try client.get("/a.png", "Range: bytes=0-3")
                _ = try client.get("/none")
            }
            service.stop()
            #expect(
                answers.withLock { $0 } == [
                    "GET /a.png 200 10", "GET /a.png 206 4", "GET /none 404 14",
                ])
        }

        @Test("Connection: close ends the connection after the answer, and later requests are not answered")
        func close() throws {
            let running = try RunningService()
            let client = try running.client()
            let request = "GET /movies.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            client.send(request + request)
            #expect(try client.answer().fields["connection"] == "close")
            #expect(client.isEnded())
            #expect(running.service.statistics.requests == 1)
        }

        @Test("other methods are not allowed, and a small body is read")
        func methods() throws {
            let running = try RunningService()
            let client = try running.client()
            client.send(
                "POST /movies.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n\r\nGET / HTTP")
            let answer = try client.answer()
            #expect(answer.status == 405)
            #expect(answer.fields["allow"] == "GET, HEAD")
            client.send("DELETE /movies.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
            client.send("\r\nGET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try client.answer().status == 405)
            #expect(try client.answer().status == 200)
        }

        @Test("a client that waits for 100 Continue with an unwanted body gets the final answer")
        func expectContinue() throws {
            let running = try RunningService()
            let client = try running.client()
            client.send(
                "GET /movies.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try client.answer().text == "[]")
            #expect(client.isEnded())
        }
    }
}
