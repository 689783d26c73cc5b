import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Films of other programs' libraries", .bounded)
struct SourceProgramTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func run(_ words: [String], credentials: String? = nil) async throws -> Program.Outcome {
        var environment = ["XDG_CACHE_HOME": home.path]
        environment["MARQUEE_CREDENTIALS"] = credentials
        return try await Program.run(words, environment: environment)
    }

    private func ids(_ outcome: Program.Outcome) -> [String] {
        outcome.lines.map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("a Jellyfin server's films are listed, all pages")
    func jellyfin() async throws {
        let server = try SourceServer(films: 450)
        let outcome = try await run(["list", "--plain", "--catalogue", server.jellyfin])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(ids(outcome) == (0..<450).map { "f\($0)" })
        let few = try await run([
            "list", "--plain", "--catalogue", server.jellyfin, "--genre", "horror", "--director", "anna",
            "--year",
            "1920", "--limit", "2",
        ])
        #expect(ids(few) == ["f0", "f100"])
    }

    @Test("lists of TMDB are listed with genres, and say whose data it is")
    func tmdb() async throws {
        let server = try SourceServer(films: 45)
        let outcome = try await run(["list", "--catalogue", server.tmdb("popular")])
        #expect(outcome.status == 0 && outcome.lines.count == 45, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("not endorsed or certified by TMDB"))
        #expect(server.targets.contains("/3/movie/popular?page=3"))
        let search = try await run([
            "list", "--plain", "--catalogue", server.tmdb("search?q=Film 1"), "--genre", "horror",
        ])
        #expect(search.lines.count == 45)
        #expect(server.targets.contains { $0.hasPrefix("/3/search/movie?query=Film%201&page=1") })
    }

    @Test(
        "a credential goes to its server, and is in no file, no output and no log",
        arguments: ["c4n4ry-t0ken", "0123456789abcdef0123456789abcdef"])
    func canary(token: String) async throws {
        let server = try SourceServer(films: 21, token: token)
        let credentials = "\(server.place) Bearer \(token)"
        for catalogue in [server.jellyfin, server.tmdb("popular")] {
            let outcome = try await run(
                ["list", "--verbose", "--json", "--catalogue", catalogue], credentials: credentials)
            #expect(outcome.status == 0, "\(outcome.errorText)")
            #expect(try JSON.array(outcome.text).count == 21)
            #expect(!outcome.text.contains(token) && !outcome.errorText.contains(token))
            server.fail(.answer("SSH-2.0-x\r\n\r\n"))
            let away = try await run(
                ["list", "--verbose", "--catalogue", catalogue], credentials: credentials)
            #expect(!away.text.contains(token) && !away.errorText.contains(token), "\(away.errorText)")
            server.fail(.none)
        }
        let prewarm = try await run(
            ["prewarm", "--verbose", "--catalogue", server.jellyfin], credentials: credentials)
        #expect(prewarm.status == 0 && !prewarm.errorText.contains(token), "\(prewarm.errorText)")
        let files = try #require(FileManager.default.subpaths(atPath: home.path))
        var stored = 0
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: home.file(file)) else { continue }
            stored += 1
            #expect(bytes.firstRange(of: Data(token.utf8)) == nil && !file.contains(token), "\(file)")
        }
        #expect(stored > 20)
    }

    @Test("a server that wants a credential, or another, is one line that says what to set")
    func refused() async throws {
        let server = try SourceServer(token: "right")
        let without = try await run(["list", "--catalogue", server.jellyfin])
        #expect(without.status == 2 && without.errorLines.count == 1)
        #expect(without.errorText.contains("wants a credential"))
        #expect(without.errorText.contains("MARQUEE_CREDENTIALS") && without.errorText.contains(server.place))
        let wrong = try await run(
            ["list", "--catalogue", server.jellyfin], credentials: "\(server.place) Bearer wrong")
        #expect(wrong.status == 2 && wrong.errorLines.count == 1 && wrong.errorText.contains("refuses"))
        #expect(!wrong.errorText.contains("wrong"))
        let doctor = try await run(
            ["doctor", "--catalogue", server.jellyfin], credentials: "\(server.place) Bearer wrong")
        #expect(doctor.lines.contains { $0.hasPrefix("problem  server") && $0.contains("refuses") })
        let well = try await run(
            ["doctor", "--catalogue", server.jellyfin], credentials: "\(server.place) Bearer right")
        #expect(
            well.lines.contains {
                $0.hasPrefix("ok       server")
                    && $0.contains("Jellyfin Server 10.10.3 answers, and accepts the token")
            }, "\(well.text)")
    }

    @Test(
        "a Jellyfin's address in place of its name is one line with the name", arguments: ["", "/", "/web/"])
    func plainAddress(path: String) async throws {
        let server = try SourceServer()
        let address = "http://\(server.place)\(path)"
        let message = "\(address): this is a Jellyfin server; write \(server.jellyfin)"
        let list = try await run(["list", "--catalogue", address])
        #expect(list.status == 2 && list.errorText == "marquee: \(message)\n")
        let doctor = try await run(["doctor", "--catalogue", address])
        #expect(doctor.lines.contains { $0.hasPrefix("problem  catalogue") && $0.hasSuffix(message) })
    }

    @Test("films that were loaded are listed while the server is away")
    func away() async throws {
        let server = try SourceServer(films: 250)
        _ = try await run(["list", "--catalogue", server.jellyfin])
        server.fail(.answer("SSH-2.0-x\r\n\r\n"))
        let away = try await run(["list", "--plain", "--catalogue", server.jellyfin])
        #expect(away.status == 1 && away.lines.count == 250)
        #expect(away.errorText.contains("showing the cached films"), "\(away.errorText)")
        let offline = try await run(["list", "--plain", "--offline", "--catalogue", server.jellyfin])
        #expect(offline.status == 0 && offline.lines.count == 250, "\(offline.errorText)")
    }

    @Test("a busy server is asked again, and half a page is an error that names the page")
    func faults() async throws {
        let server = try SourceServer()
        server.fail(
            .first("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 000\r\nContent-Length: 0\r\n\r\n"))
        let busy = try await run(["list", "--plain", "--catalogue", server.jellyfin])
        #expect(busy.status == 0 && ids(busy) == ["f0", "f1", "f2"], "\(busy.errorText)")
        server.fail(.halfPage)
        let half = try await run(["list", "--catalogue", server.jellyfin])
        #expect(half.status == 2 && half.errorLines.count == 1)
        #expect(
            half.errorText.contains("page 1: ") && half.errorText.contains("not JSON"), "\(half.errorText)")
        server.fail(.answer(FilmServer.response("200 OK", "<html><body>Sign in</body></html>")))
        let page = try await run(["list", "--catalogue", server.jellyfin])
        #expect(page.status == 2 && page.errorText.contains("web page"), "\(page.errorText)")
        // Neither has replaced the page before.
        let offline = try await run(["list", "--plain", "--offline", "--catalogue", server.jellyfin])
        #expect(offline.status == 0 && ids(offline) == ["f0", "f1", "f2"], "\(offline.errorText)")
    }

    @Test("a poster is requested at a size that is enough, once, and a film without one makes no request")
    func posters() async throws {
        let server = try SourceServer()
        for _ in 0..<2 {
            let outcome = try await run([
                "show", "f0", "--color", "always", "--size", "20x10", "--catalogue", server.jellyfin,
            ])
            #expect(outcome.status == 0, "\(outcome.errorText)")
        }
        let none = try await run(["show", "f2", "--color", "always", "--catalogue", server.jellyfin])
        #expect(none.status == 0 && none.errorText.contains("has no poster"), "\(none.errorText)")
        let pictures = server.targets.filter { $0.contains("/Images/") }
        #expect(pictures.count == 1 && pictures.allSatisfy { $0.contains("maxWidth=185&") }, "\(pictures)")
    }

    @Test("films of a source and of a folder are imported, with their ids in databases")
    func imports() async throws {
        let server = try SourceServer(films: 201, token: "right")
        let library = home.file("films.db")
        let outcome = try await run(
            ["import", server.jellyfin, library], credentials: "\(server.place) Bearer right")
        #expect(outcome.status == 0 && outcome.text.contains("201 films added"), "\(outcome.errorText)")
        #expect(try await run(["list", "--plain", "--catalogue", library]).lines.count == 201)
        let facts = "<movie><title>Nosferatu</title><uniqueid type=\"imdb\">tt0013442</uniqueid></movie>"
        try home.write(SampleImages.png, to: "Films/Nosferatu (1922)/poster.png")
        try home.write(facts, to: "Films/Nosferatu (1922)/movie.nfo")
        let films = try await run(["import", home.file("Films"), library])
        #expect(
            films.status == 0 && films.text.contains("1 film added; 1 poster stored"), "\(films.errorText)")
        let show = try await run(["show", "nosferatu-1922", "--json", "--catalogue", library])
        #expect(try JSON.object(show.text)["title"] as? String == "Nosferatu", "\(show.errorText)")
    }

    @Test("an import makes addresses whole, and takes no file of this machine from a list on the network")
    func importedAddresses() async throws {
        let secret = try home.write(SampleImages.png, to: "private.png")
        let films = """
            {"movies":[{"id":"a","title":"A","poster":"file://\(secret)","media":"file:///etc/hostname"},
              {"id":"b","title":"B","poster":"b.jpg","media":"b%20b.mkv","page":"b.html"},
              {"id":"c","title":"C","poster":"//\(secret)","media":"\\u00a0file:///etc/hostname"},
              {"id":"d","title":"D","poster":"./x://../../../../../../../..\(secret)","media":"//@/etc/hostname"}]}
            """
        func imported(_ catalogue: String, _ library: String) async throws -> [[String: Any]] {
            let path = home.file(library)
            let outcome = try await run(["import", catalogue, path])
            #expect(outcome.text.contains("4 films added"), "\(outcome.errorText)")
            return try JSON.array(try await run(["list", "--json", "--catalogue", path]).text)
        }
        let server = try ScriptedOrigin([
            .forever([.readHead, .send(FilmServer.response("200 OK", films))])
        ])
        let address = server.url("/films/all.json").absoluteString
        let fetched = try await imported(address, "fetched.db")
        #expect(fetched[0]["poster"] == nil && fetched[0]["media"] == nil)
        let base = server.url("/films/").absoluteString
        #expect(fetched[1]["poster"] as? String == base + "b.jpg")
        #expect(fetched[1]["media"] as? String == base + "b%20b.mkv")
        #expect(fetched[1]["page"] as? String == base + "b.html")
        #expect(fetched[2]["poster"] == nil && fetched[2]["media"] == nil)
        #expect((fetched[3]["poster"] as? String)?.hasPrefix("http://127.0.0.1:") == true)
        #expect(fetched[3]["media"] == nil)
        // Not shown either.
        let shown = try await run(["show", "a", "--json", "--catalogue", address])
        #expect(shown.errorText.contains("cannot name a file of this machine"))

        try home.write(films, to: "list/films.json")
        let local = try await imported(home.file("list/films.json"), "local.db")
        #expect(local[0]["media"] as? String == "file:///etc/hostname")
        #expect(local[1]["media"] as? String == "file://\(home.file("list"))/b%20b.mkv")
        let beside = try await imported(home.file("list/films.json"), "list/films.db")
        #expect(beside[1]["media"] as? String == "b%20b.mkv")
    }

    @Test("the address of a file that is no picture is kept whole in a library that lies elsewhere")
    func keptAddress() async throws {
        try home.write("no picture", to: "list/a.jpg")
        try home.write(#"{"movies":[{"id":"a","title":"A","poster":"a.jpg"}]}"#, to: "list/films.json")
        for (library, poster) in [
            ("films.db", "file://\(home.file("list"))/a.jpg"), ("list/films.db", "a.jpg"),
        ] {
            let path = home.file(library)
            let outcome = try await run(["import", home.file("list/films.json"), path])
            #expect(outcome.errorText.contains("is not a picture; its address is kept"))
            let exported = try await run(["export", path, "--format", "json"])
            let films = try #require(JSON.object(exported.text)["movies"] as? [[String: Any]])
            #expect(films.first?["poster"] as? String == poster)
        }
    }

    @Test("serve hands out a source's films as REST and as pages, and their posters at a size")
    func serve() async throws {
        let server = try SourceServer(films: 205, token: "right")
        let program = try Program(
            [
                "serve", server.jellyfin, "--allow-private", "127.0.0.0/8", "--quiet", "--cache-dir",
                home.file("cache"),
            ],
            environment: [
                "XDG_CACHE_HOME": home.path, "MARQUEE_CREDENTIALS": "\(server.place) Bearer right",
            ])
        let address = try #require(await program.nextLine())
        let films = try await Program.run(["list", "--plain", "--catalogue", address + "films"])
        #expect(films.lines.count == 205, "\(films.errorText)")
        let page = try await Program.run(["fetch", address + "films.html", "-o", "-"])
        #expect(page.text.contains("Film 0"))
        let poster = try await Program.run(["fetch", address + "films/f0/poster/w92", "--json"])
        #expect(poster.status == 0, "\(poster.text)")
        #expect(await program.end(SIGINT).errorText.contains("right") == false)
    }

    @Test("serve hands out cached films while their server is away, and says so by the server's name")
    func serveCached() async throws {
        let server = try SourceServer()
        _ = try await run(["list", "--catalogue", server.jellyfin])
        server.fail(.answer("SSH-2.0-x\r\n\r\n"))
        let program = try Program(
            ["serve", server.jellyfin, "--allow-private", "127.0.0.0/8"],
            environment: ["XDG_CACHE_HOME": home.path])
        let address = try #require(await program.nextLine())
        let films = try await Program.run(["list", "--plain", "--catalogue", address + "films"])
        #expect(films.lines.count == 3, "\(films.errorText)")
        let messages = await program.end(SIGINT).errorText
        #expect(messages.hasPrefix("marquee: \(server.jellyfin): "), "\(messages)")
        #expect(messages.contains("; showing the cached films, ") && !messages.contains("/Items"))
    }

    @Test("serve hands out a folder's films with their posters at a size, and notices a new one")
    func serveFolder() async throws {
        func add(_ name: String) throws {
            try home.write(SampleImages.png, to: "Films/\(name)/poster.png")
            try home.write([1, 2, 3], to: "Films/\(name)/film.mkv")
            try home.write([4], to: "Films/\(name)/notes.txt")
        }
        try add("Faust (1926)")
        let program = try Program(
            ["serve", home.file("Films"), "--quiet", "--cache-dir", home.file("cache")],
            environment: ["XDG_CACHE_HOME": home.path])
        let address = try #require(await program.nextLine())
        func films() async throws -> [String] {
            ids(try await run(["list", "--plain", "--catalogue", address + "films"]))
        }
        #expect(try await films() == ["faust-1926"])
        let poster = try await run(["fetch", address + "films/faust-1926/poster/w92", "--json"])
        #expect(poster.status == 0, "\(poster.text)")
        let media = try await run(["fetch", address + "Faust%20(1926)/film.mkv", "--any-content", "-o", "-"])
        #expect(media.output == [1, 2, 3])
        #expect(
            try await run(["fetch", address + "Faust%20(1926)/notes.txt", "--any-content", "-o", "-"]).status
                == 2)
        try add("Metropolis (1927)")
        for path in ["films/faust-1926", "films/top/5"] {
            let text = try await run(["fetch", address + path, "--any-content", "-o", "-"]).text
            #expect(
                text.contains(#"/Faust%20(1926)/film.mkv""#)
                    || text.contains(#"/Faust%20%281926%29/film.mkv""#), "\(text)")
            #expect(text.contains(#""media":"../"#), "\(text)")
        }
        try await eventually { try await films() == ["faust-1926", "metropolis-1927"] }
        await program.end(SIGINT)
    }

    @Test("what films lack is filled from another catalogue, by an id, else by title and year")
    func joins() async throws {
        try home.write(
            #"""
            {"movies":[{"id":"a","title":"Faust","year":1926,"director":"F. W. Murnau","ids":{"imdb":"tt1"}},
              {"id":"b","title":"Metropolis","year":1927,"score":8.3},
              {"id":"c","title":"Nosferatu","year":1922,"score":7.9,"ids":{"imdb":"tt3","tmdb":"3"}}]}
            """#, to: "other.json")
        try home.write(
            #"""
            {"movies":[{"id":"x","title":"Faust, a German Folktale","score":8,"ids":{"imdb":"tt1"}},
              {"id":"y","title":"metropolis","year":1927},{"id":"z","title":"Metropolis","year":2001},
              {"id":"n","title":"Nosferatu","year":1922,"ids":{"imdb":"tt4","tvdb":"4"}}]}
            """#, to: "films.json")
        let library = home.file("joined.db")
        let outcome = try await run([
            "import", home.file("films.json"), library, "--join", home.file("other.json"),
        ])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let list = try await run(["list", "--json", "--sort", "year", "--catalogue", library])
        let films = try JSON.array(list.text)
        // Two films with different ids are two films, whatever their titles.
        #expect(films.map { $0["id"] as? String } == ["n", "x", "y", "z"] && films[0]["score"] == nil)
        #expect(films[1]["director"] as? String == "F. W. Murnau" && films[1]["score"] as? Double == 8)
        #expect(films[2]["score"] as? Double == 8.3 && films[3]["score"] == nil)
    }

    @Test("a join fills in no address that cannot be read, and no credentials of its list")
    func joinedAddresses() async throws {
        let films = #"{"movies":[{"id":"a","title":"A","poster":"ftp://x/a.jpg","page":"about.html"}]}"#
        let server = try ScriptedOrigin([
            .forever([.readHead, .send(FilmServer.response("200 OK", films))])
        ])
        let address = server.url("/films/all.json").absoluteString
        try home.write(#"{"movies":[{"id":"a","title":"A"}]}"#, to: "films.json")
        let library = home.file("joined.db")
        let outcome = try await run([
            "import", home.file("films.json"), library,
            "--join", address.replacing("http://", with: "http://anna:c4n4ry@"),
        ])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let list = try await run(["list", "--json", "--catalogue", library])
        let film = try #require(try JSON.array(list.text).first)
        #expect(film["poster"] == nil)
        #expect(film["page"] as? String == server.url("/films/about.html").absoluteString)
        #expect(try !Data(contentsOf: URL(filePath: library)).contains(Data("c4n4ry".utf8)))
    }

    @Test(
        "a name of a source that is wrong is one line",
        arguments: ["tmdb:best", "jellyfin+ftp://nas", "jellyfin+https://anna:secret@nas", "tmdb:search"])
    func names(name: String) async throws {
        for words in [["list", "--catalogue", name], ["import", name, home.file("a.db")], ["serve", name]] {
            let outcome = try await run(words)
            #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(words): \(outcome.errorText)")
            #expect(!outcome.errorText.contains("secret"))
        }
    }
}
