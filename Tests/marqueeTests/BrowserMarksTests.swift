import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// A person's marks in the browser, and the films that are selected together.
@Suite("Marks in the browser", .bounded, .ownThread)
struct BrowserMarksTests {
    private let home: TemporaryFolder

    init() throws {
        home = try TemporaryFolder()
        let films = (0..<6).map {
            #"{"id":"f\#($0)","title":"Film \#($0)","year":\#(1920 + $0),"score":\#($0)}"#
        }
        try home.write("{\"movies\":[\(films.joined(separator: ","))]}", to: "films.json")
    }

    private func started(
        _ catalogue: String? = nil, film: String = "Film 2", credentials: String? = nil, player: String = "",
        data: String? = nil
    ) throws -> PseudoTerminal {
        var environment = [
            "COLORTERM": "truecolor", "XDG_CACHE_HOME": home.path, "XDG_DATA_HOME": data ?? home.file("data"),
            "MARQUEE": BuiltProgram.path("marquee"), "FOLDER": home.path, "PATH": "/usr/bin:/bin",
        ]
        environment["MARQUEE_CREDENTIALS"] = credentials
        environment["MARQUEE_PLAYER"] = player
        let terminal = try PseudoTerminal(
            "/bin/sh",
            [
                "-c", "cd \"$FOLDER\" && exec \"$MARQUEE\" --graphics none --timeout 600 --catalogue \"$1\"",
                "sh",
                catalogue ?? "films.json",
            ], environment: environment, columns: 100)
        try #require(terminal.waits { $0.row(containing: film) != nil }, "\(terminal.screen.rows)")
        return terminal
    }

    private func shows(_ terminal: PseudoTerminal, _ text: String) -> Bool {
        let isShown = terminal.waits { $0.row(containing: text) != nil }
        if !isShown { Issue.record("\(text) is not in \(terminal.screen.rows)") }
        return isShown
    }

    /// Waits for what happens outside the terminal, and reads its output meanwhile.
    private func wait(_ terminal: PseudoTerminal, until isReached: () -> Bool) {
        while !isReached() { _ = terminal.waits(seconds: 0.02) { _ in isReached() } }
    }

    /// Marks the first film, and lets marks be sent to the server.
    private func agree(_ terminal: PseudoTerminal, _ server: SourceServer) {
        terminal.type("w")
        #expect(shows(terminal, "to the films' server too?"))
        terminal.type("y")
        wait(terminal) { server.marked("UserPlayedItems") == ["f0"] }
    }

    @Test("marks are set with keys, undone, kept for the next run, and found by the filter")
    func keys() throws {
        let first = try started()
        first.type("w")
        #expect(shows(first, "Seen: Film 0; u undoes it") && shows(first, "✓ Film 0"))
        first.type("jf")
        #expect(shows(first, "♥ Film 1"))
        first.type("jt8")
        #expect(shows(first, "▸ Film 2") && shows(first, "Your rating 8: Film 2"))
        first.type("jwu")
        #expect(shows(first, "Undone: Film 3"))
        // The mark that is set last is stored too, however soon the browser ends.
        first.quit("jw\u{3}")
        let second = try started()
        #expect(shows(second, "✓ Film 0") && shows(second, "♥ Film 1") && shows(second, "▸ Film 2"))
        #expect(shows(second, "✓ Film 4"))
        #expect(second.screen.row(containing: "✓ Film 3") == nil)
        try second.type("/is:seen\r") { $0.text(ofRow: 0).contains("1/2") }
        try second.type("\u{1B}") { $0.text(ofRow: 0).contains("/6") }
        second.type("/is:blue\r")
        #expect(shows(second, "is: needs seen, unseen"))
        try second.type("\u{1B}") { !$0.text(ofRow: 0).contains("is:blue") }
        second.type("ssssg")
        #expect(shows(second, "by your rating"))
        #expect(second.waits { $0.text(ofRow: 2).contains("▸ Film 2") }, "\(second.screen.rows)")
        second.type("\r")
        #expect(shows(second, "Yours") && shows(second, "to watch"))
        second.quit("\u{3}")
    }

    @Test("a mark that cannot be kept is set for this run, and a message says so")
    func unkept() throws {
        let terminal = try started(data: "/dev/null/data")
        terminal.type("w")
        #expect(shows(terminal, "The mark is not kept beyond this run: ") && shows(terminal, "✓ Film 0"))
        terminal.quit("\u{3}")
    }

    @Test("films that are selected together are marked, saved and undone together")
    func selection() throws {
        let terminal = try started()
        terminal.type("  w")
        #expect(shows(terminal, "Seen: 2 films; u undoes it") && shows(terminal, "2 selected"))
        #expect(shows(terminal, "● ✓ Film 0") && shows(terminal, "● ✓ Film 1"))
        terminal.type("e")
        #expect(shows(terminal, "2 films saved as"))
        let saved = try JSON.object(String(contentsOfFile: home.file("films-2.json"), encoding: .utf8))
        #expect((saved["movies"] as? [[String: Any]])?.map { $0["id"] as? String } == ["f0", "f1"])
        terminal.type("u")
        #expect(shows(terminal, "Undone: 2 films"))
        terminal.type("A")
        #expect(shows(terminal, "6 selected"))
        try terminal.type("\u{1B}") { !$0.text(ofRow: 0).contains("selected") }
        terminal.quit("\u{3}")
    }

    @Test("marks reach a Jellyfin server after one question, and its own marks are shown")
    func server() throws {
        let server = try SourceServer(films: 5, token: "c4n4ry")
        server.mark("UserFavoriteItems", "f3")
        let credentials = "\(server.place) Bearer c4n4ry"
        let terminal = try started(server.jellyfin, credentials: credentials)
        #expect(shows(terminal, "♥ Film 3"))
        agree(terminal, server)
        terminal.type("jjjf")
        wait(terminal) { server.marked("UserFavoriteItems").isEmpty }
        terminal.type("e")
        #expect(shows(terminal, "1 film saved as"))
        let saved = try JSON.object(String(contentsOfFile: home.file("films-2.json"), encoding: .utf8))
        let film = try #require((saved["movies"] as? [[String: Any]])?.first)
        #expect((film["ids"] as? [String: String]) == ["imdb": "tt3"])
        terminal.type("jt5")
        #expect(shows(terminal, "Your rating 5: Film 4"))
        terminal.quit("\u{3}")
        #expect(server.changes == ["POST /UserPlayedItems/f0", "DELETE /UserFavoriteItems/f3"])
        let output = String(decoding: terminal.output, as: UTF8.self)
        #expect(!output.contains("c4n4ry"))
        let files = FileManager.default.subpaths(atPath: home.file("data")) ?? []
        #expect(files.contains("marquee/marks.db"))
        for file in files {
            let bytes = FileManager.default.contents(atPath: home.file("data/" + file)) ?? Data()
            #expect(bytes.firstRange(of: Data("c4n4ry".utf8)) == nil, "\(file)")
        }
    }

    @Test("a mark that is set while the server is away reaches it later, once")
    func away() throws {
        let server = try SourceServer(films: 5)
        let first = try started(server.jellyfin)
        agree(first, server)
        server.fail(.answer("SSH-2.0-x\r\n\r\n"))
        first.type("jw")
        #expect(shows(first, "1 mark waits for jellyfin+http"))
        first.type("jw")
        #expect(shows(first, "2 marks wait for"))
        first.quit("\u{3}")
        #expect(server.marked("UserPlayedItems") == ["f0"])
        server.fail(.none)
        let before = server.changes.count
        let second = try started(server.jellyfin)
        #expect(shows(second, "✓ Film 1") && shows(second, "✓ Film 2"))
        wait(second) { server.marked("UserPlayedItems") == ["f0", "f1", "f2"] }
        second.quit("\u{3}")
        #expect(
            server.changes.dropFirst(before).sorted() == [
                "POST /UserPlayedItems/f1", "POST /UserPlayedItems/f2",
            ])
    }

    @Test("a person who says no keeps the marks, and is not asked again")
    func refusal() throws {
        let server = try SourceServer(films: 5)
        let terminal = try started(server.jellyfin)
        terminal.type("w")
        #expect(shows(terminal, "to the films' server too?"))
        terminal.type("n")
        #expect(shows(terminal, "Marks stay here"))
        terminal.type("jw")
        #expect(shows(terminal, "✓ Film 1"))
        terminal.type("?")
        #expect(shows(terminal, "mark as seen"))
        terminal.quit("\u{3}")
        #expect(server.changes.isEmpty)
    }

    @Test("a mark that the server does not take stays, whatever the server says of the film")
    func refusedMark() throws {
        let server = try SourceServer(films: 5)
        let terminal = try started(server.jellyfin)
        agree(terminal, server)
        server.fail(.refusedMarks)
        terminal.type("jw")
        #expect(shows(terminal, "does not take the mark, which stays here"))
        terminal.type("R")
        #expect(shows(terminal, "Refreshed: nothing has changed") && shows(terminal, "✓ Film 1"))
        terminal.quit("\u{3}")
        let second = try started(server.jellyfin)
        #expect(shows(second, "✓ Film 1"))
        second.quit("\u{3}")
    }

    @Test("browsers that mark at once lose no mark")
    func several() throws {
        let browsers = try (0..<3).map { browser in
            let films = (0..<60).map { #"{"id":"\#($0)","title":"Film \#(browser)-\#($0)"}"# }
            try home.write("{\"movies\":[\(films.joined(separator: ","))]}", to: "\(browser).json")
            return try started("\(browser).json", film: "Film \(browser)-2")
        }
        for browser in browsers { browser.type(String(repeating: "wj", count: 60)) }
        for browser in browsers {
            #expect(shows(browser, "✓ Film"))
            browser.type("\u{3}")
        }
        for browser in browsers { #expect(browser.waitForEnd() == .exited(0)) }
        for number in 0..<3 {
            let browser = try started("\(number).json", film: "Film \(number)-2")
            try browser.type("/is:seen\r") { $0.text(ofRow: 0).contains("1/60") }
            browser.quit("\u{3}")
        }
    }

    @Test("Enter plays a film of Jellyfin, and no argument of the player has the credential")
    func playing() throws {
        let server = try SourceServer(films: 3, token: "c4n4ry")
        let player = """
            #!/bin/sh
            echo "$* $MARQUEE_CREDENTIALS." > "$FOLDER/played"
            read -r line
            """
        try home.write(program: player, to: "player")
        let terminal = try started(
            server.jellyfin, credentials: "\(server.place) Bearer c4n4ry", player: home.file("player"))
        terminal.type("\r")
        #expect(shows(terminal, "Enter plays it"))
        terminal.type("\r")
        #expect(shows(terminal, "player plays http"))
        // The player waits for a line. Until it has ended, Ctrl-C would be for it.
        terminal.type("\n")
        #expect(shows(terminal, "Enter plays it"))
        terminal.quit("\u{3}")
        let played = try String(contentsOfFile: home.file("played"), encoding: .utf8)
        #expect(played == "http://\(server.place)/Videos/f0/stream?static=true .\n")
    }

    @Test("where marks cannot be kept, the browser says so and goes on")
    func unwritable() throws {
        try home.write("", to: "data")
        let terminal = try started()
        terminal.type("w")
        #expect(shows(terminal, "The mark is not kept"))
        terminal.quit("\u{3}")
    }

    @Test("pages of an endless list load as one scrolls, and Enter searches at the server")
    func endless() throws {
        let server = try SourceServer(films: 400)
        let terminal = try started(server.tmdb("popular"))
        #expect(terminal.waits { $0.text(ofRow: 0).contains("1/40+") }, "\(terminal.screen.rows)")
        #expect(!server.targets.contains { $0.contains("popular?page=3") })
        terminal.type("G")
        wait(terminal) { server.targets.contains { $0.contains("popular?page=4") } }
        #expect(terminal.waits { $0.text(ofRow: 0).contains("40/80+") }, "\(terminal.screen.rows)")
        for films in [120, 160] {
            try terminal.type("G") { $0.text(ofRow: 0).contains("/\(films)+") }
        }
        terminal.type("/film 7\r")
        wait(terminal) { server.targets.contains { $0.contains("/search/movie?query=film%207") } }
        #expect(
            terminal.waits { $0.text(ofRow: 0).contains("film 7 ") && $0.text(ofRow: 0).contains("1/40+") })
        try terminal.type("\u{1B}") {
            $0.text(ofRow: 0).contains("Films") && $0.text(ofRow: 0).contains("/40+")
        }
        terminal.quit("\u{3}")
    }

    @Test("the films that are opened and marked in one run share connections to their server")
    func connections() throws {
        let tmdb = try SourceServer(films: 6)
        let first = try started(tmdb.tmdb("popular"))
        first.type("\r")
        for film in 0..<6 {
            wait(first) { tmdb.targets.contains { $0.hasPrefix("/3/movie/\(film)?") } }
            first.type("n")
        }
        first.quit("\u{3}")
        // Two requests at once begin the list, and one that comes before an answer has ended may need another.
        #expect(tmdb.origin.connections.count <= 4)

        let jellyfin = try SourceServer(films: 5)
        let second = try started(jellyfin.jellyfin)
        agree(second, jellyfin)
        for film in 1..<5 {
            second.type("jw")
            wait(second) { jellyfin.marked("UserPlayedItems").contains("f\(film)") }
        }
        second.quit("\u{3}")
        #expect(jellyfin.origin.connections.count <= 3)
    }

    @Test("a film keeps what only its own page has when more pages of its list come")
    func completedFilm() throws {
        let server = try SourceServer(films: 400)
        let terminal = try started(server.tmdb("popular"))
        // The end of the list is where its second page ends.
        #expect(terminal.waits { $0.text(ofRow: 0).contains("1/40+") }, "\(terminal.screen.rows)")
        terminal.type("\r")
        #expect(shows(terminal, "Anna Director"))
        try terminal.type("qG") { $0.text(ofRow: 0).contains("40/80+") }
        terminal.type("g\r")
        #expect(shows(terminal, "Film 0") && shows(terminal, "certified by TMDB"))
        #expect(terminal.screen.row(containing: "Anna Director") != nil, "\(terminal.screen.rows)")
        #expect(server.targets.filter { $0.hasPrefix("/3/movie/0?") }.count == 1)
        terminal.quit("\u{3}")
    }

    @Test("a film's own page that the server refused is asked for when the film is opened again")
    func refusedPage() throws {
        let server = try SourceServer(films: 3)
        let terminal = try started(server.tmdb("popular"))
        server.fail(.first(FilmServer.response("403 Forbidden")))
        terminal.type("\r")
        wait(terminal) { server.targets.contains { $0.hasPrefix("/3/movie/0?") } }
        terminal.type("q\r")
        #expect(shows(terminal, "Anna Director"))
        terminal.quit("\u{3}")
    }

    @Test("pages that came before one that failed are kept, and that one is asked for again")
    func failedPage() throws {
        let server = try SourceServer(films: 400)
        server.fail(.missingPage(4))
        let terminal = try started(server.tmdb("popular"))
        #expect(terminal.waits { $0.text(ofRow: 0).contains("1/40+") }, "\(terminal.screen.rows)")
        try terminal.type("G") { $0.text(ofRow: 0).contains("40/60+") }
        #expect(server.targets.filter { $0.contains("popular?page=3") }.count == 1)
        terminal.type("G")
        #expect(shows(terminal, "the server has no such list"))
        server.fail(.none)
        try terminal.type("R") { $0.text(ofRow: 0).contains("/60+") || $0.text(ofRow: 0).contains("/80+") }
        try terminal.type("G") { $0.text(ofRow: 0).contains("/80+") || $0.text(ofRow: 0).contains("/100+") }
        terminal.quit("\u{3}")
    }

    @Test("keys and colours come from the configuration file")
    func configuration() throws {
        try home.write(
            "key-seen = m\nkey-quit = ctrl-x F10\ncolor-marks = #ff8000\n", to: "config/marquee/config")
        let terminal = try PseudoTerminal.browser(
            ["--graphics", "none", "--catalogue", home.file("films.json")], in: home,
            environment: ["XDG_DATA_HOME": home.file("data"), "XDG_CONFIG_HOME": home.file("config")],
            showing: "Film 2")
        terminal.type("wqm")
        #expect(shows(terminal, "✓ Film 0"))
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("38;2;255;128;0"))
        terminal.type("?")
        #expect(shows(terminal, "ctrl-x F10 "))
        #expect(shows(terminal, "m f t"))
        try terminal.type("\u{1B}") { $0.row(containing: "back from a page") == nil }
        terminal.quit("\u{18}")
    }
}
