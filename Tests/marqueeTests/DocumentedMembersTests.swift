import FilmSources
import Films
import Foundation
import TestSupport
import TestTraits
import Testing

/// Each section of `marquee help json` beside what its commands print with `--json`.
@Suite("marquee help json names exactly the members that are printed", .bounded)
struct DocumentedMembersTests {
    private static let films = """
        [{"id":"a","title":"A","originalTitle":"O","year":1920,"director":"D","country":"C","minutes":9,
          "genres":["G"],"overview":"W","score":7,"poster":"posters/1.png","media":"a.mkv","page":"a.html",
          "tagline":"T","cast":["X"],"collection":"S","trailer":"t.mp4",
          "rating":8.5,"votes":2,"created_at":"2026-01-01T00:00:00.000Z",
          "updated_at":"2026-01-01T00:00:00.000Z"},
         {"id":"b","title":"B","year":1921,"director":"D","poster":"posters/none.png"}]
        """

    private let fixture: Fixture

    init() throws { fixture = try Fixture(films: Self.films) }

    /// The paths of all members, such as `error.code` and `hosts.host`.
    private func members(_ value: Any, _ prefix: String = "") -> Set<String> {
        if let values = value as? [Any] {
            return values.reduce(into: []) { $0.formUnion(members($1, prefix)) }
        }
        guard let object = value as? [String: Any] else { return [] }
        return object.reduce(into: []) { names, member in
            names.insert(prefix + member.key)
            names.formUnion(members(member.value, prefix + member.key + "."))
        }
    }

    /// The members that a run prints.
    private func members(of words: String..., input: String = "") async throws -> Set<String> {
        let run = try await Program.run(
            words + ["--json", "--checksum"], input: input, environment: fixture.environment)
        let text = run.text.hasPrefix("[") ? run.text : "[" + run.lines.joined(separator: ",") + "]"
        return members(try JSONSerialization.jsonObject(with: Data(text.utf8)))
    }

    /// The members that the page names, by section.
    private func documented() async throws -> [String: Set<String>] {
        let page = try await Program.run(["help", "json"])
        #expect(page.status == 0 && page.errors.isEmpty)
        #expect(page.lines.allSatisfy { $0.count <= 80 })
        var documented: [String: Set<String>] = [:]
        var section = ""
        for line in page.lines {
            if line.hasPrefix("    ") { continue }
            if line.hasPrefix("  ") {
                documented[section, default: []].insert(String(line.dropFirst(2).prefix { $0 != " " }))
            } else {
                let title = line.prefix { $0 != ":" }
                section = title == line[...] ? "" : String(title.split(separator: ",")[0])
            }
        }
        documented[""] = nil
        return documented
    }

    private func expect(
        _ section: String, _ printed: Set<String>..., at location: SourceLocation = #_sourceLocation
    )
        async throws
    {
        let all = printed.reduce(into: Set()) { $0.formUnion($1) }
        #expect(try await documented()[section] == all, sourceLocation: location)
    }

    @Test("each section has its test here")
    func sections() async throws {
        #expect(
            try await documented().keys.sorted() == [
                "cache info", "cache path", "cache verify", "doctor", "fetch", "film", "import", "jobs",
                "serve", "sign",
                "status", "token", "upload", "version",
            ])
    }

    @Test("fetch, prewarm, show and picture")
    func fetch() async throws {
        let poster = fixture.folder.file("posters/1.png")
        let damaged = fixture.home.file("cut.jpg")
        try fixture.home.write(SampleImages.jpeg.dropLast(2), to: "cut.jpg")
        try await expect(
            "fetch", members(of: "show", damaged),
            members(of: "fetch", "a", "b", "nosuch", "-o", fixture.home.file("out")),
            members(of: "prewarm"), members(of: "show", poster),
            members(of: "picture", poster, "w1", "-o", fixture.home.file("picture")))
    }

    @Test("sign")
    func sign() async throws {
        let keys = try fixture.home.write(String(repeating: "0b", count: 32), to: "keys")
        try await expect(
            "sign", members(of: "sign", "https://example.org/a", "w1", "--sign-key-file", keys))
    }

    @Test("list, and show with the outcome of its poster, which has the members of fetch")
    func film() async throws {
        try MarkStore(path: fixture.home.file(".local/share/marquee/marks.db")).set(
            [FilmMark.seen, .rating].map { .init(key: "a-1920", mark: $0, value: 1, film: nil) }, for: nil,
            now: 1)
        let shown = try await members(of: "show", "a")
        let outcome = shown.filter { $0.hasPrefix("fetch.") }
        for name in [
            "Show/Season 1/S01E01 One.mkv", "F (1926)/F (1926) - 4K.mkv", "F (1926)/F (1926) - HD.mkv",
        ] {
            try fixture.home.write("", to: "Films/" + name)
        }
        let inFolder = try await members(of: "list", "--catalogue", fixture.home.file("Films"))
        try await expect("film", members(of: "list"), inFolder, shown.subtracting(outcome))
        let ofFetch = try #require(try await documented()["fetch"])
        #expect(!outcome.isEmpty && ofFetch.isSuperset(of: outcome.map { String($0.dropFirst(6)) }))
    }

    @Test("cache info, cache path, and what changes the cache")
    func cache() async throws {
        _ = try await fixture.run("prewarm")
        try await expect("cache info", members(of: "cache", "info"))
        try await expect("cache path", members(of: "cache", "path"))
        try await expect(
            "cache verify", members(of: "cache", "verify"), members(of: "cache", "trim", "--to=1M"),
            members(of: "cache", "clear", "--yes"))
    }

    @Test("status, on a machine with or without a network, and doctor with advice")
    func machine() async throws {
        try await expect("version", members(of: "version"))
        try await expect("status", members(of: "status"), ["link", "interface"])
        // A folder below a file cannot be created, which causes advice.
        let cache = fixture.folder.file("movies.json") + "/cache"
        try await expect("doctor", members(of: "doctor", "--cache-dir", cache))
    }

    @Test("import, and a token of its library while that is served")
    func library() async throws {
        let library = fixture.home.file("films.db")
        try await expect("import", members(of: "import", fixture.folder.file("movies.json"), library))
        let service = try Program(["serve", library, "--writable"], environment: fixture.environment)
        _ = try #require(await service.nextLine())
        try await expect("token", members(of: "token"))
        await service.end(SIGINT)
    }

    @Test("upload")
    func upload() async throws {
        let origin = try ScriptedOrigin(
            .acceptingBodies(
                status: "201 Created", fields: "Location: /a\r\nContent-Type: text/plain\r\n", answer: "a"))
        let address = origin.url("/").absoluteString
        try await expect(
            "upload", members(of: "upload", fixture.folder.file("posters/1.png"), address),
            members(of: "upload", fixture.folder.file("none"), address))
    }

    @Test("the line of serve")
    func serve() async throws {
        let server = try Program(["serve", "--quiet", "--json", "--admin", "127.0.0.1:0"])
        let line = try #require(await server.nextLine())
        try await expect("serve", members(try JSONSerialization.jsonObject(with: Data(line.utf8))))
        #expect(await server.end(SIGINT).status == -SIGINT)
    }

    @Test("jobs, and a prewarm that goes on in the background")
    func jobs() async throws {
        let silent = try ScriptedOrigin([.readHead, .awaitClose])
        let started = try await members(
            of: "prewarm", "-", "--detach", "--name", "shape", input: silent.url().absoluteString)
        #expect(try await fixture.run("jobs", "cancel", "shape").status == 0)
        try await expect("jobs", started, members(of: "jobs"))
    }
}
