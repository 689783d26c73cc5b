import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("A list of films in CSV on the command line", .bounded)
struct CSVProgramTests {
    private let home: TemporaryFolder
    private let environment: [String: String]
    private let ratings: String

    init() throws {
        home = try TemporaryFolder()
        environment = ["XDG_CACHE_HOME": home.path, "XDG_DATA_HOME": home.file("data")]
        ratings = try home.write(
            """
            Date,Name,Year,Letterboxd URI,Rating
            2024-10-31,Nosferatu,1922,https://boxd.it/29Xo,4.5
            2024-11-01,"Sunrise: A Song of Two Humans",1927,https://boxd.it/2aLk,
            2024-11-02,,1926,https://boxd.it/1XyZ,5

            """, to: "ratings.csv")
    }

    private func run(_ words: String...) async throws -> Program.Outcome {
        try await Program.run(words, environment: environment)
    }

    @Test("its films are listed with the person's marks, found and shown, and a wrong row is a warning")
    func listing() async throws {
        let list = try await run("list", "--plain", "--catalogue", ratings)
        #expect(list.status == 0 && list.lines.count == 2)
        #expect(
            list.errorLines == [
                "marquee: \(ratings): line 4: film 3 (\"https://boxd.it/1XyZ\") has no title; every film needs one; it is left out"
            ])
        let rated = try await run("list", "--json", "--search", "is:rated", "--catalogue", ratings)
        let film = try #require(try JSON.array(rated.text).first)
        #expect(
            film["id"] as? String == "nosferatu-1922" && film["page"] as? String == "https://boxd.it/29Xo")
        let show = try await run("show", "sunrise", "--json", "--catalogue", ratings)
        #expect(try JSON.object(show.text)["year"] as? Int == 1927, "\(show.errorText)")
        // The content says what it is, whatever the name.
        try FileManager.default.copyItem(atPath: ratings, toPath: home.file("export"))
        #expect(try await run("list", "--plain", "--catalogue", home.file("export")).lines.count == 2)
    }

    @Test("standard input may be such a list, and a prewarm says that it names no posters")
    func input() async throws {
        let text = try String(contentsOfFile: ratings, encoding: .utf8)
        let list = try await Program.run(
            ["list", "--plain", "--catalogue", "-"], input: text, environment: environment)
        #expect(list.status == 0 && list.lines.count == 2, "\(list.errorText)")
        let prewarm = try await run("prewarm", ratings)
        #expect(
            prewarm.status == 2 && prewarm.errorText.contains("there is nothing to prewarm"),
            "\(prewarm.errorText)")
    }

    @Test("it is imported, joined with another source for what it lacks, and exported")
    func importing() async throws {
        try home.write(SampleImages.png, to: "Films/Nosferatu (1922)/poster.png")
        try home.write(
            "<movie><title>Nosferatu</title><year>1922</year></movie>", to: "Films/Nosferatu (1922)/movie.nfo"
        )
        let library = home.file("films.db")
        let imported = try await run("import", ratings, library, "--join", home.file("Films"))
        #expect(imported.status == 1, "\(imported.errorText)")
        #expect(imported.lines == ["\(library): 2 films added, 1 left out; 1 poster stored"])
        #expect(imported.errorText.contains("1 film has marks of yours, which a library does not keep"))
        #expect(
            imported.errorText.contains(
                "line 4: film 3 (\"https://boxd.it/1XyZ\") has no title; every film needs one; it is left out"
            ))
        let exported = try await run("export", ratings)
        let films = try #require(try JSON.object(exported.text)["movies"] as? [[String: Any]])
        #expect(films.map { $0["id"] as? String } == ["nosferatu-1922", "sunrise-a-song-of-two-humans-1927"])
        let other = try await run("import", home.file("Films"), home.file("b.db"), "--join", ratings)
        #expect(other.status == 0, "\(other.errorText)")
        let joined = try await run("list", "--json", "--catalogue", home.file("b.db"))
        #expect(try JSON.array(joined.text).first?["page"] as? String == "https://boxd.it/29Xo")
        let itself = try await run("import", ratings, ratings)
        #expect(itself.status == 2 && itself.errorText.contains("name another library"))
    }

    @Test("it is browsed, and its marks are shown")
    func browsing() throws {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["--graphics", "none", ratings],
            environment: environment.merging(["COLORTERM": "truecolor"]) { $1 }, columns: 100)
        #expect(terminal.waits { $0.row(containing: "✓ Nosferatu") != nil }, "\(terminal.screen.rows)")
        try terminal.type("/is:unseen\r") { $0.text(ofRow: 0).contains("1/1") }
        #expect(terminal.screen.row(containing: "Sunrise") != nil)
        terminal.quit("\u{3}")
    }

    @Test("what cannot be done with it is one line that says what to do")
    func refusals() async throws {
        let titles = try home.write("Titel;Jahr\nFaust;1926\n", to: "semicolons.csv")
        let needed =
            "marquee: \(titles): line 1: expected columns between commas, one of them called title or name"
        for words in [
            ["list", "--catalogue", titles], ["import", titles, home.file("a.db")], ["export", titles],
        ] {
            let outcome = try await Program.run(words, environment: environment)
            #expect(outcome.status == 2 && outcome.errorLines == [needed], "\(words): \(outcome.errorText)")
        }
        let serve = try await run("serve", ratings)
        let advice = "import it, and serve that: marquee import \(ratings) LIBRARY.db"
        #expect(
            serve.status == 2 && serve.errorLines == ["marquee: \(ratings): \(advice)"], "\(serve.errorText)")
        let add = try await run("add", "--title", "Faust", "--catalogue", ratings)
        #expect(
            add.status == 2 && add.errorText.contains("marquee import \(ratings) films.db"),
            "\(add.errorText)")
        let absent = try await run("list", "--catalogue", home.file("absent.csv"))
        #expect(
            absent.status == 2 && absent.errorText.contains("there is no such file"), "\(absent.errorText)")
        let picture = try home.write(SampleImages.png, to: "a.csv")
        let shown = try await run("import", picture, home.file("a.db"))
        #expect(shown.errorText.contains("it is a picture, not a list of films"), "\(shown.errorText)")
    }
}
