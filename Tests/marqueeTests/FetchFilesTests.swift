import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("marquee fetch writes and reads files", .bounded)
struct FetchFilesTests {
    private func file(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    /// Changes when a file is written again, even with the same contents.
    private func identity(_ path: String) -> UInt {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? UInt(status.st_ino) : 0
    }

    @Test("files are numbered in order of the arguments, whichever transfer ends first")
    func order() async throws {
        let gate = Gate()
        let slow = try ScriptedOrigin([
            .readHead, .wait(gate),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfirst"),
        ])
        let fast = try ScriptedOrigin(.answering(Array("second".utf8)))
        let fixture = try Fixture()
        let out = fixture.home.file("out")
        let program = try Program(
            [
                "fetch", slow.url("/a/p.png").absoluteString, fast.url("/b/p.png").absoluteString,
                "--any-content", "--json", "--timeout", "600", "-o", out,
            ], environment: fixture.environment)
        let first = try JSON.object(try #require(await program.nextLine()))
        #expect(first["file"] as? String == out + "/p-2.png")
        gate.open()
        let outcome = await program.outcome()
        #expect(outcome.status == 0)
        #expect(try JSON.lines(outcome).last?["file"] as? String == out + "/p.png")
        #expect(try file(out + "/p.png") == Array("first".utf8))
        #expect(try file(out + "/p-2.png") == Array("second".utf8))
    }

    @Test("a repeated address is one file, which both records name")
    func sameAddress() async throws {
        let fixture = try Fixture()
        let out = fixture.home.file("out")
        let url = fixture.base + "posters/2.png"
        let fetched = try await fixture.run("fetch", url, "film-2", url, "--json", "-o", out)
        #expect(fetched.status == 0)
        #expect(
            try JSON.lines(fetched).map { $0["file"] as? String }
                == Array(repeating: out + "/2.png", count: 3))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["2.png"])
    }

    @Test("an equal file stays as it is, and so does a different one, unless --force replaces it")
    func leftAlone() async throws {
        let fixture = try Fixture()
        let out = fixture.home.file("out")
        #expect(try await fixture.run("fetch", "film-1", "film-2", "-o", out).status == 0)
        let before = (identity(out + "/film-1.png"), identity(out + "/film-2.png"))
        try Data("other".utf8).write(to: URL(filePath: out + "/film-2.png"))
        #expect(try await fixture.run("fetch", "film-1", "film-2", "-o", out).status == 0)
        #expect(identity(out + "/film-1.png") == before.0 && before.0 != 0)
        #expect(try file(out + "/film-2.png") == Array("other".utf8))
        #expect(try file(out + "/film-2-2.png") == [UInt8](Fixture.pixel))
        #expect(try await fixture.run("fetch", "film-1", "film-2", "-o", out, "--force").status == 0)
        #expect(try file(out + "/film-2.png") == [UInt8](Fixture.pixel))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).count == 3)
    }

    @Test("a file that cannot be written is a failure in the record too")
    func notWritten() async throws {
        let fixture = try Fixture()
        let out = fixture.home.file("out")
        try fixture.home.makeFolder("out/film-1.png/full")
        let fetched = try await fixture.run("fetch", "film-1", "film-2", "-o", out, "--json", "--force")
        #expect(fetched.status == 1)
        let codes = try JSON.lines(fetched).map { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(Set(codes) == [nil, "not-written"])
        #expect(fetched.errorLines.count == 1)
    }

    @Test("a file is fetched and shown by its path, relative or absolute")
    func paths() async throws {
        let fixture = try Fixture()
        let folder = fixture.folder.file("posters")
        let odd = folder + "/a #1 50%.png"
        try Fixture.pixel.write(to: URL(filePath: odd))
        for (words, path) in [
            ("./1.png", folder + "/1.png"), ("../posters/2.png", folder + "/2.png"),
            ("\(folder)/3.png", folder + "/3.png"), ("'./a #1 50%.png'", odd),
        ] {
            let run = try await Program.shell(
                "cd \(folder) && \"$MARQUEE\" fetch \(words) --json && \"$MARQUEE\" show \(words)",
                environment: fixture.environment)
            #expect(run.status == 0, "\(run.errorText)")
            let record = try JSON.object(run.lines.first ?? "")
            #expect(record["outcome"] as? String == "local")
            #expect(record["url"] as? String == URL(filePath: path).absoluteString)
            #expect(run.text.contains("png  1 x 1  70 bytes  local"))
        }
        let missing = try await fixture.run("fetch", folder + "/none.png")
        #expect(missing.status == 2)
        #expect(missing.errorText.contains("posters/none.png: cannot be read: No such file"))
        #expect(try await fixture.run("show", folder + "/none.png").status == 2)
        let film = try await Program.shell(
            "cd \(folder) && \"$MARQUEE\" fetch 1.png", environment: fixture.environment)
        #expect(film.lines.first?.hasSuffix("  file://\(folder)/1.png") == true, "\(film.errorText)")
    }
}
