import CatalogueService
import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("marquee prewarm", .bounded)
struct PrewarmProgramTests {
    @Test("another process finds the prewarmed posters on disk, without a request, and offline too")
    func nextProcess() async throws {
        let fixture = try Fixture()
        let urls = (1...6).map { fixture.base + "posters/\($0).png" }
        let prewarmed = try await fixture.run("prewarm", "--json")
        #expect(prewarmed.status == 0)
        #expect(
            try JSON.lines(prewarmed).map { $0["outcome"] as? String }
                == Array(repeating: "network", count: 6))
        let requests = fixture.service.statistics.requests
        for options in [[], ["--offline"]] {
            let fetched = try await Program.run(
                ["fetch", "--json"] + options + urls, environment: fixture.environment)
            #expect(fetched.status == 0)
            #expect(
                try JSON.lines(fetched).map { $0["outcome"] as? String } == Array(repeating: "disk", count: 6)
            )
        }
        #expect(fixture.service.statistics.requests == requests)
        let again = try await fixture.run("prewarm")
        #expect(again.errorText.hasPrefix("marquee: 0 fetched (0 bytes), 6 already cached, in "))
        // Standard output has a line for each image, and nothing else.
        #expect(again.lines.count == 6)
        #expect(fixture.posterRequests(catalogueReads: 2) == 6)
    }

    @Test("after a kill in the middle only the rest is fetched, and no file is left behind")
    func killed() async throws {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: max-age=86400\r\n"
            + "Content-Length: \(Fixture.pixel.count)\r\n\r\n"
        let answer = Array(head.utf8) + Fixture.pixel
        // The first program gets four answers, and none to its fifth request.
        let (requests, end) = (Shared(0), Gate())
        defer { end.open() }
        let origin = try ScriptedOrigin([
            .forever([
                .reply { _, _ in
                    let number = requests.change { requests in
                        requests += 1
                        return requests
                    }
                    if number == 5 { end.wait() }
                    return answer
                }
            ])
        ])
        let fixture = try Fixture(films: Fixture.films(8) { origin.url("/\($0).png").absoluteString })
        let killed = try Program(
            ["prewarm", "--concurrency", "1", "--timeout", "600"], environment: fixture.environment)
        try await origin.requests.wait(for: 5)
        // Entries are written in order: the catalogue, and the first of the four posters.
        try await eventually { try fixture.entries().count >= 2 }
        #expect(await killed.end(SIGKILL).status == -SIGKILL)
        let verified = try JSON.object(try await fixture.run("cache", "verify", "--json").text)
        #expect(verified["removedEntries"] as? Int == 0)
        let kept = try #require(verified["entries"] as? Int) - 1
        #expect((1...4).contains(kept))
        let next = try await fixture.run("prewarm")
        #expect(next.status == 0)
        let last = next.errorLines.last ?? ""
        #expect(
            last.hasPrefix("marquee: \(8 - kept) fetched") && last.contains("\(kept) already cached"),
            "\(last)")
        #expect(origin.requests.count == 5 + 8 - kept)
        #expect(fixture.temporaryFiles().isEmpty)
    }

    @Test("Ctrl-C ends fetch with a whole cache, and without a temporary file")
    func interrupted() async throws {
        // The signal comes before the answer and any timeout, however late it is sent.
        let fixture = try Fixture { $0.server.latency = .seconds(600) }
        let running = try Program(
            ["fetch", "data:,x", "--any-content", "--timeout", "600", fixture.base + "posters/1.png"],
            environment: fixture.environment)
        // The first line appears while the second image loads.
        #expect(await running.nextLine() != nil)
        let outcome = await running.end(SIGINT)
        #expect(outcome.status == -SIGINT)
        #expect(outcome.errors.isEmpty, "\(outcome.errorText)")
        #expect(try await fixture.run("cache", "verify").status == 0)
        #expect(fixture.temporaryFiles().isEmpty)
    }

    @Test("a film without a poster is no failure")
    func withoutPoster() async throws {
        let films =
            "[{\"id\":\"a\",\"title\":\"A\",\"poster\":\"posters/1.png\"},{\"id\":\"b\",\"title\":\"B\"}]"
        let fixture = try Fixture(films: films, posters: 1)
        let prewarmed = try await fixture.run("prewarm")
        #expect(prewarmed.status == 0, "\(prewarmed.errorText)")
        #expect(
            prewarmed.errorText.contains("1 fetched")
                && prewarmed.errorText.contains("1 film without a poster"))
    }

    @Test("a malformed line is reported with its number, and does not affect the others")
    func badLines() async throws {
        let fixture = try Fixture()
        let prewarmed = try await fixture.run(
            "prewarm", "-",
            input: """
                \(fixture.base)posters/1.png
                no address
                ftp://example.org/a.png
                \(fixture.base)posters/none.png
                \(fixture.base)posters/2.png
                """)
        #expect(prewarmed.status == 1)
        #expect(prewarmed.errorText.contains("marquee: 2 fetched (140 bytes), 0 already cached, 3 failed"))
        #expect(prewarmed.errorLines.count == 4)
        #expect(prewarmed.errorText.contains("line 2: no address: not a URL"))
        #expect(prewarmed.errorText.contains("line 3: ftp://example.org/a.png: the scheme ftp"))
        #expect(prewarmed.errorText.contains("posters/none.png: the server answered 404"))
    }

    @Test("a wrong checksum is an error, and the file is not kept")
    func checksum() async throws {
        let fixture = try Fixture()
        let url = fixture.base + "posters/1.png"
        let zeros = String(repeating: "0", count: 64)
        let prewarmed = try await fixture.run("prewarm", "-", input: "\(url) sha256:\(zeros)")
        #expect(prewarmed.status == 2)
        #expect(prewarmed.errorText.contains("not \(zeros)"))
        #expect(try await fixture.run("--offline", "fetch", url).status == 2)
    }

    @Test("addresses in a manifest file are relative to the manifest, also over HTTP")
    func relative() async throws {
        let fixture = try Fixture()
        try fixture.folder.write("posters/1.png\nposters/2.png\n", to: "manifest.txt")
        let overHTTP = try await fixture.run("prewarm", fixture.base + "manifest.txt")
        #expect(overHTTP.errorText.hasPrefix("marquee: 2 fetched"))
        let local = try await fixture.run("prewarm", fixture.folder.file("manifest.txt"))
        #expect(local.status == 0)
        #expect(local.lines.first?.contains("file://") == true)
    }

    @Test("two concurrent programs share one folder")
    func twoAtOnce() async throws {
        let fixture = try Fixture(posters: 12)
        let one = try Program(["prewarm"], environment: fixture.environment)
        let other = try Program(["prewarm"], environment: fixture.environment)
        let outcomes = [await one.outcome(), await other.outcome()]
        for outcome in outcomes {
            #expect(outcome.status == 0 && outcome.errorLines.count == 1, "\(outcome.errorText)")
        }
        let verified = try JSON.object(try await fixture.run("cache", "verify", "--json").text)
        #expect(verified["entries"] as? Int == 13, "the catalogue and twelve posters")
        #expect(verified["removedEntries"] as? Int == 0)
    }

    @Test("a server that fails sometimes is retried, and only permanent failures fail")
    func failures() async throws {
        let fixture = try Fixture(posters: 12)
        let failing = try CatalogueService(
            .folder(path: fixture.folder.path), configuration: Self.failing())
        try failing.start()
        defer { failing.stop() }
        let list = (1...12).map { "http://127.0.0.1:\(failing.port)/posters/\($0).png" }
        let prewarmed = try await fixture.run("prewarm", "-", input: list.joined(separator: "\n"))
        let refusals = failing.statistics.byStatus[500] ?? 0
        // The last line is the summary.
        let failed = prewarmed.errorLines.count - 1
        // Each reported failure was tried three times, and the others were retried.
        #expect(refusals >= 3 * failed && refusals > 0 && failed < 12)
        #expect(prewarmed.status == (failed > 0 ? 1 : 0))
        #expect(prewarmed.errorLines.last?.hasPrefix("marquee: \(12 - failed) fetched") == true)
    }

    private static func failing() -> CatalogueService.Configuration {
        var configuration = CatalogueService.Configuration()
        configuration.failureRate = 0.5
        return configuration
    }
}
