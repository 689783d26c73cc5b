import FoundationEssentials
import Glibc
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

    // MARK: Feeds

    /// A page of an Atom feed with one entry for each id.
    private func feed(_ ids: String..., next: String? = nil) -> String {
        let entries = ids.map { id in
            "<entry><id>\(id)</id><title>Film \(id)</title><link href='pages/\(id).html'/>"
                + "<m:group><m:thumbnail url='\(id).png'/></m:group></entry>"
        }
        return "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:m='http://search.yahoo.com/mrss/'>"
            + entries.joined() + (next.map { "<link rel='next' href='\($0)'/>" } ?? "") + "</feed>"
    }

    @Test("all pages of a feed are listed, shown and imported, by the links in the feed")
    func feedPages() async throws {
        let origin = try server([
            "/feeds/top_rated": FilmServer.response(
                "200 OK", feed("a", "b", next: "deep/top_rated?start=3&amp;max=2")),
            "/feeds/deep/top_rated?start=3&max=2": FilmServer.response("200 OK", feed("b", "c")),
        ])
        let listed = try await run(origin, "/feeds/top_rated", "list", "--json")
        let films = try JSON.array(listed.text)
        try #require(films.map { $0["id"] as? String } == ["a", "b", "c"], "\(listed.errorText)")
        // Each address is relative to its own page.
        #expect(films[0]["poster"] as? String == origin.url("/feeds/a.png").absoluteString)
        #expect(films[2]["poster"] as? String == origin.url("/feeds/deep/c.png").absoluteString)
        #expect(films[2]["page"] as? String == origin.url("/feeds/deep/pages/c.html").absoluteString)
        #expect(targets(origin) == ["/feeds/top_rated", "/feeds/deep/top_rated?start=3&max=2"])
        let offline = try await run(origin, "/feeds/top_rated", "list", "--json", "--offline")
        #expect(try JSON.array(offline.text).count == 3 && origin.requests.count == 2)
        let shown = try await run(origin, "/feeds/top_rated", "show", "c", "--json")
        #expect(try JSON.object(shown.text)["title"] as? String == "Film c")
        // An import leaves out the second of two films with one id, and says so by its status.
        let library = home.file("films.db")
        let imported = try await Program.run(
            ["import", origin.url("/feeds/top_rated").absoluteString, library],
            environment: ["XDG_CACHE_HOME": home.path])
        #expect(imported.lines == ["\(library): 3 films added, 1 left out"], "\(imported.errorText)")
        let kept = try await Program.run(["list", "--json", "--catalogue", library])
        #expect(try JSON.array(kept.text).map { $0["id"] as? String } == ["a", "b", "c"])
    }

    @Test("the link of a feed to a page already read, or to another server, ends the reading")
    func lastFeedLinks() async throws {
        for (link, note) in [
            ("", ""), ("top", ""), ("#x", ""),
            ("https://films.example/top", "another server, https://films.example/top;"),
        ] {
            let origin = try server(["/top": FilmServer.response("200 OK", feed("a", next: link))])
            let run = try await run(origin, "/top", "list", "--plain")
            #expect(run.status == 0 && run.lines.count == 1, "\(run.errorText)")
            #expect(run.errorLines.count == (note.isEmpty ? 0 : 1))
            #expect(note.isEmpty || run.errorText.contains(note), "\(run.errorText)")
            #expect(origin.requests.count == 1)
        }
    }

    @Test("a feed in a file is listed and served; its next page is named, and not read")
    func feedFile() async throws {
        let origin = try server(["/2": FilmServer.response("200 OK", feed("b"))])
        let next = origin.url("/2").absoluteString
        let file = try home.write(feed("http://films.example/a", next: next), to: "feed.xml")
        let listed = try await Program.run(["list", "--plain", "--catalogue", file])
        #expect(listed.lines.count == 1 && listed.status == 0)
        #expect(listed.errorLines.count == 1 && listed.errorText.contains("the feed goes on at \(next);"))
        let server = try Program(["serve", file, "--quiet"])
        let root = try #require(await server.nextLine())
        // The file itself, and the service's list.
        for address in [root, root + "films"] {
            let served = try await Program.run(
                ["list", "--json", "--catalogue", address], environment: ["XDG_CACHE_HOME": home.path])
            let films = try JSON.array(served.text)
            #expect(
                films.map { $0["title"] as? String } == ["Film http://films.example/a"], "\(served.errorText)"
            )
            #expect(
                films.first?["page"] as? String == root + "pages/http://films.example/a.html")
        }
        #expect(await server.end(SIGTERM).status == 0)
        #expect(origin.requests.count == 0)
    }

    @Test("the page of a film in a feed is an address relative to the feed")
    func filmPages() async throws {
        let feed =
            "<rss><channel><title>T</title><item><guid>a</guid><title>A</title><link>a.html</link></item>"
            + "</channel></rss>"
        let origin = try server(["/sub/feed.xml": FilmServer.response("200 OK", feed)])
        let list = try await run(origin, "/sub/feed.xml", "list", "--json")
        #expect(
            list.text.contains("\"page\":\"\(origin.url("/sub/a.html").absoluteString)\""), "\(list.text)")
        let library = home.file("f.db")
        let imported = try await Program.run(
            ["import", origin.url("/sub/feed.xml").absoluteString, library],
            environment: ["XDG_CACHE_HOME": home.path])
        #expect(imported.status == 0, "\(imported.errorText)")
        let show = try await Program.run(
            ["list", "--json", "--catalogue", library], environment: ["XDG_CACHE_HOME": home.path])
        #expect(
            show.text.contains("\"page\":\"\(origin.url("/sub/a.html").absoluteString)\""), "\(show.text)")
    }
}
