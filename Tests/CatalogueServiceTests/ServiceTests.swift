import CatalogueService
import FoundationEssentials
import LazyImages
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
        @Test("a file is sent whole, and the connection stays open")
        func keepAlive() throws {
            let running = try RunningService()
            let client = try running.client()
            for _ in 0..<3 {
                let answer = try client.get("/posters/a.jpg")
                #expect(answer.status == 200)
                #expect(answer.text == "0123456789")
                #expect(answer.fields["content-type"] == "image/jpeg")
                #expect(answer.fields["connection"] == nil)
            }
            #expect(running.service.statistics.requests == 3)
            #expect(running.service.statistics.byStatus == [200: 3])
            #expect(running.service.statistics.connectionsInAll == 1)
            #expect(running.service.statistics.connectionsNow == 1)
        }

        @Test("HEAD gets the head of GET and no body")
        func head() throws {
            let running = try RunningService()
            let client = try running.client()
            client.send("HEAD /posters/a.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try client.answer(hasBody: false).fields["content-length"] == "10")
            // The bytes of a body would be at the start of the next answer.
            #expect(try client.get("/posters/a.jpg").text == "0123456789")
        }

        @Test("pipelined requests are answered in order")
        func pipelining() throws {
            let running = try RunningService(["1.png": "one", "2.png": "two"])
            let client = try running.client()
            let request = { (number: Int) in "GET /\(number).png HTTP/1.1\r\nHost: localhost\r\n\r\n" }
            client.send(request(1) + request(2) + request(3) + request(1))
            let statuses = try (0..<4).map { _ in try client.answer().status }
            #expect(statuses == [200, 200, 404, 200])
        }

        @Test("a request that arrives byte by byte is understood")
        func trickle() throws {
            let running = try RunningService()
            let client = try running.client()
            for byte in "GET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8 { client.send([byte]) }
            #expect(try client.answer().text == "[]")
        }

        @Test("a range is 206, an unchanged file 304, and a range past the end 416")
        func conditions() throws {
            let running = try RunningService()
            let client = try running.client()
            let whole = try client.get("/posters/a.jpg")
            let tag = try #require(whole.fields["etag"])
            let part = try client.get("/posters/a.jpg", "Range: bytes=2-4", "If-Range: \(tag)")
            #expect(part.status == 206)
            #expect(part.text == "234")
            #expect(part.fields["content-range"] == "bytes 2-4/10")
            #expect(try client.get("/posters/a.jpg", "If-None-Match: \(tag)").status == 304)
            let modified = try #require(whole.fields["last-modified"])
            #expect(try client.get("/posters/a.jpg", "If-Modified-Since: \(modified)").status == 304)
            #expect(
                try client.get("/posters/a.jpg", "Range: bytes=10-").fields["content-range"] == "bytes */10")
            #expect(try client.get("/posters/a.jpg").status == 200)
        }

        @Test("a rewritten file has another entity tag")
        func changed() throws {
            let running = try RunningService()
            let client = try running.client()
            let tag = try #require(try client.get("/posters/a.jpg").fields["etag"])
            try Data("9876543210".utf8).write(to: URL(filePath: running.folder.file("posters/a.jpg")))
            let answer = try client.get("/posters/a.jpg", "If-None-Match: \(tag)")
            #expect(answer.status == 200)
            #expect(answer.text == "9876543210")
        }

        @Test("large files and empty files are sent whole")
        func sizes() throws {
            let large = String(repeating: "abcdefgh", count: 1 << 19)
            let running = try RunningService(["large.png": large, "empty.png": ""])
            let connection = try running.client()
            #expect(try connection.get("/large.png").text == large)
            #expect(try connection.get("/empty.png").body == [])
            #expect(try connection.get("/large.png", "Range: bytes=-9").text == "habcdefgh")
        }

        @Test("without a default catalogue the folder's root lists the catalogues and manifests")
        func index() throws {
            let running = try RunningService([
                "a.json": "[]", "b.xml": "<catalogue/>", "list.txt": "# posters\nposters/a.jpg\n",
                ".secret.json": "[]", "a.jpg": "", "package.json": #"{"name": "x"}"#, "pom.xml": "<project/>",
                "tokens.txt": "lDM0bXBsZQ/a+x==\n", "settings.txt": "[section]",
            ])
            let answer = try running.client().get("/")
            #expect(answer.text == "A film catalogue.\na.json\nb.xml\nlist.txt\n")
            #expect(answer.fields["content-type"] == "text/plain; charset=utf-8")
            #expect(running.service.catalogueName == nil)
        }

        @Test("the folder's root is the default catalogue")
        func catalogue() throws {
            for (files, name) in [
                (["movies.xml": "x", "movies.json": "[1]", "manifest.json": "m"], "movies.json"),
                (["movies.xml": "<x/>", "list.txt": "l"], "movies.xml"),
                (["films.json": "[{}]"], "films.json"),
            ] {
                let running = try RunningService(files)
                #expect(running.service.catalogueName == name)
                let client = try running.client()
                let answer = try client.get("/")
                #expect(answer.text == files[name])
                #expect(answer.fields["content-type"] == (try client.get("/" + name).fields["content-type"]))
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

        @Test("an HTTP/1.0 connection is closed after its answer, unless it asks for keep-alive")
        func version0() throws {
            let running = try RunningService()
            let client = try running.client()
            client.send("GET /movies.json HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try client.answer().fields["connection"] == "keep-alive")
            client.send("GET /movies.json HTTP/1.0\r\n\r\n")
            #expect(try client.answer().fields["connection"] == "close")
            #expect(client.isEnded())
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
