import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import FilmSources
@testable import Films

@Suite("Lists of films in CSV", .bounded)
struct CSVCatalogueTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func page(_ bytes: some Sequence<UInt8>, _ name: String = "films.csv") async throws
        -> CataloguePage
    {
        let source = CSVCatalogue(try home.write(bytes, to: name))
        return try #require(try await source.pages(ScriptedAnswers { _ in "" }).first)
    }

    private func page(_ text: String, _ name: String = "films.csv") async throws -> CataloguePage {
        try await page(text.utf8, name)
    }

    @Test("Letterboxd's ratings are films that the person has seen, and rated from 1 to 10")
    func ratings() async throws {
        let page = try await page(
            """
            Date,Name,Year,Letterboxd URI,Rating
            2024-10-31,Nosferatu,1922,https://boxd.it/29Xo,4.5
            2024-11-01,"Sunrise: A Song of Two Humans",1927,https://boxd.it/2aLk,0.5
            2024-11-02,Faust,1926,https://boxd.it/1XyZ,
            """, "ratings.csv")
        #expect(
            page.films.map(\.movie.id) == [
                "nosferatu-1922", "sunrise-a-song-of-two-humans-1927", "faust-1926",
            ])
        let first = page.films[0].movie
        #expect(first.title == "Nosferatu" && first.year == 1922 && first.page == "https://boxd.it/29Xo")
        #expect(first.rating == nil && first.score == nil && first.poster == nil)
        #expect(page.films.map(\.marks.rating) == [9, 1, nil])
        #expect(page.films.map(\.marks.isSeen) == [true, true, false])
        #expect(page.problems.isEmpty && page.isLast)
    }

    @Test(
        "the name of a list without ratings says whether its films are seen or to watch",
        arguments: [
            ("watched.csv", FilmMark.seen), ("watchlist.csv", .toWatch), ("Watchlist-2024.CSV", .toWatch),
        ])
    func listNames(name: String, mark: FilmMark) async throws {
        let page = try await page(
            "Date,Name,Year,Letterboxd URI\n2024-10-31,Nosferatu,1922,https://boxd.it/29Xo\n", name)
        var marks = FilmMarks()
        marks[mark] = 1
        #expect(page.films.map(\.marks) == [marks])
        let other = try await self.page("Name\nNosferatu\n", "mine.csv")
        #expect(other.films.map(\.marks) == [FilmMarks()])
    }

    @Test("a film that is in a diary twice is there once")
    func diary() async throws {
        let page = try await page(
            """
            Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date
            2024-10-31,Nosferatu,1922,https://boxd.it/a1,4,,"horror, silent",2024-10-30
            2024-11-01,Faust,1926,https://boxd.it/a2,,,,2024-11-01
            2024-12-01,Nosferatu,1922,https://boxd.it/a3,5,Yes,,2024-12-01
            """, "diary.csv")
        #expect(page.films.map(\.movie.id) == ["nosferatu-1922", "faust-1926"])
        #expect(
            page.films.map(\.marks.isSeen) == [true, true] && page.films.map(\.marks.rating) == [8, nil])
    }

    @Test("the section about a list of Letterboxd itself is skipped")
    func list() async throws {
        let text = #"""
            Letterboxd list export v7
            Date,Name,Tags,URL,Description
            2024-10-31,Silent horror,"a, b",https://boxd.it/list,"Two lines,
            and ""quotes"""

            Position,Name,Year,URL,Description
            1,Nosferatu,1922,https://boxd.it/29Xo,
            2,Faust,1926,https://boxd.it/1XyZ,The best one

            """#
        let page = try await page(text.replacing("\n", with: "\r\n"), "a-list.csv")
        #expect(page.films.map(\.movie.title) == ["Nosferatu", "Faust"])
        #expect(page.films[0].movie.page == "https://boxd.it/29Xo" && page.films[1].movie.overview == nil)
        #expect(page.films[0].marks == FilmMarks() && page.problems.isEmpty)
    }

    private static let imdb = """
        tt0013442,9,2024-10-31,Nosferatu,"Nosferatu, eine Symphonie des Grauens",https://www.imdb.com/title/tt0013442/,\
        Movie,7.8,94,1922,"Horror, Fantasy",112000,1922-02-17,F.W. Murnau
        """

    @Test("IMDb's ratings have their id there, facts, and the person's rating")
    func imdbRatings() async throws {
        let page = try await page(
            """
            Const,Your Rating,Date Rated,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),Year,Genres,\
            Num Votes,Release Date,Directors
            \(Self.imdb)
            tt0017136,,,Metropolis,Metropolis,,Movie,,,,,,,"Fritz Lang, Somebody Else"
            """)
        let film = try #require(page.films.first)
        #expect(
            film.movie.title == "Nosferatu"
                && film.movie.originalTitle == "Nosferatu, eine Symphonie des Grauens")
        #expect(film.movie.year == 1922 && film.movie.minutes == 94 && film.movie.score == 7.8)
        #expect(film.movie.genres == ["Horror", "Fantasy"] && film.movie.director == "F.W. Murnau")
        #expect(film.movie.page == "https://www.imdb.com/title/tt0013442/" && film.movie.votes == 0)
        #expect(film.ids == ["imdb": "tt0013442"] && film.marks.rating == 9 && film.marks.isSeen)
        let second = page.films[1]
        #expect(
            second.movie.id == "metropolis" && second.movie.originalTitle == nil && second.movie.score == nil)
        #expect(second.movie.director == "Fritz Lang, Somebody Else" && second.marks == FilmMarks())
    }

    @Test("IMDb's watchlist has other columns, in another order")
    func imdbWatchlist() async throws {
        let page = try await page(
            """
            Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),\
            Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated
            1,tt0013442,2024-01-01,2024-01-01,a note,Nosferatu,Nosferatu,https://www.imdb.com/title/tt0013442/,Movie,7.8,94,\
            1922,Horror,112000,1922-02-17,F.W. Murnau,8,2024-02-02
            """)
        let film = try #require(page.films.first)
        #expect(film.movie.title == "Nosferatu" && film.movie.overview == nil && film.movie.minutes == 94)
        #expect(film.ids == ["imdb": "tt0013442"] && film.marks.rating == 8)
    }

    @Test("columns of any list have the names of a film's members, in any order, and others are ignored")
    func generic() async throws {
        let page = try await page(
            "\u{FEFF}Shelf, YEAR ,Original_Title,title,Genre,poster,Director,rating,overview,imdbID\n"
                + "A3, 1922 ,Nosferatu (1922),Nosferatu, \"Horror, Silent\",posters/a.jpg,F. W. Murnau,4,\"One line,\n"
                + "and \"\"another\"\"\",tt0013442\n"
                + "B1,,,Faust\n\n")
        let film = try #require(page.films.first)
        #expect(film.movie.title == "Nosferatu" && film.movie.originalTitle == "Nosferatu (1922)")
        #expect(film.movie.year == 1922 && film.movie.genres == ["Horror", "Silent"])
        #expect(film.movie.poster == "posters/a.jpg" && film.movie.director == "F. W. Murnau")
        #expect(film.movie.overview == "One line,\nand \"another\"" && film.ids == ["imdb": "tt0013442"])
        // Nobody knows whether four of five or four of ten.
        #expect(film.marks == FilmMarks())
        #expect(page.films.map(\.movie.title) == ["Nosferatu", "Faust"] && page.problems.isEmpty)
        #expect(page.base.url.deletingLastPathComponent().path == home.path)
    }

    @Test("a wrong row is left out with its line and the reason, and no other row is")
    func wrongRows() async throws {
        var bytes = Array(
            """
            title,year
            Nosferatu,1922
            ,1923
            Metropolis,MCMXXVII
            The Good, the Bad and the Ugly,1966
            "two
            lines",1926
            12" Vinyl,1999
            "not closed,1927
            Sunrise,1927

            """.utf8)
        bytes += Array("Un Chien ".utf8) + [0xE9] + Array(",1929\n\"Faust, a tale\",1926".utf8)
        let page = try await page(bytes)
        #expect(page.films.map(\.movie.title) == ["Nosferatu", "two\nlines", "Sunrise", "Faust, a tale"])
        #expect(
            page.problems.map { "\($0)" } == [
                "line 3: film 2 (\"line 3\") has no title; every film needs one",
                "line 4: the year of film 3 (\"Metropolis\") must be a number from 1800 to 9999",
                "line 5: expected at most 2 values in UTF-8, quoted if they have commas or quotes",
                "line 8: expected at most 2 values in UTF-8, quoted if they have commas or quotes",
                "line 9: expected at most 2 values in UTF-8, quoted if they have commas or quotes",
                "line 11: expected at most 2 values in UTF-8, quoted if they have commas or quotes",
            ])
        #expect(!page.problems.contains { !$0.leavesOut })
        let last = try await self.page("title\n\"not closed\n\"Faust\"\n")
        #expect(last.films.map(\.movie.title) == ["Faust"] && last.problems.count == 1)
    }

    @Test("a list without a column of titles is an error that says what it needs")
    func noTitles() async throws {
        let needed = "expected columns between commas, one of them called title or name"
        for (text, place) in [
            ("Titel;Jahr\nFaust;1926\n", "line 1: "), ("\n\nyear,director\n1926,F. W. Murnau\n", "line 3: "),
            ("\"title\n", "line 1: "), ("", ""), ("\u{FEFF}\n", ""),
            ("Letterboxd list export v7\nDate,Name\n", ""),
        ] {
            let error = await #expect(throws: CatalogueError.self, "\(text)") { try await page(text) }
            #expect(error.map { "\($0)" } == place + needed)
        }
        #expect(try await page("Title\n").films.isEmpty)
    }

    @Test("films with one title and year have ids that stay when rows are added")
    func ids() async throws {
        let rows = ["Faust,1926,tt1", "Faust,1926,tt2", "Faust,1926,tt3"]
        let first = try await page("title,year,const\n" + rows.joined(separator: "\n"))
        let second = try await page("title,year,const\n\(rows[0])\nA,1900,tt9\n\(rows[2])\n\(rows[1])\n")
        let ids = first.films.map(\.movie.id)
        #expect(ids[0] == "faust-1926" && Set(ids).count == 3 && !ids.contains { FilmID.fault($0) != nil })
        #expect(second.films.map(\.movie.id) == [ids[0], "a-1900", ids[2], ids[1]])
        let plain = try await page("title\nFaust\nFaust\n")
        #expect(Set(plain.films.map(\.movie.id)).count == 2)
    }

    @Test("a list has at most as many values as a catalogue")
    func limit() async throws {
        let limit = Document.maximumValues
        let error = await #expect(throws: CatalogueError.self) {
            try await page(Array("title\n".utf8) + [UInt8](repeating: UInt8(ascii: ","), count: limit))
        }
        #expect(error == .tooLarge(limit: limit, unit: "commas and lines"))
        // Quotes that are not closed do not make the reading slow.
        let quotes = "title\n" + String(repeating: "\"a\n\"b\"c\n", count: 20_000)
        #expect(try await page(quotes).problems.count > 10_000)
    }

    @Test("a list is known by its name, or by how an export begins")
    func names() throws {
        func isOne(_ name: String, _ text: String) -> Bool {
            CSVCatalogue.isOne(name, beginning: Array(text.utf8)[...])
        }
        #expect(isOne("films.csv", "") && isOne("/a/Films.CSV", "{") && !isOne("films.txt", "Title,Year\n"))
        for text in [
            "Date,Name,Year,Letterboxd URI\n", "\u{FEFF}Letterboxd list export v7\n",
            "Const,Your Rating,Date Rated",
            "Position,Const,Created,Modified",
        ] { #expect(isOne("export", text)) }
    }
}
