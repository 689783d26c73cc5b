import Films
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("--json everywhere", .bounded)
struct JSONShapeTests {
    @Test("cache path is an object")
    func path() async throws {
        let fixture = try Fixture()
        let path = try JSON.object(try await fixture.run("cache", "path", "--json").text)
        #expect(path["path"] as? String == fixture.home.file("marquee") && path.count == 1)
    }

    @Test("a film's poster is always its address; the poster's outcome is beside it")
    func poster() async throws {
        let fixture = try Fixture()
        let shown = try JSON.object(try await fixture.run("show", "film-1", "--json").text)
        let listed = try JSON.array(try await fixture.run("list", "--json").text)
        #expect(shown["poster"] as? String == fixture.base + "posters/1.png")
        #expect(listed.first?["poster"] as? String == shown["poster"] as? String)
        #expect((shown["fetch"] as? [String: Any])?["outcome"] as? String == "network")
    }

    @Test("trim reports the number of removed entries and bytes")
    func trim() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("prewarm")
        func number(_ object: [String: Any], _ name: String) throws -> Int {
            try #require(object[name] as? Int, "\(name)")
        }
        let before = try JSON.object(try await fixture.run("cache", "info", "--json").text)
        let trimmed = try JSON.object(try await fixture.run("cache", "trim", "--to", "1K", "--json").text)
        #expect(
            try number(trimmed, "removedBytes") == number(before, "bytes") - number(trimmed, "bytes"))
        #expect(try number(trimmed, "removedBytes") > 0)
        let left = try number(trimmed, "entries")
        let text = try await fixture.run("cache", "trim", "--to", "1").text
        #expect(text == "0 entries, 0 bytes; \(left) removed, \(try number(trimmed, "bytes")) bytes\n")
    }

    @Test("queued is the wait for a slot, as --verbose tells it", arguments: ["fetch", "prewarm"])
    func queued(command: String) async throws {
        let fixture = try Fixture()
        let gate = Gate()
        defer { gate.open() }
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\nContent-Length: 1\r\n\r\n"
        let origin = try ScriptedOrigin([.forever([.readHead, .wait(gate), .send(head + "a")])])
        let list = ["/a", "/b"].map { origin.url($0).absoluteString }.joined(separator: "\n")
        let options = "--any-content --json --verbose --per-host 1 --timeout 600"
        let program = try Program(
            ["-c", "exec \"$MARQUEE\" \(command) - \(options) 2>&1"], of: "/bin/sh", input: list,
            environment: fixture.environment.merging(["MARQUEE": BuiltProgram.path("marquee")]) { $1 })
        /// The transfers that have waited, and how long each waited until its start.
        var (waiting, waits): (Set<Substring>, [String: Double]) = ([], [:])
        var records: [[String: Any]] = []
        while let line = await program.nextLine() {
            // marquee: #2 http://127.0.0.1:8080/b starts after 28.9 ms in the queue
            let words = line.split(separator: " ")
            if line.hasPrefix("{") { records.append(try JSON.object(line)) }
            if line.hasSuffix(" waits") { waiting.insert(words[2]) }
            if line.hasSuffix(" in the queue") { waits[String(words[2])] = Double(words[5]) }
            // One has the slot, and the other waits for it.
            if waiting.count == 2, !waits.isEmpty { gate.open() }
        }
        #expect(await program.outcome().status == 0)
        #expect(records.count == 2 && waits.count == 2)
        for record in records {
            let url = try #require(record["url"] as? String)
            #expect(record["queued"] as? Double == waits[url], "\(record)")
            #expect(try #require(record["milliseconds"] as? Double) > 0)
        }
        #expect(try #require(waits.values.max()) > 0)
        let cached = try await fixture.run(command, "-", "--any-content", "--json", input: list)
        #expect(try JSON.lines(cached).map { $0["queued"] as? Double } == [0, 0])
    }

    @Test("a malformed line of a manifest has its object")
    func badLine() async throws {
        let fixture = try Fixture()
        let run = try await fixture.run(
            "prewarm", "-", "--json", input: "\(fixture.base)posters/1.png\nno address\nhttp://h/\u{1}\n")
        #expect(run.status == 1)
        let records = try JSON.lines(run)
        #expect(records.count == 3)
        let codes = records.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == ["invalid-entry", "invalid-url"])
    }

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

    @Test("marquee help json names exactly the members that are printed")
    func documented() async throws {
        let films = """
            [{"id":"a","title":"A","originalTitle":"O","year":1920,"director":"D","country":"C","minutes":9,
              "genres":["G"],"overview":"W","score":7,"poster":"posters/1.png","media":"a.mkv","page":"a.html",
              "rating":8.5,"votes":2,"created_at":"2026-01-01T00:00:00.000Z",
              "updated_at":"2026-01-01T00:00:00.000Z"},
             {"id":"b","title":"B","year":1921,"director":"D","poster":"posters/none.png"}]
            """
        let fixture = try Fixture(films: films)
        var printed: [String: Set<String>] = [:]
        func note(_ name: String, _ words: String..., input: String = "") async throws {
            let run = try await Program.run(
                words + ["--json", "--checksum"], input: input, environment: fixture.environment)
            let text = run.text.hasPrefix("[") ? run.text : "[" + run.lines.joined(separator: ",") + "]"
            let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
            printed[name, default: []].formUnion(members(value))
        }
        try await note("fetch", "fetch", "a", "b", "nosuch", "-o", fixture.home.file("out"))
        try await note("fetch", "prewarm")
        try await note("fetch", "show", fixture.folder.file("posters/1.png"))
        try await note(
            "fetch", "picture", fixture.folder.file("posters/1.png"), "w1", "-o", fixture.home.file("picture")
        )
        try fixture.home.write(String(repeating: "0b", count: 32), to: "keys")
        try await note(
            "sign", "sign", "https://example.org/a", "w1", "--sign-key-file", fixture.home.file("keys"))
        try MarkStore(path: fixture.home.file(".local/share/marquee/marks.db")).set(
            [FilmMark.seen, .rating].map { .init(key: "a-1920", mark: $0, value: 1, film: nil) }, for: nil,
            now: 1)
        try await note("film", "list")
        try await note("film", "show", "a")
        try await note("cache info", "cache", "info")
        for words in [["verify"], ["trim", "--to", "1M"], ["clear"]] {
            try await note("cache verify", "cache", words[0], words.count > 1 ? "--to=1M" : "--quiet")
        }
        try await note("cache path", "cache", "path")
        try await note("status", "status")
        // A machine without a network has neither of these.
        printed["status"]?.formUnion(["link", "interface"])
        // A folder below a file cannot be created, which causes advice.
        try await note("doctor", "doctor", "--cache-dir", fixture.folder.file("movies.json") + "/cache")
        try await note(
            "import", "import", fixture.folder.file("movies.json"), fixture.home.file("films.db"))
        let origin = try ScriptedOrigin(
            .acceptingBodies(
                status: "201 Created", fields: "Location: /a\r\nContent-Type: text/plain\r\n", answer: "a"))
        let poster = fixture.folder.file("posters/1.png")
        try await note("upload", "upload", poster, origin.url("/").absoluteString)
        try await note("upload", "upload", fixture.folder.file("none"), origin.url("/").absoluteString)
        let server = try Program(["serve", "--quiet", "--json", "--admin", "127.0.0.1:0"])
        let line = try #require(await server.nextLine())
        printed["serve"] = members(try JSONSerialization.jsonObject(with: Data(line.utf8)))
        #expect(await server.end(SIGINT).status == -SIGINT)
        let library = fixture.home.file("films.db")
        let writable = try Program(["serve", library, "--writable"], environment: fixture.environment)
        _ = try #require(await writable.nextLine())
        try await note("token", "token")
        await writable.end(SIGINT)
        let silent = try ScriptedOrigin([.readHead, .awaitClose])
        try await note(
            "jobs", "prewarm", "-", "--detach", "--name", "shape", input: silent.url().absoluteString)
        #expect(try await fixture.run("jobs", "cancel", "shape").status == 0)
        try await note("jobs", "jobs")
        // The outcome of a film's poster has the members of `fetch`.
        let ofFetch = printed["film"]?.filter { $0.hasPrefix("fetch.") } ?? []
        #expect(
            !ofFetch.isEmpty
                && Set(ofFetch.map { String($0.dropFirst(6)) }).isSubset(of: printed["fetch"] ?? []))
        printed["film"]?.subtract(ofFetch)

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
        #expect(documented == printed)
    }
}
