import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// Playing films and saving posters from a film's page.
@Suite("Playing from the browser", .bounded, .ownThread)
struct BrowserPlayingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let films = """
            [{"id":"a","title":"Faust","year":1926,"poster":"poster.png","media":"-v faust.mkv"},
             {"id":"b","title":"Gone","year":1927,"media":"gone.mkv"},
             {"id":"c","title":"Odd","year":1928,"media":"smb://host/x"}]
            """
        try folder.write(films, to: "films.json")
        try folder.write(SampleImages.png, to: "poster.png")
        try folder.write("", to: "-v faust.mkv")
        let player = """
            #!/bin/sh
            echo "plays $# $*"
            read -r line
            echo "heard $line"
            exit "${line:-7}"
            """
        try folder.write(program: player, to: "player")
    }

    /// The browser as a shell's child, on the first film's page.
    private func started(
        _ words: [String], environment: [String: String] = [:], keys: String = "\r"
    ) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", "cd \"$FOLDER\" && exec \"$MARQUEE\" films.json \"$@\"", "sh"] + words,
            environment: [
                "XDG_CACHE_HOME": folder.path, "COLORTERM": "truecolor", "FOLDER": folder.path,
                "MARQUEE": BuiltProgram.path("marquee"), "PATH": "/usr/bin:/bin",
            ].merging(environment) { $1 },
            // Wide enough for the folder's path, wherever temporary files are.
            columns: 200)
        try #require(terminal.waits { $0.row(containing: "Faust") != nil })
        try terminal.type(keys, until: isBack)
        return terminal
    }

    private func isBack(_ screen: VirtualScreen) -> Bool {
        ["Esc back", "Seen: "].contains { screen.row(containing: $0) != nil }
            && screen.row(containing: "1926") != nil
    }

    @Test("a player gets the terminal as a shell gives it, and the page returns when it ends")
    func play() throws {
        let terminal = try started(["--player", "./player --fs 'a b'"])
        try terminal.type("\r") { $0.row(containing: "plays 3 --fs a b \(folder.path)") != nil }
        #expect(terminal.settings == terminal.settingsBefore && terminal.screen.modes == [7, 25])
        // The player gets every key: the line has all of them.
        try terminal.type("jjq0\u{7F}\u{7F}\u{7F}\u{7F}0\n", until: isBack)
        #expect(!terminal.settings.isCooked)
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("heard 0"))
        #expect(terminal.screen.row(containing: "failed") == nil)
        #expect(terminal.screen.row(containing: "Seen: ") != nil, "it was played to its end")
        terminal.quit("qq")
        #expect(terminal.settings == terminal.settingsBefore)
    }

    @Test("a failed player is reported, one that Ctrl-C ends is not, and the browser survives both")
    func failures() throws {
        let terminal = try started([], environment: ["MARQUEE_PLAYER": folder.file("player")])
        try terminal.type("\r") { $0.row(containing: "plays 1 ") != nil }
        try terminal.type("3\n") { $0.row(containing: "player failed: exit status 3") != nil }
        terminal.type("\r")
        // Below what the first player has left there: a Ctrl-C before the second one has begun would not reach it.
        try #require(
            terminal.waits { $0.rows.count { $0.contains("plays 1 ") } == 2 }, "\(terminal.screen.rows)")
        try terminal.type("\u{3}", until: isBack)
        #expect(terminal.screen.row(containing: "failed") == nil)
        terminal.quit("qq")
    }

    @Test("a missing player is reported, and so is a film that cannot be played")
    func none() throws {
        let missing = try started(["--player", "nonesuch -x"])
        try missing.type("\r") { $0.row(containing: "nonesuch: there is no such program") != nil }
        try missing.type("n\r") { $0.row(containing: "gone.mkv: No such file") != nil }
        try missing.type("n\r") { $0.row(containing: "smb") != nil }
        missing.quit("qq")
        let without = try started([])
        #expect(without.screen.row(containing: "Enter pl") == nil)
        try without.type("\r") { $0.row(containing: "no player: use --player mpv or MARQUEE_PLAYER") != nil }
        without.quit("qq")
    }

    @Test("a signal that ends the browser ends the player too, and restores the terminal")
    func ending() throws {
        let terminal = try started(["--player", "./player"])
        try terminal.type("\r") { $0.row(containing: "plays 1 ") != nil }
        terminal.send(SIGTERM)
        #expect(terminal.waitForEnd() == .exited(128 + SIGTERM))
        #expect(terminal.settings == terminal.settingsBefore && terminal.screen.modes == [7, 25])
    }

    @Test("a command with an unclosed quote is refused before the screen is set up")
    func refused() throws {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["--player", "mpv 'x"], environment: ["XDG_CACHE_HOME": folder.path]
        )
        #expect(terminal.waitForEnd() == .exited(2))
        #expect(terminal.screen.row(containing: "--player: the quote ' is not closed") != nil)
    }

    @Test("y copies the poster's address, and o saves its file once, in the working directory")
    func poster() throws {
        let terminal = try started([])
        try terminal.type("y") {
            $0.row(containing: "Address copied:") != nil && $0.row(containing: "/poster.png") != nil
        }
        let address = "file://" + folder.file("poster.png")
        let copied = "\u{1B}]52;c;" + Data(address.utf8).base64EncodedString() + "\u{1B}\\"
        #expect(String(decoding: terminal.output, as: UTF8.self).contains(copied))
        try folder.write("mine", to: "faust-1926.png")
        try terminal.type("o") { $0.row(containing: "Saved as") != nil }
        let saved = try Data(contentsOf: URL(filePath: folder.file("faust-1926-2.png")))
        #expect(saved == Data(SampleImages.png))
        #expect(try Data(contentsOf: URL(filePath: folder.file("faust-1926.png"))) == Data("mine".utf8))
        try terminal.type("o") { $0.row(containing: "Saved already") != nil }
        try terminal.type("n") { $0.row(containing: "Gone") == 2 }
        try terminal.type("y") { $0.row(containing: "names no poster") != nil }
        terminal.quit("qq")
    }

    /// Presses y on the first film and returns all output.
    private func copying(_ terminal: PseudoTerminal, until notice: String) throws -> String {
        try #require(terminal.waits { $0.text(ofRow: 0).contains("1/") }, "\(terminal.screen.rows)")
        try terminal.type("y") { $0.row(containing: notice) != nil }
        terminal.quit("q")
        return String(decoding: terminal.output, as: UTF8.self)
    }

    @Test("y copies no address that works only within the program, and the real one of a service")
    func addresses() async throws {
        let sample = try SmallSample()
        let ofSample = try copying(sample.started(["--graphics", "blocks"]), until: "Nothing is copied")
        #expect(!ofSample.contains("\u{1B}]52;"))
        let fixture = try Fixture()
        let films = Fixture.films(1) { _ in "poster.png" }
        let source = try fixture.folder.write(films, to: "movies.json")
        let library = fixture.folder.file("films.db")
        try fixture.folder.write(SampleImages.png, to: "poster.png")
        #expect(try await fixture.run("import", source, library).status == 0)
        func browser(_ catalogue: String) throws -> PseudoTerminal {
            try PseudoTerminal(
                BuiltProgram.path("marquee"), ["--graphics", "blocks", "--catalogue", catalogue],
                environment: fixture.environment)
        }
        let ofLibrary = try copying(browser(library), until: "Nothing is copied")
        #expect(!ofLibrary.contains("\u{1B}]52;"))
        let address = fixture.base + "poster.png"
        let ofService = try copying(
            browser(fixture.base + "movies.json"), until: "Address copied: " + address)
        #expect(ofService.contains("\u{1B}]52;c;" + Data(address.utf8).base64EncodedString()))
    }

    @Test("saving takes the file from the cache, without a second request")
    func cached() throws {
        let fixture = try Fixture()
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", "cd \"$HOME\" && exec \"$MARQUEE\""],
            environment: fixture.environment.merging([
                "COLORTERM": "truecolor", "MARQUEE": BuiltProgram.path("marquee"),
            ]) { $1 }, columns: 80)
        try #require(
            terminal.waits { $0.row(containing: "Film 6") != nil || $0.row(containing: "Film 5") != nil })
        terminal.type("i")
        // Nothing is loading before the first load, either. The catalogue and six posters are seven requests.
        try #require(
            terminal.waits {
                $0.row(containing: " 0 loading ") != nil && fixture.service.statistics.requests >= 7
            })
        let requests = fixture.service.statistics.requests
        try terminal.type("\r") { $0.row(containing: "About 1.") != nil }
        try terminal.type("o") { $0.row(containing: "Saved as") != nil }
        #expect(try Data(contentsOf: URL(filePath: fixture.home.file("film-1-1911.png"))) == Fixture.pixel)
        terminal.quit("qq")
        #expect(fixture.service.statistics.requests == requests)
    }

    @Test("--graphics none has no frames and loads no posters, in the list and on a page")
    func textOnly() throws {
        let fixture = try Fixture()
        for columns in [80, 200] {
            let terminal = try PseudoTerminal.browser(
                ["--graphics", "none"], in: fixture.home, environment: fixture.environment, columns: columns,
                showing: "Film 4")
            #expect(terminal.screen.rows.contains { $0.hasPrefix("▌ Film 1") })
            #expect(terminal.screen.row(containing: "╭") == nil)
            try terminal.type("G\r") {
                $0.row(containing: "About 6.") != nil && $0.row(containing: "Previous") != nil
            }
            #expect(
                terminal.screen.row(containing: "╭") == nil
                    && terminal.screen.row(containing: "No poster") == nil)
            terminal.quit("qq")
        }
        // The catalogue, and perhaps its revalidation.
        #expect(fixture.posterRequests(catalogueReads: 2) <= 0)
    }
}
