import FoundationEssentials
import Glibc
import LazyImages
import TestSupport
import TestTraits
import Testing

@Suite("marquee serve", .bounded)
struct ServeProgramTests {
    @Test("the service prints its address, serves the library, and ends with 0 on SIGTERM")
    func serve() async throws {
        let fixture = try Fixture()
        let server = try Program(["serve", fixture.folder.path])
        let address = try #require(await server.nextLine())
        #expect(address.hasPrefix("http://127.0.0.1:") && address.hasSuffix("/"))
        let loader = ImageLoader(disk: nil, pressure: nil)
        let image = try await loader.image(for: ImageRequest(URL(typed: address + "posters/1.png")))
        #expect(image.bitmap.width == 1)
        let outcome = await server.end(SIGTERM)
        #expect(outcome.status == 0)
        #expect(outcome.lines == [address])
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errorText.hasPrefix("marquee: served 1 requests"))
    }

    @Test("serve warns of what is wrong with the films of a folder, as list does")
    func warnings() async throws {
        let home = try TemporaryFolder()
        try home.write("", to: "Films/Faust (1926)/faust.mkv")
        try home.write("<album/>", to: "Films/Faust (1926)/faust.nfo")
        func list(_ catalogue: String) async throws -> Program.Outcome {
            try await Program.run(["list", "--plain", "--no-disk-cache", "--catalogue", catalogue])
        }
        let warning = try #require(try await list(home.file("Films")).errorLines.first)
        #expect(warning.contains("faust.nfo: ") && warning.contains("the film has the name of its file"))
        let server = try Program(["serve", home.file("Films")])
        let address = try #require(await server.nextLine())
        #expect(try await list(address + "films").lines.count == 1)
        let errors = await server.end(SIGTERM).errorLines
        #expect(errors.filter { $0 == warning }.count == 1, "\(errors)")
    }

    @Test("without a folder the sample catalogue is served, and Ctrl-C ends the service")
    func sample() async throws {
        let server = try Program(["serve", "--quiet"])
        let address = try #require(await server.nextLine())
        let listed = try await Program.run(["list", "--no-disk-cache", "--catalogue", address + "movies.xml"])
        #expect(listed.lines.count == 36)
        let outcome = await server.end(SIGINT)
        #expect(outcome.status == -SIGINT)
        #expect(outcome.errors.isEmpty)
    }

    @Test("a served catalogue leaves no temporary file, and the next service removes that of a killed one")
    func temporaryFiles() async throws {
        let fixture = try Fixture()
        let place = try fixture.home.makeFolder("tmp")
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: place).filter { $0.hasPrefix("marquee-") }
        }
        func serve() async throws -> Program {
            let server = try Program(
                ["serve", fixture.folder.path, "--quiet"], environment: ["TMPDIR": place])
            let address = try #require(await server.nextLine())
            let listed = try await Program.run(["list", "--no-disk-cache", "--catalogue", address + "films"])
            #expect(listed.lines.count == 6)
            return server
        }
        let killed = try await serve()
        await killed.end(SIGKILL)
        let leftover = try names()
        #expect(leftover.count == 1)
        let server = try await serve()
        #expect(try names().count == 1 && names() != leftover)
        #expect(await server.end(SIGTERM).status == 0)
        #expect(try names().isEmpty)
    }

    @Test("--catalogue accepts the printed address, and --verbose prints one line per request")
    func address() async throws {
        let fixture = try Fixture()
        let server = try Program(["serve", "-v", fixture.folder.path])
        let address = try #require(await server.nextLine())
        let listed = try await Program.run(["list", "--no-disk-cache", "--catalogue", address])
        #expect(listed.lines.count == 6)
        let environment = ["XDG_CACHE_HOME": fixture.home.path]
        let fetched = try await Program.run(
            ["fetch", "film-2", "--catalogue", address], environment: environment)
        #expect(fetched.status == 0)
        let lines = await server.end(SIGTERM).errorLines
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0].hasPrefix("marquee: GET / 200, "))
        #expect(lines[2].hasPrefix("marquee: GET /posters/2.png 200, 70 bytes in "))
    }

    @Test("--verbose prints no query, because it may have a token")
    func query() async throws {
        let fixture = try Fixture()
        let server = try Program(["serve", "-v", fixture.folder.path])
        let address = try #require(await server.nextLine())
        _ = try await Program.run([
            "fetch", address + "posters/1.png?token=S3CRET", "-o", "-", "--no-disk-cache",
        ])
        let lines = await server.end(SIGTERM).errorLines
        #expect(lines.first?.hasPrefix("marquee: GET /posters/1.png 200, 70 bytes in ") == true, "\(lines)")
    }

    @Test("a folder without a catalogue is served with a message")
    func noCatalogue() async throws {
        let fixture = try Fixture()
        let server = try Program(["serve", fixture.folder.file("posters")])
        #expect(await server.nextLine() != nil)
        let outcome = await server.end(SIGTERM)
        #expect(outcome.errorLines.first?.contains("has no movies.json or movies.xml") == true)
    }
}
