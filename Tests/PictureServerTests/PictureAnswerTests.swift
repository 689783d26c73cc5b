import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

/// Answers to clients: statuses, conditions, ranges, refusals.
@Suite("PictureServer: answers", .bounded)
struct PictureAnswerTests {
    private func client(isSigning: Bool = false) throws -> PictureClient {
        try PictureClient(isSigning: isSigning, answering: PictureClient.giving(try Samples.jpeg()))
    }

    /// Runs the check on a picture that must be made, and on one that is in memory.
    private func twice(_ check: (PictureClient) async throws -> Void) async throws {
        try await check(try client())
        let warm = try client()
        _ = try await warm.get("w92")
        try await check(warm)
    }

    @Test("a client with the same tag gets a 304, with the required fields and no body")
    func notModified() async throws {
        let tag = try #require(try await client().get("w92")["etag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count == 34)
        try await twice { client in
            for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let answer = try await client.get("w92", ["If-None-Match": value])
                #expect(answer.status == 304 && answer.bytes.isEmpty && answer["etag"] == tag, "\(value)")
                #expect(answer["cache-control"] == "public, max-age=60" && answer["content-type"] == nil)
            }
            #expect(try await client.get("w92", ["If-None-Match": "\"x\""]).status == 200)
            #expect(try await client.get("w154", ["If-None-Match": tag]).status == 200)
            #expect(try await client.get("w92", ["If-Match": "\"x\""]).status == 412)
            #expect(try await client.get("w92", ["If-Match": tag]).status == 200)
        }
    }

    @Test("ranges are served, only of the same picture")
    func ranges() async throws {
        let whole = try await client().get("original")
        let tag = try #require(whole["etag"])
        try await twice { client in
            let part = try await client.get("original", ["Range": "bytes=2-5"])
            #expect(part.status == 206 && part.bytes == Array(whole.bytes[2...5]))
            #expect(part["content-range"] == "bytes 2-5/\(whole.bytes.count)" && part["etag"] == tag)
            #expect(try await client.get("original", ["Range": "bytes=-3"]).bytes == whole.bytes.suffix(3))
            let none = try await client.get("original", ["Range": "bytes=999999-"])
            #expect(none.status == 416 && none["content-range"] == "bytes */\(whole.bytes.count)")
            let same = try await client.get("original", ["Range": "bytes=2-5", "If-Range": tag])
            #expect(same.status == 206)
            let other = try await client.get("original", ["Range": "bytes=2-5", "If-Range": "\"x\""])
            #expect(other.status == 200 && other.bytes == whole.bytes)
            #expect(try await client.get("original", ["Range": "lines=1"]).status == 200)
            #expect(try await client.get("w92")["accept-ranges"] == "bytes")
        }
    }

    @Test("a tag makes a picture immutable only at a signed address: nobody else vouches for it")
    func tags() async throws {
        let client = try client(isSigning: true)
        let signed = try PictureClient.signedPath("w92.v2", "https://\(PictureClient.host)/a")
        // Each is made first, and then found by its target.
        for _ in 1...2 {
            #expect(try await client.get("w92.v2")["cache-control"] == "public, max-age=60")
            let answer = try await client.send(signed)
            #expect(answer["cache-control"] == "public, max-age=31536000, immutable")
        }
    }

    @Test("a recipe whose steps make too many pixels is 400, and the answer blames it and not the source")
    func tooManyPixels() async throws {
        let client = try client(isSigning: true)
        for recipe in ["w92.pad30000.pad30000", "w92.pad65535"] {
            let answer = try await client.send(
                PictureClient.signedPath(recipe, "https://\(PictureClient.host)/a"))
            #expect(answer.status == 400, "\(recipe)")
            #expect(answer.text.contains("the recipe does not fit the picture: padding"), "\(answer.text)")
        }
        #expect(client.count(.decoded) == 0)
        #expect(try await client.get("w92").status == 200)
    }

    @Test("a forbidden picture is refused with its status before any fetch, and is counted")
    func refusals() async throws {
        let client = try client(isSigning: true)
        let own = "https://\(PictureClient.host)/a"
        let good = try PictureClient.signedPath("w93", own)
        let segments = good.split(separator: "/").map(String.init)
        let cases: [(String, Int, String)] = [
            (PictureClient.path("w93"), 403, "size"),
            (PictureClient.path("w0"), 400, "recipe"), (PictureClient.path("w92.e1790000000"), 403, "expiry"),
            (PictureClient.path("w92", "https://evil.example/a"), 403, "source"),
            (PictureClient.path("w92", "file:///etc/passwd"), 403, "scheme"),
            ("/image/-/w92/AA==", 400, "address"), (PictureClient.path("w92") + "?x=1", 400, "address"),
            ("/image/x/\(segments[2])/\(segments[3])", 403, "signature"),
            // A signature for another recipe or source.
            ("/image/\(segments[1])/w94/\(segments[3])", 403, "signature"),
            (
                "/image/\(segments[1])/w93/\(Base64URL.encode("https://\(PictureClient.host)/b".utf8))", 403,
                "signature"
            ),
            (try PictureClient.signedPath("w93", "https://evil.example/a"), 403, "source"),
        ]
        var refusals: [String: Int] = [:]
        for (path, status, rule) in cases {
            let answer = try await client.send(path)
            #expect(
                answer.status == status && answer["cache-control"] == "no-store", "\(path): \(answer.text)")
            #expect(answer["content-type"] == "application/problem+json" && answer["etag"] == nil)
            refusals[rule, default: 0] += 1
            #expect(client.service.counters.refusals == refusals, "\(path)")
        }
        #expect(client.transport.started.count == 0)
        #expect(try await client.send(good).status == 200)
        // One transfer served it. The rules hold for cached sizes, too.
        #expect(try await client.send(PictureClient.path("w93")).status == 403)
        #expect(try await client.get("w92").status == 200 && client.transport.started.count == 1)
    }

    @Test("an expired address is refused from that second on, also if the picture is in memory")
    func expiry() async throws {
        let client = try client()
        let recipe = "w92.e\(TestClock.start + 10)"
        for _ in 0..<2 {
            let answer = try await client.get(recipe)
            #expect(answer.status == 200 && answer["cache-control"] == "public, max-age=10")
        }
        client.clock.advance(by: 10)
        #expect(try await client.get(recipe).status == 403)
        #expect(try await client.get("w92").status == 200)
    }

    @Test(
        "failures of the origin have their status and their freshness",
        arguments: [
            (404, 404, "public, max-age=60"), (410, 410, "public, max-age=60"), (403, 502, "no-store"),
            (500, 502, "no-store"), (503, 502, "no-store"), (204, 502, "no-store"),
        ])
    func originStatuses(origin: Int, status: Int, control: String) async throws {
        let client = try PictureClient(answering: PictureClient.giving([], status: origin, [:]))
        let answer = try await client.get("w92")
        #expect(answer.status == status && answer["cache-control"] == control)
        #expect(answer["content-type"] == "application/problem+json")
    }

    @Test("a source that is not a picture is 422, stored for a minute")
    func noPicture() async throws {
        for body in [Array("<html>".utf8), Array("GIF89a".utf8), Array(try Samples.jpeg().dropLast(300)), []]
        {
            let client = try PictureClient(answering: PictureClient.giving(body))
            for _ in 0..<2 {
                let answer = try await client.get("w92")
                #expect(answer.status == 422 && answer["cache-control"] == "public, max-age=60")
            }
            #expect(client.transport.started.count == 1, "\(body.prefix(6))")
        }
    }

    @Test("a redirect to an unlisted host is 403, and is not followed")
    func redirects() async throws {
        for target in ["https://evil.example/a", "http://127.0.0.1/a", "ftp://\(PictureClient.host)/a"] {
            let client = try PictureClient(
                answering: PictureClient.giving([], status: 302, ["Location": target]))
            #expect(try await client.get("w92").status == 403, "\(target)")
            #expect(client.transport.started.count == 1)
        }
    }
}
