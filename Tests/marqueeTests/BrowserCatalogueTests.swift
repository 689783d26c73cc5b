import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// The browser while its catalogue loads, and when it cannot be loaded.
@Suite("The browser's catalogue", .bounded, .ownThread)
struct BrowserCatalogueTests {
    private typealias Feed = CatalogueServer

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func started(_ catalogue: String, columns: Int = 80, rows: Int = 24) throws -> PseudoTerminal {
        // The server waits for the test, which may be slow on a busy machine.
        try PseudoTerminal(
            BuiltProgram.path("marquee"), ["--catalogue", catalogue, "--timeout", "600"],
            environment: ["COLORTERM": "truecolor", "XDG_CACHE_HOME": folder.path], columns: columns,
            rows: rows)
    }

    private func title(_ terminal: PseudoTerminal, has text: String) -> Bool {
        terminal.waits { $0.text(ofRow: 0).contains(text) }
    }

    /// Messages are in the two rows above the status line.
    private func status(_ terminal: PseudoTerminal, has text: String) -> Bool {
        terminal.waits { screen in
            (2...3).contains { screen.text(ofRow: screen.size.rows - $0).hasPrefix("  " + text) }
        }
    }

    @Test("the first frame appears before the server answers, and keys work")
    func loading() throws {
        let gate = Gate()
        let feed = try Feed(Feed.film("a"), gate: gate)
        let terminal = try started(feed.catalogue)
        #expect(title(terminal, has: "loading…"))
        #expect(!terminal.settings.isCooked)
        #expect(terminal.waits { $0.row(containing: "Loading \(feed.catalogue)…") != nil })
        // Moving keys do no harm, and cause no second request.
        try terminal.type("jkGgR\r ?") { $0.row(containing: "Esc goes back") != nil }
        terminal.resize(columns: 20, rows: 5)
        #expect(
            terminal.waits { $0.row(containing: "Marquee needs a") == 0 && $0.row(containing: "more") != nil }
        )
        terminal.resize(columns: 90, rows: 20)
        #expect(terminal.waits { $0.row(containing: "Esc goes back") != nil && $0.size.columns == 90 })
        try terminal.type("\u{1B}") { $0.row(containing: "Loading http") != nil }
        gate.open()
        #expect(
            terminal.waits { $0.row(containing: "Film a.") == 2 && !$0.text(ofRow: 0).contains("loading") })
        #expect(feed.origin.requests.count == 1)
        terminal.quit("\u{3}")
    }

    @Test(
        "q, Ctrl-C and SIGTERM end the browser while it waits for the server", arguments: ["q", "\u{3}", ""])
    func quitWhileLoading(key: String) throws {
        let feed = try Feed(Feed.film("a"), gate: Gate())
        let terminal = try started(feed.catalogue)
        try #require(title(terminal, has: "loading…"))
        if key.isEmpty { terminal.send(SIGTERM) } else { terminal.type(key) }
        #expect(terminal.waitForEnd() == .exited(key.isEmpty ? 128 + SIGTERM : 0))
        #expect(terminal.settings == terminal.settingsBefore)
    }

    @Test("without an answer and without cached films the command fails with the error")
    func nothingCached() throws {
        let feed = try Feed()
        feed.disconnect()
        let terminal = try started(feed.catalogue)
        #expect(terminal.waitForEnd() == .exited(2))
        #expect(terminal.screen.row(containing: "marquee: \(feed.catalogue): ") != nil)
        #expect(terminal.settings == terminal.settingsBefore)
    }

    @Test(
        "cached films are shown as out of date; R refreshes, keeps the selection and marks changes")
    func outOfDate() throws {
        let feed = try Feed(Feed.film("a"), Feed.film("b"), Feed.film("c"))
        let first = try started(feed.catalogue)
        try #require(title(first, has: "1/3"))
        first.quit("\u{3}")
        feed.disconnect()
        let terminal = try started(feed.catalogue)
        #expect(title(terminal, has: "out of date, "))
        #expect(terminal.screen.row(containing: "Film a.") == 2)
        #expect(status(terminal, has: "Out of date: the connection was lost"))
        terminal.type("jj")
        #expect(title(terminal, has: "3/3"))
        // A failed refresh keeps all films.
        terminal.type("R")
        #expect(status(terminal, has: "Out of date: the connection was lost"))
        #expect(terminal.waits { $0.text(ofRow: 0).contains("3/3") && $0.row(containing: "Film b.") != nil })
        feed.setFilms([Feed.film("new"), Feed.film("b", score: 9), Feed.film("c")])
        terminal.type("R")
        #expect(status(terminal, has: "Refreshed: 1 new (+), 1 changed (~), 1 gone"))
        #expect(terminal.waits { !$0.text(ofRow: 0).contains("out of date") })
        #expect(title(terminal, has: "3/3"))
        try terminal.type("g") {
            $0.row(containing: "+ Film new.") == 2 && $0.row(containing: "~ Film b.") != nil
        }
        #expect(terminal.screen.row(containing: "Film a.") == nil)
        try terminal.type("\r") { $0.row(containing: "+ new since the refresh") != nil }
        terminal.quit("\u{3}")
    }

    @Test("a folder of films is read again when it changes, and the new film is marked")
    func watchedFolder() throws {
        func add(_ name: String) throws {
            try folder.write("", to: "Films/\(name)/film.mkv")
        }
        try add("Faust (1926)")
        let terminal = try started(folder.file("Films"))
        #expect(terminal.waits { $0.row(containing: "Faust") != nil })
        // The watch begins beside the browser: a change before it is not seen, so there are several.
        for number in 1...20 {
            try add("Film \(number) (1927)")
            if terminal.waits(seconds: 3, until: { $0.row(containing: "+ Film") != nil }) { break }
        }
        #expect(terminal.waits { $0.row(containing: "+ Film") != nil })
        terminal.quit("\u{3}")
    }

    @Test("an opened film of TMDB gets what only its own page has, and says whose data it is")
    func completedFilm() throws {
        let server = try SourceServer(films: 3)
        let terminal = try started(server.tmdb("popular"), columns: 100, rows: 40)
        #expect(terminal.waits { $0.row(containing: "Film 0") != nil })
        try terminal.type("\r") { $0.row(containing: "Anna Director") != nil }
        #expect(terminal.waits { $0.row(containing: "certified by TMDB") != nil })
        #expect(server.targets.filter { $0.hasPrefix("/3/movie/0?") }.count == 1)
        terminal.quit("\u{3}")
    }

    @Test("a second R during a refresh does nothing, and the title shows the refresh")
    func secondRefresh() throws {
        let gate = Gate()
        let answers = [Feed.film("a"), Feed.film("b")].map {
            FilmServer.response("200 OK", "{\"movies\":[\($0)]}")
        }
        let origin = try ScriptedOrigin([
            .readHead, .send(answers[0]), .readHead, .wait(gate), .send(answers[1]), .awaitClose,
        ])
        let terminal = try started(origin.url("/films.json").absoluteString)
        try #require(title(terminal, has: "1/1"))
        terminal.type("RRR")
        #expect(title(terminal, has: "refreshing…"))
        try terminal.type("R?") { $0.row(containing: "Esc goes back") != nil }
        terminal.type(" ")
        // A key removes the message of the refresh, so this one must come before it.
        try #require(terminal.waits { $0.row(containing: "Esc goes back") == nil })
        gate.open()
        #expect(status(terminal, has: "Refreshed: 1 new (+), 1 gone"))
        terminal.type("s")
        #expect(title(terminal, has: "best first"))
        #expect(origin.requests.count == 2)
        terminal.quit("\u{3}")
    }

    @Test("the first page shows while the rest loads, and the title says when that fails")
    func pages() throws {
        let (second, third) = (Gate(), Gate())
        func page(_ films: String..., next: String? = nil) -> String {
            FilmServer.response(
                "200 OK", "{\"movies\":[\(films.joined(separator: ","))]}",
                fields: next.map { "Link: <\($0)>; rel=\"next\"\r\n" } ?? "")
        }
        let first = page(Feed.film("a"), Feed.film("b"), next: "?2")
        let failure = FilmServer.response("500 Internal Server Error", "{}")
        let middle = page(Feed.film("c"), next: "?3")
        let last = page(Feed.film("d"))
        // The first read finds a second page that leads to a third, which fails; later reads find one that is the last.
        let middlePages = Shared([middle])
        let origin = try ScriptedOrigin([
            .forever([
                .respond { head, _ in
                    switch head.split(separator: " ")[1] {
                    case "/films.json?2":
                        second.wait()
                        return middlePages.change { $0.popLast() } ?? last
                    case "/films.json?3":
                        third.wait()
                        return failure
                    default: return first
                    }
                }
            ])
        ])
        defer { for gate in [second, third] { gate.open() } }
        let terminal = try started(origin.url("/films.json").absoluteString)
        #expect(title(terminal, has: "loading… 2 films so far"))
        #expect(terminal.waits { $0.row(containing: "Film a.") == 2 && $0.text(ofRow: 0).contains("1/2") })
        terminal.type("j")
        #expect(title(terminal, has: "2/2"))
        second.open()
        #expect(title(terminal, has: "loading… 3 films so far"))
        third.open()
        #expect(title(terminal, has: "incomplete"))
        #expect(title(terminal, has: "2/3"))
        #expect(status(terminal, has: "Incomplete: the server answered 500"))
        terminal.type("R")
        #expect(status(terminal, has: "All films are here"))
        #expect(terminal.waits { $0.text(ofRow: 0).contains("2/3") && $0.row(containing: "Film d.") != nil })
        terminal.quit("\u{3}")
    }

    @Test("R reads a file again, in any format, and keeps the films if it cannot be read")
    func file() throws {
        let path = try folder.write("[\(Feed.film("a"))]", to: "films")
        let terminal = try started(path)
        try #require(title(terminal, has: "1/1"))
        try folder.write("[\(Feed.film("a")),", to: "films")
        terminal.type("R")
        #expect(status(terminal, has: "Out of date: line 1"))
        #expect(terminal.screen.row(containing: "Film a.") == 2)
        let xml = "<catalogue name='N'><movie id='x'><title>Film x.</title></movie></catalogue>"
        try folder.write(xml, to: "films")
        try terminal.type("R") {
            $0.row(containing: "+ Film x.") == 2 && $0.row(containing: "Film a.") == nil
        }
        try folder.write("[]", to: "films")
        try terminal.type("R") { $0.row(containing: "The catalogue has no films.") != nil }
        terminal.quit("\u{3}")
    }

    @Test("the status line says why the selected film has no poster")
    func posters() throws {
        let origin = try ScriptedOrigin { _ in
            [
                .forever([
                    .respond { head, _ in
                        head.contains("/404")
                            ? FilmServer.response("404 Not Found")
                            : FilmServer.response("200 OK", "<!doctype html><p>Log in</p>")
                    }
                ])
            ]
        }
        let posters = [
            (
                origin.url("/404").absoluteString,
                "No poster: the server answered 404 (not found); r asks again"
            ),
            (origin.url("/html").absoluteString, "No poster: not an image"),
            ("http://192.0.2.1/a.jpg", "No poster: plain http to 192.0.2.1 is refused"),
            ("http://127.0.0.1:1/a.jpg", "No poster: no connection"),
            ("gopher://x/y", "No poster: gopher://x/y: the scheme gopher is not read"),
            (nil, "No poster: the catalogue names none"),
        ]
        let films = posters.enumerated().map { Feed.film("\($0)", poster: $1.0) }
        try folder.write("[\(films.joined(separator: ","))]", to: "films")
        let terminal = try started(folder.file("films"), columns: 100)
        for (_, text) in posters {
            #expect(status(terminal, has: text), "\(terminal.screen.rows)")
            terminal.type("j")
        }
        terminal.quit("\u{3}")
    }
}
