import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("marquee fetch as an HTTP cache", .bounded)
struct FetchIncludeTests {
    @Test("--include prints the status line, the header with the age, and the body")
    func include() async throws {
        let origin = try ScriptedOrigin(
            .answering(Array("text\n".utf8), fields: "Cache-Control: max-age=86400\r\nAge: 7\r\nX: y\r\n"))
        let fixture = try Fixture()
        for number in 0..<2 {
            let run = try await fixture.run(
                "fetch", "--include", "--any-content", origin.url("/a").absoluteString)
            #expect(run.status == 0)
            let parts = run.text.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts.count == 2 && parts.last == "text\n")
            let lines = parts[0].components(separatedBy: "\r\n")
            #expect(lines[0] == "HTTP/1.1 200 OK" && lines.contains("X: y"))
            let age = lines.first { $0.hasPrefix("Age: ") }.flatMap { Int($0.dropFirst(5)) } ?? -1
            #expect(age >= 7 && lines.filter { $0.hasPrefix("Age") }.count == 1)
            #expect((number == 0) || lines.contains { $0.hasPrefix("Date: ") })
        }
        #expect(origin.requests.count == 1)
    }

    @Test("--include shows any status, and the cache's 504 to only-if-cached")
    func statuses() async throws {
        let origin = try ScriptedOrigin(.answering(Array("gone".utf8), status: "410 Gone", fields: ""))
        let fixture = try Fixture()
        let gone = try await fixture.run(
            "fetch", "--include", "--any-content", origin.url("/a").absoluteString)
        #expect(
            gone.status == 0 && gone.text.hasPrefix("HTTP/1.1 410 Gone\r\n") && gone.text.hasSuffix("gone"))
        let never = try await fixture.run(
            "fetch", "--include", origin.url("/b").absoluteString, "--header", "Cache-Control: only-if-cached"
        )
        #expect(never.status == 2 && never.text == "HTTP/1.1 504 Gateway Timeout\r\n\r\n")
        #expect(origin.requests.count == 1)
    }

    @Test("outcomes tell revalidated, stale and resumed files apart")
    func outcomes() async throws {
        let fields = "Content-Type: image/png\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\n"
        // Each run has its own connection. The third run and its retries are cut off.
        let origin = try ScriptedOrigin { connection in
            switch connection {
            case 0: .answering([UInt8](Fixture.pixel), fields: fields)
            case 1: [.readHead, .send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")]
            default: [.reset]
            }
        }
        let fixture = try Fixture()
        let url = origin.url().absoluteString
        for expected in ["network", "revalidated", "stale"] {
            #expect(try await outcome(fixture, url) == expected)
        }
        #expect(origin.heads.count == 2 && origin.heads[1].contains("If-None-Match: \"1\""))
    }

    @Test("a broken transfer is resumed, in the same run and in the next")
    func resumed() async throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let origin = try ScriptedOrigin { connection in
            if connection == 0 {
                let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100000\r\n\r\n"
                return [.readHead, .send(head), .sendBytes(Array(body[..<30_000]))]
            }
            let head =
                "HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nContent-Range: bytes 30000-99999/100000\r\n"
                + "Content-Length: 70000\r\n\r\n"
            return [.readHead, .send(head), .sendBytes(Array(body[30_000...])), .awaitClose]
        }
        let fixture = try Fixture()
        let out = fixture.home.file("out")
        let run = try await fixture.run(
            "fetch", origin.url("/a.bin").absoluteString, "--any-content", "--json", "-o", out)
        #expect(try JSON.lines(run).first?["outcome"] as? String == "resumed")
        #expect(try Data(contentsOf: URL(filePath: out + "/a.bin")) == Data(body))
        #expect(origin.heads.last?.contains("Range: bytes=30000-") == true)
        #expect(origin.heads.last?.contains("If-Range: \"1\"") == true)
    }

    @Test("clearing the cache removes partial files")
    func clear() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100000\r\n\r\n"),
            .sendBytes([UInt8](repeating: 1, count: 30_000)),
        ])
        let fixture = try Fixture()
        _ = try await fixture.run("fetch", origin.url("/a.bin").absoluteString, "--any-content")
        let parts = fixture.home.file("marquee/partial")
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts).count == 2)
        _ = try await fixture.run("cache", "clear", "--yes")
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts).isEmpty)
    }

    private func outcome(_ fixture: Fixture, _ url: String) async throws -> String? {
        try JSON.lines(try await fixture.run("fetch", url, "--json")).first?["outcome"] as? String
    }
}
