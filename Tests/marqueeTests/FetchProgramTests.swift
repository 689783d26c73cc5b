import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("marquee fetch", .bounded)
struct FetchProgramTests {
    @Test("fetches a film, an address and standard input, with one object per line")
    func sources() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run(
            "fetch", "film-1", fixture.base + "posters/2.png", "-", "--json", "--checksum",
            input: "# a comment\n\n  \(fixture.base)posters/3.png \r\n")
        #expect(fetched.status == 0)
        let records = try JSON.lines(fetched)
        #expect(
            Set(records.compactMap { $0["url"] as? String })
                == Set((1...3).map { fixture.base + "posters/\($0).png" }))
        for record in records {
            #expect(record["outcome"] as? String == "network")
            #expect(record["status"] as? Int == 200)
            #expect(record["bytes"] as? Int == Fixture.pixel.count)
            #expect(record["format"] as? String == "png")
            #expect(record["width"] as? Int == 1)
            #expect((record["sha256"] as? String)?.count == 64)
        }
        #expect(fetched.errors.isEmpty)
    }

    @Test("-o writes the bytes unchanged, under the film's id or the address's name, and creates the folder")
    func output() async throws {
        let fixture = try Fixture()
        let out = fixture.home.file("a/b")
        let fetched = try await fixture.run(
            "fetch", "film-1", fixture.base + "posters/2.png", fixture.base + "posters/2.png?again", "-o", out
        )
        #expect(fetched.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: out).sorted()
        #expect(names == ["2-2.png", "2.png", "film-1.png"])
        #expect(try Data(contentsOf: URL(filePath: out + "/film-1.png")) == Fixture.pixel)
    }

    @Test("--verbose writes the events of every transfer to standard error, and the records stay the same")
    func verbose() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run("fetch", fixture.base + "posters/1.png", "--json", "--verbose")
        #expect(fetched.status == 0)
        #expect(try JSON.lines(fetched).count == 1)
        let lines = fetched.errorLines.filter { $0.contains("posters/1.png") }
        #expect(lines.contains { $0.hasSuffix(" waits") })
        #expect(
            lines.contains {
                $0.contains(" 200, \(Fixture.pixel.count) bytes in ") && $0.contains("HTTP/1.1")
            })
    }

    @Test("the environment's proxy is used only on request")
    func proxy() async throws {
        let fixture = try Fixture()
        let closed = try ClosedPort()
        // A loopback address is not exempt from a proxy by default.
        let environment = fixture.environment.merging(["http_proxy": "http://127.0.0.1:\(closed.port)"]) {
            $1
        }
        let address = fixture.base + "posters/1.png"
        #expect(try await Program.run(["fetch", address], environment: environment).status == 0)
        let proxied = try await Program.run(
            ["fetch", fixture.base + "posters/2.png", "--proxy", "env", "--json"], environment: environment)
        let error = try #require(try JSON.lines(proxied).first?["error"] as? [String: String])
        #expect(withExtendedLifetime(closed) { error["code"] } == "connection-failed")
    }

    @Test("a body that is not an image is refused, except with --any-content")
    func anyContent() async throws {
        let fixture = try Fixture()
        let refused = try await fixture.run("fetch", fixture.base + "movies.json", "--json")
        #expect(refused.status == 2)
        let error = try #require(try JSON.lines(refused).first?["error"] as? [String: String])
        #expect(error["code"] == "not-an-image")
        #expect(refused.errorLines == ["marquee: " + (error["message"] ?? "")])
        #expect(try await fixture.run("fetch", fixture.base + "movies.json", "--any-content").status == 0)
    }

    @Test("a failure does not affect other operands: status 1, and 2 if no film was found")
    func someFail() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run(
            "fetch", "film-1", "nosuch", fixture.base + "posters/none.png", "film-2", "--json")
        #expect(fetched.status == 1)
        let outcomes = try JSON.lines(fetched).compactMap { $0["outcome"] as? String }.sorted()
        #expect(outcomes == ["failed", "failed", "network", "network"])
        #expect(fetched.errorLines.count == 2)
        #expect(try await fixture.run("fetch", "nosuch").status == 2)
    }

    @Test("a file on disk needs no network, and an uncached one fails offline")
    func offline() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("fetch", "film-1")
        let fetched = try await fixture.run("--offline", "fetch", "film-1", "film-2", "--json")
        #expect(fetched.status == 1)
        let records = try JSON.lines(fetched)
        #expect(records.contains { $0["outcome"] as? String == "disk" })
        #expect(records.contains { ($0["error"] as? [String: String])?["code"] == "not-cached" })
        #expect(fixture.posterRequests(catalogueReads: 1) == 1)
    }

    @Test("--max-time ends a transfer that does not end, without a retry")
    func maxTime() async throws {
        let fixture = try Fixture()
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .forever([.sendBytes([UInt8](repeating: 7, count: 10))]),
        ])
        let fetched = try await fixture.run(
            "fetch", origin.url("/a.png").absoluteString, "--max-time", "0.3", "--max-bytes", "100G")
        #expect(fetched.status == 2)
        #expect(
            fetched.errorText.contains(
                "did not finish within 0.3 s; try again, or allow more with --max-time"))
        // On a busy machine the time may pass before there is a connection.
        #expect(origin.connections.count <= 1)
    }

    @Test("a body larger than --max-bytes is refused and not kept")
    func tooLarge() async throws {
        let fixture = try Fixture()
        let url = fixture.base + "posters/1.png"
        let refused = try await fixture.run("fetch", url, "--max-bytes", "69")
        #expect(refused.status == 2)
        #expect(refused.errorText.contains("larger than 69 bytes; allow more with --max-bytes"))
        #expect(try await fixture.run("--offline", "fetch", url).status == 2)
        #expect(try await fixture.run("fetch", url, "--max-bytes", "70").status == 0)
    }

    @Test("without the disk cache nothing is written")
    func noDisk() async throws {
        let fixture = try Fixture()
        #expect(try await fixture.run("fetch", "film-1", "--no-disk-cache").status == 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.home.file("marquee")))
    }

    @Test("--quiet prints nothing about successes")
    func quiet() async throws {
        let fetched = try await Fixture().run("fetch", "film-1", "--quiet")
        #expect(fetched.status == 0)
        #expect(fetched.output.isEmpty && fetched.errors.isEmpty)
    }

    @Test("header fields make a separate entry")
    func header() async throws {
        let fixture = try Fixture()
        let url = fixture.base + "posters/1.png"
        for token in ["a", "b", "a"] {
            _ = try await fixture.run("fetch", url, "--header", "Authorization: Bearer \(token)")
        }
        #expect(fixture.service.statistics.requests == 2)
    }
}
