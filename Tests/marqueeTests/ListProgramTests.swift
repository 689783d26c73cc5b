import FilmSources
import Films
import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("marquee list and show", .bounded)
struct ListProgramTests {
    @Test("the sample catalogue is listed without any option")
    func sample() async throws {
        let home = try TemporaryFolder()
        let listed = try await Program.run([], environment: ["XDG_CACHE_HOME": home.path])
        #expect(listed.status == 0)
        #expect(listed.lines.count == 36)
        #expect(
            listed.lines.contains {
                $0.hasPrefix("○") && $0.contains("Metropolis") && $0.contains("Fritz Lang")
            })
        #expect(listed.errors.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home.file("marquee")), "listing writes nothing")
    }

    @Test("JSON has every film, and whether its poster is cached")
    func json() async throws {
        let fixture = try Fixture()
        #expect(try await fixture.run("fetch", "film-2").status == 0)
        let listed = try await fixture.run("list", "--json")
        let films = try JSON.array(listed.text)
        #expect(films.map { $0["id"] as? String } == (1...6).map { "film-\($0)" })
        #expect(films.map { $0["cached"] as? Bool } == [false, true, false, false, false, false])
        #expect(films[0]["poster"] as? String == fixture.base + "posters/1.png")
        #expect(films[0]["year"] as? Int == 1911)
        #expect(films[0]["score"] as? Double == 1.5)
        #expect(listed.errors.isEmpty)
    }

    @Test("a person's marks are found by --search, and are in the JSON")
    func marks() async throws {
        let fixture = try Fixture()
        var environment = fixture.environment
        environment["XDG_DATA_HOME"] = fixture.home.file("data")
        func run(_ words: String...) async throws -> Program.Outcome {
            try await Program.run(words, environment: environment)
        }
        #expect(try await run("list", "--search", "is:seen", "--plain").lines == [])
        let store = try MarkStore(path: fixture.home.file("data/marquee/marks.db"))
        try store.set(
            [(1, FilmMark.seen, 1), (2, .seen, 1), (2, .rating, 8), (3, .toWatch, 1)].map {
                film, mark, value in
                .init(key: "film-\(film)-\(1910 + film)", mark: mark, value: value, film: nil)
            }, for: nil, now: 1)
        func ids(_ search: String) async throws -> [String] {
            try await run("list", "--search", search, "--plain").lines.map {
                String($0.prefix { $0 != "\t" })
            }
        }
        #expect(try await ids("is:seen") == ["film-1", "film-2"])
        #expect(try await ids("is:unseen year:1911..1914") == ["film-3", "film-4"])
        #expect(try await ids("is:seen film 2") == ["film-2"])
        let films = try JSON.array(try await run("list", "--json").text)
        #expect(films[1]["marks"] as? [String] == ["seen"] && films[1]["own_rating"] as? Int == 8)
        #expect(films[2]["marks"] as? [String] == ["to-watch"] && films[2]["own_rating"] == nil)
        #expect(films[3]["marks"] == nil)
        let wrong = try await run("list", "--search", "is:nice")
        #expect(wrong.status == 2 && wrong.errorText.contains("is: needs seen, unseen"))
        try fixture.home.write("no database", to: "data/marquee/marks.db")
        let damaged = try await run("list", "--search", "is:seen")
        #expect(damaged.status == 2 && damaged.errorText.contains("your marks cannot be read"))
        #expect(try JSON.array(try await run("list", "--json").text).count == 6)
    }

    @Test("plain output has one film per line, with tabs between the columns")
    func plain() async throws {
        let listed = try await Fixture().run("list", "--plain", "--sort", "score", "--top", "2")
        #expect(
            listed.lines == [
                "film-6\tFilm 6\t1916\tSomeone 6\t6.5\t-", "film-5\tFilm 5\t1915\tSomeone 5\t5.5\t-",
            ])
    }

    @Test("an empty catalogue is an empty list")
    func empty() async throws {
        let fixture = try Fixture(films: "[]")
        #expect(try await fixture.run("list", "--json").text == "[]\n")
        #expect(try await fixture.run("list").text == "")
    }

    @Test("show finds a film by its id or a part of its title, and fetches its poster")
    func show() async throws {
        let fixture = try Fixture()
        let first = try await fixture.run("show", "film-3")
        #expect(first.status == 0)
        #expect(first.text.contains("Film 3\n") && first.text.contains("director    Someone 3"))
        #expect(first.text.contains("png  1 x 1  70 bytes  network"))
        #expect(try await fixture.run("show", "ilm 3").text.contains("70 bytes  disk"))
        let film = try JSON.object(try await fixture.run("show", "film 3", "--json").text)
        #expect((film["fetch"] as? [String: Any])?["outcome"] as? String == "disk")
        #expect(film["title"] as? String == "Film 3")
    }

    @Test("with pictures, a film and a file are each shown and requested once")
    func picture() async throws {
        let fixture = try Fixture()
        let path = try fixture.folder.write(SampleImages.png, to: "posters/3.png")
        let environment = fixture.environment.merging(["LC_ALL": "C.UTF-8", "COLORTERM": "truecolor"]) { $1 }
        let film = try await Program.run(["show", "film-3", "--color", "always"], environment: environment)
        #expect(film.status == 0 && film.errors.isEmpty)
        let facts = try #require(film.text.range(of: "About 3."))
        let record = try #require(film.text.range(of: "poster      png  2 x 3  70 bytes  network"))
        let picture = film.text[facts.upperBound..<record.lowerBound]
        // 30 rows of 40 cells: as high as the room, and as wide as the picture's proportions.
        #expect(picture.contains("\u{1B}[") && picture.split(separator: "\n").count == 30)
        #expect(fixture.posterRequests(catalogueReads: 1) == 1)
        let file = try await Program.run(
            ["show", path, "--color", "always", "--checksum"], environment: environment)
        #expect(file.status == 0 && file.text.hasPrefix(String(picture.drop { $0 == "\n" })))
        #expect(file.text.contains("70 bytes  local") && file.text.contains(Self.checksum))
    }

    private static let checksum = "ea6a470631a5781e1593abf6ab2d86aa63551a4bd0df50b38de88a852d40bb66"

    @Test("a picture that cannot be decoded is named, and the rest is shown; in a pipe it is not decoded")
    func undecodable() async throws {
        let films = #"[{"id": "a", "title": "A", "year": 1920, "director": "D", "poster": "posters/a.avif"}]"#
        let fixture = try Fixture(films: films)
        let avif: [UInt8] = [0, 0, 0, 14] + Array("ftypavif".utf8) + [0, 0]
        try fixture.folder.write(avif, to: "posters/a.avif")
        let shown = try await fixture.run("show", "a", "--color", "always")
        #expect(shown.status == 1)
        #expect(shown.errorLines.count == 1)
        #expect(
            shown.errorText.contains("posters/a.avif: cannot be decoded: decoding of AVIF is not supported"))
        #expect(shown.text.contains("poster      avif  14 bytes  network"))
        let piped = try await fixture.run("show", "a")
        #expect(piped.status == 0 && piped.errors.isEmpty && piped.text.contains("14 bytes  disk"))
        let listed = try await fixture.run("list", "--posters", "--color", "always")
        #expect(listed.status == 1 && listed.errorText.contains("posters/a.avif: cannot be decoded"))
    }

    @Test("a mistyped film lists the candidates on one line, an ambiguous one each on its own")
    func candidates() async throws {
        let fixture = try Fixture()
        for (word, answer, lines) in [
            ("film", "names several films; give an id:\n  film-1 (Film 1, 1911)\n  film-2", 7),
            ("flm-4", "did you mean film-4", 1), ("xyzzyxyzzyxyzzy", "marquee list shows them all", 1),
        ] {
            let shown = try await fixture.run("show", word)
            #expect(shown.status == 2)
            #expect(shown.output.isEmpty)
            #expect(shown.errorLines.count == lines)
            #expect(shown.errorText.contains(answer), "\(shown.errorText)")
        }
    }

    @Test("a film without a poster is shown with a message")
    func noPoster() async throws {
        let fixture = try Fixture(films: #"[{"id":"a","title":"A","year":1920,"director":"D"}]"#)
        let shown = try await fixture.run("show", "a")
        #expect(shown.status == 0)
        #expect(
            shown.errorLines == ["marquee: A has no poster in the catalogue; add its address there"])
        let fetched = try await fixture.run("fetch", "a")
        #expect(fetched.status == 2)
        #expect(fetched.errorLines.count == 1)
    }

    @Test("a film whose poster is missing on the server is shown, with status 1")
    func lostPoster() async throws {
        let fixture = try Fixture(
            films: #"[{"id":"a","title":"A","year":1920,"director":"D","poster":"posters/none.png"}]"#)
        let shown = try await fixture.run("show", "a")
        #expect(shown.status == 1)
        #expect(shown.text.contains("director    D"))
        #expect(shown.errorLines.count == 1)
        #expect(shown.errorText.contains("posters/none.png: the server answered 404"))
    }

    @Test("a missing poster is stored as missing, and does not count as cached")
    func rememberedLack() async throws {
        let origin = try ScriptedOrigin(.answering([], status: "404 Not Found", fields: ""))
        let fixture = try Fixture(
            films: #"[{"id":"a","title":"A","year":1920,"director":"D","poster":"\#(origin.url())"}]"#)
        for _ in 0..<2 { #expect(try await fixture.run("show", "a").status == 1) }
        #expect(origin.requests.count == 1)
        #expect(try await fixture.run("list").text.hasPrefix("○"))
    }

    @Test("--top lists the best films, unless --sort is given")
    func top() async throws {
        let fixture = try Fixture()
        func titles(_ words: String...) async throws -> [String] {
            let outcome = try await Program.run(
                ["list", "--plain"] + words, environment: fixture.environment)
            return outcome.lines.compactMap { $0.split(separator: "\t").first.map(String.init) }
        }
        #expect(try await titles("--top", "2") == ["film-6", "film-5"])
        #expect(try await titles("--top", "2", "--sort", "year") == ["film-1", "film-2"])
        #expect(try await titles("--top", "99").count == 6)
        let film = try JSON.array(try await fixture.run("list", "--top", "1", "--json").text)
        #expect(film.map { $0["id"] as? String } == ["film-6"])
    }

    @Test("piped titles are not cut, however long they are")
    func uncut() async throws {
        let title = String(repeating: "A very long title ", count: 12) + "that ends here"
        let director = String(repeating: "Somebody and ", count: 12) + "one more"
        let fixture = try Fixture(
            films: """
                [{"id":"a","title":"\(title)","year":1920,"director":"\(director)"},
                 {"id":"b","title":"Short","year":1921,"director":"D"}]
                """)
        let listed = try await fixture.run("list")
        #expect(listed.lines.first?.contains("  \(title)  \(director)") == true)
        #expect(listed.lines.last?.hasPrefix("○        1921  Short  ") == true)
    }

    @Test("a film without a title is left out with a warning, and the others are listed")
    func leftOut() async throws {
        let fixture = try Fixture(
            films: """
                [{"id":"a","title":"A","year":1920,"director":"D"},{"id":"b","year":1920,"director":"D"},
                 {"id":"c","title":"C","year":1920,"director":"D"}]
                """)
        let listed = try await fixture.run("list")
        #expect(listed.status == 0)
        #expect(listed.lines.count == 2)
        #expect(listed.errorLines.count == 1)
        #expect(listed.errorText.contains("film 2 (\"b\") has no title"))
        #expect(try await fixture.run("list", "--quiet").errors.isEmpty)
        #expect(try await fixture.run("show", "c").status == 0)
    }

    @Test("five of the films that are left out are named, and with --verbose all")
    func allLeftOut() async throws {
        let films = (1...8).map { #"{"id":"f\#($0)","title":"F"}"# } + (1...7).map { #"{"id":"x\#($0)"}"# }
        let fixture = try Fixture(films: "[" + films.joined(separator: ",") + "]")
        let few = try await fixture.run("list")
        #expect(
            few.errorLines.count == 6
                && few.errorText.hasSuffix("2 more films are left out; --verbose names all\n"))
        for option in ["-v", "--verbose"] {
            let all = try await fixture.run("list", option).errorLines.filter { $0.hasSuffix("left out") }
            #expect(all.count == 7 && all.last?.contains("\"x7\"") == true, "\(all)")
        }
    }

    @Test("a file in place of the command is the catalogue")
    func file() async throws {
        let fixture = try Fixture()
        let file = fixture.folder.file("movies.json")
        let listed = try await Program.run([file], environment: ["XDG_CACHE_HOME": fixture.home.path])
        #expect(listed.status == 0)
        #expect(listed.lines.count == 6)
        let best = try await Program.run(
            [file, "--top", "1", "--plain"], environment: ["XDG_CACHE_HOME": fixture.home.path])
        #expect(best.lines.map { $0.hasPrefix("film-6\t") } == [true])
    }

    /// Six films of four directors, as a file, as a library and from a service.
    private static let searchable = """
        [{"id":"m","title":"Metropolis","year":1927,"director":"Fritz Lang","genres":["Drama","Science Fiction"],"score":8},
         {"id":"n","title":"Nosferatu","year":1922,"director":"F. W. Murnau","genres":["Horror"],"score":7},
         {"id":"s","title":"Sunrise","year":1927,"director":"F. W. Murnau","genres":["Romance"],"score":9},
         {"id":"v","title":"Le Voyage","originalTitle":"Méliès","year":1902,"director":"Georges Méliès","score":6},
         {"id":"h","title":"Häxan","year":1922,"director":"B. Christensen","genres":["Horror"],
          "overview":"Murnau is not here."},
         {"id":"u","title":"Undated","director":"F. W. Murnau"}]
        """

    private static let searches: [(words: [String], ids: [String])] = [
        (["--director", "MURNAU"], ["n", "s", "u"]), (["--director", "melies"], ["v"]),
        (["--genre", "horr"], ["n", "h"]), (["--genre", "science fiction"], ["m"]),
        (["--year", "1927"], ["m", "s"]), (["--year", "1920..1926"], ["n", "h"]),
        (["--year", "1923.."], ["m", "s"]),
        (["--year", "..1922"], ["n", "v", "h"]),
        (["--director", "murnau", "--year", "1920..1929", "--genre", "romance"], ["s"]),
        (["--search", "murnau"], ["n", "s", "h", "u"]), (["--search", "title: voyage"], ["v"]),
        (["--search", "murnau year: 1927"], ["s"]), (["--search", "metrpolis"], ["m"]),
        (["--search", "metrpolis", "--year", "1922"], []),
        (["--year", "1927", "--sort", "title", "--limit", "1"], ["m"]), (["--limit", "2"], ["m", "n"]),
        (["--sort", "score", "--limit", "2"], ["s", "m"]), (["--director", "murnau", "--top", "1"], ["s"]),
        (["--top", "3", "--limit", "2"], ["s", "m"]),
        (["--genre", "horror", "--top", "9", "--sort", "title"], ["h", "n"]),
        (["--director", "nobody"], []),
    ]

    @Test("a file, a library and a service are searched alike, by text, director, genre and years")
    func searches() async throws {
        let fixture = try Fixture(films: Self.searchable)
        let library = fixture.folder.file("films.db")
        #expect(try await fixture.run("import", fixture.folder.file("movies.json"), library).status == 0)
        let server = try Program(["serve", library, "--json", "--quiet"], environment: fixture.environment)
        let line = try #require(await server.nextLine())
        let address = try #require(JSON.object(line)["url"] as? String)
        for (catalogue, step) in [(fixture.folder.file("movies.json"), 1), (library, 4), (address, 4)] {
            // The films are searched after they are read: a few searches show that all sources give them alike.
            for number in stride(from: 0, to: Self.searches.count, by: step) {
                let (words, ids) = Self.searches[number]
                let listed = try await Program.run(
                    ["list", "--json", "--catalogue", catalogue] + words, environment: fixture.environment)
                let found = try JSON.array(listed.text).compactMap { $0["id"] as? String }
                #expect(listed.status == 0 && found == ids, "\(catalogue) \(words): \(listed.errorText)")
            }
        }
    }

    @Test("a list without films says so on standard error, and a forgiven search says that")
    func lack() async throws {
        let fixture = try Fixture(films: Self.searchable)
        let none = try await fixture.run("list", "--search", "xyzzy", "--genre", "western", "--json")
        #expect(none.status == 0 && none.text == "[]\n")
        #expect(
            none.errorLines == [
                "marquee: no film has \"xyzzy\" and the genre \"western\"; marquee list shows all films"
            ])
        let similar = try await fixture.run("list", "--search", "nosfertau", "--plain")
        #expect(similar.lines.count == 1 && similar.text.hasPrefix("n\t"))
        #expect(similar.errorText.contains("no film has exactly these words"))
    }
}
