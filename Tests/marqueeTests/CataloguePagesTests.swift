import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Catalogues on the network", .bounded)
struct CataloguePagesTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func film(_ id: String, score: Double = 5) -> String {
        #"{"id":"\#(id)","title":"Film \#(id)","score":\#(score),"poster":"\#(id).png"}"#
    }

    private func list(_ films: String..., next: String? = nil) -> String {
        FilmServer.response(
            "200 OK", "{\"movies\":[\(films.joined(separator: ","))]}",
            fields: next.map { "Link: <\($0)>; rel=\"next\"\r\n" } ?? "")
    }

    /// A server that answers by path, and with 404 to other paths.
    private func server(_ answers: [String: String]) throws -> ScriptedOrigin {
        try ScriptedOrigin([
            .forever([
                .respond { head, _ in
                    answers[String(head.split(separator: " ")[1])]
                        ?? FilmServer.response("404 Not Found", "{}")
                }
            ])
        ])
    }

    private func run(_ origin: ScriptedOrigin, _ path: String, _ words: String...) async throws
        -> Program.Outcome
    {
        try await Program.run(
            words + ["--catalogue", origin.url(path).absoluteString],
            environment: ["XDG_CACHE_HOME": home.path])
    }

    private func targets(_ origin: ScriptedOrigin) -> [String] {
        origin.heads.map { String($0.split(separator: " ")[1]) }
    }

    @Test("a service gets a query for the best films, and for all films in other orders")
    func top() async throws {
        let origin = try server([
            "/films/top/2": list(film("a", score: 9), film("b", score: 8)),
            "/films?limit=1000": list(film("c"), film("a", score: 9), film("b", score: 8)),
        ])
        for path in ["/films", "/", ""] {
            let run = try await run(origin, path, "list", "--top", "2", "--plain")
            #expect(run.lines.map { $0.prefix { $0 != "\t" } } == ["a", "b"], "\(run.errorText)")
        }
        #expect(Set(targets(origin)) == ["/films/top/2"])
        #expect(
            try await run(origin, "/films", "list", "--top", "2", "--sort", "title", "--plain").lines.count
                == 2)
        #expect(targets(origin).last == "/films?limit=1000")
    }

    @Test("a plain file is read whole, without a service's queries")
    func plainFile() async throws {
        let origin = try server(["/": list(film("a"), film("b")), "/movies.json": list(film("c"))])
        #expect(try await run(origin, "/", "list", "--top", "1", "--plain").lines.count == 1)
        #expect(targets(origin) == ["/films/top/1", "/"])
        #expect(try await run(origin, "/movies.json", "list", "--top", "1", "--plain").lines.count == 1)
        #expect(targets(origin).last == "/movies.json" && origin.requests.count == 3)
    }

    @Test("all pages are read, and a film that moved between them is listed once")
    func pages() async throws {
        let origin = try server([
            "/films?limit=1000": list(film("a"), film("b"), next: "?limit=1000&after=b"),
            "/films?limit=1000&after=b": list(film("b"), film("c"), next: "/deep/er/films?x"),
            "/deep/er/films?x": list(film("d")),
        ])
        let run = try await run(origin, "/films", "list", "--json")
        let films = try JSON.array(run.text)
        #expect(films.map { $0["id"] as? String } == ["a", "b", "c", "d"])
        // Each poster is relative to its own page.
        #expect(films[2]["poster"] as? String == origin.url("/c.png").absoluteString)
        #expect(films[3]["poster"] as? String == origin.url("/deep/er/d.png").absoluteString)
        let offline = try await self.run(origin, "/films", "list", "--json", "--offline")
        #expect(try JSON.array(offline.text).count == 4 && origin.requests.count == 3)
    }

    @Test("pages that form a loop, or lead to another server, are an error")
    func badLinks() async throws {
        let other = try server(["/films": list(film("z"))])
        for (link, text) in [
            ("/films?limit=1000#x", "form a loop"),
            (other.url("/films").absoluteString, "on another server"),
            ("file:///etc/passwd", "on another server"),
        ] {
            let origin = try server(["/films?limit=1000": list(film("a"), next: link)])
            let run = try await run(origin, "/films", "list")
            #expect(run.status == 2 && run.errorText.contains(text), "\(run.errorText)")
        }
        #expect(other.requests.count == 0)
    }

    @Test("prewarm fetches the posters of all pages")
    func prewarm() async throws {
        let origin = try server([
            "/films?limit=1000": list(film("a"), next: "?after=a"), "/films?after=a": list(film("b")),
        ])
        _ = try await run(origin, "/films", "prewarm")
        #expect(Set(targets(origin)).isSuperset(of: ["/a.png", "/b.png"]))
    }

    @Test("show queries a service for the film, then for titles, and for all films only to suggest one")
    func show() async throws {
        let origin = try server([
            "/films/a": FilmServer.response("200 OK", film("a")),
            "/films?limit=1000&q=film%20b": list(film("b"), film("bb")),
            "/films?limit=1000&q=film%20x": list(),
            "/films?limit=1000": list(film("a"), film("b"), film("bb")),
        ])
        let one = try await run(origin, "/films", "show", "a", "--json")
        let shown = try JSON.object(one.text)
        #expect(shown["title"] as? String == "Film a")
        #expect(shown["poster"] as? String == origin.url("/films/a.png").absoluteString)
        #expect(targets(origin).first == "/films/a")
        let titled = try await run(origin, "/films", "show", "film b", "--json")
        #expect(try JSON.object(titled.text)["id"] as? String == "b")
        #expect(!targets(origin).contains("/films?limit=1000"))
        let none = try await run(origin, "/films", "show", "film x")
        #expect(none.status == 2 && none.errorText.contains("did you mean"))
    }
}
