import FilmSources
import Films
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("FilmQuery", .bounded)
struct FilmQueryTests {
    @Test(
        "all pages together are all films in order", arguments: FilmQuery.Sort.allCases,
        ["", "film", "d1"])
    func pages(sort: FilmQuery.Sort, search: String) throws {
        let test = try TestLibrary()
        var movies: [Movie] = []
        for number in 0..<60 {
            let document = try film(
                """
                {"title":"Film \(number * 7 % 60)"\(number % 4 == 0 ? "" : ",\"year\":\(1900 + number % 4)"),
                 "director":"D\(number % 3)"\(number % 5 == 0 ? "" : ",\"score\":\(number % 3)")}
                """)
            movies.append(try test.library.insert(document, id: "\(number)").movie())
        }
        let catalogue = Catalogue(
            name: nil, movies: search == "d1" ? movies.filter { $0.director == "D1" } : movies)
        let expected =
            switch sort {
            case .catalogue: catalogue.movies
            case .score: catalogue.sorted(by: .score)
            case .year: catalogue.sorted(by: .year)
            case .title: catalogue.sorted(by: .title)
            }
        var found: [String] = []
        var after: String?
        repeat {
            let page = try test.library.films(FilmQuery(sort: sort, search: search, after: after, limit: 7))
            found += page.films.map(\.id)
            after = page.next
        } while after != nil
        #expect(found == expected.map(\.id))
    }

    @Test(
        "words with quotes, NUL and other signs find what has them, and nothing else",
        arguments: [
            "a\u{0}b", "\u{D2}\"\u{0}\u{7F38B}", "\"\"\"", "abc\u{0}", "NEAR(abc)", "abc*", "title:abc",
        ])
    func signs(search: String) throws {
        let test = try TestLibrary()
        _ = try test.library.insert(try film(#"{"title":"abc def"}"#), id: "plain")
        _ = try test.library.films(FilmQuery(search: search, limit: 7))
        #expect(try test.library.films(FilmQuery(search: "abc", limit: 7)).films.map(\.id) == ["plain"])
    }

    @Test("a scan that nobody waits for any more ends, and its connection reads on")
    func givenUp() async throws {
        let test = try TestLibrary()
        for number in 0..<500 { _ = try test.library.insert(film(#"{"title":"F"}"#), id: "\(number)") }
        let library = test.library
        let (begun, gate, seen) = (Tally(), Gate(), Shared(0))
        let (failed, ended) = (Shared(false), Tally())
        let job = BlockingThreads.Job {
            do {
                try library.forEach { _ in
                    if seen.value == 0 {
                        begun.add()
                        gate.wait()
                    }
                    seen.change { $0 += 1 }
                    return true
                }
            } catch {
                failed.change { $0 = true }
            }
            ended.add()
        }
        let threads = BlockingThreads(count: 1)
        try threads.enqueue(job)
        try await begun.wait(for: 1)
        job.giveUp()
        gate.open()
        try await ended.wait(for: 1)
        #expect(failed.value && seen.value < 500)
        #expect(try await threads.run { Result { try test.ids().count } }.get() == 500)
    }

    @Test("a cursor stays valid when its film is removed, and a cursor of another order is refused")
    func cursor() throws {
        let test = try TestLibrary()
        for number in 0..<5 {
            _ = try test.library.insert(film(#"{"title":"Film \#(number)"}"#), id: "\(number)")
        }
        let page = try test.library.films(FilmQuery(sort: .title, limit: 2))
        _ = try test.library.remove("1")
        let next = try test.library.films(FilmQuery(sort: .title, after: page.next, limit: 2))
        #expect(next.films.map(\.id) == ["2", "3"])
        for (sort, after) in [(FilmQuery.Sort.year, page.next), (.title, "x"), (.title, ""), (.title, "W10")]
        {
            #expect(
                libraryError { _ = try test.library.films(FilmQuery(sort: sort, after: after, limit: 2)) }
                    == .invalidCursor)
        }
    }

    @Test(
        "words are found in title, director, genre and year, with and without the index",
        arguments: [true, false])
    func search(usesTrigrams: Bool) throws {
        let test = try TestLibrary(usesTrigrams: usesTrigrams)
        let films = [
            (
                "a",
                #"{"title":"Nosferatu","originalTitle":"Eine Symphonie","year":1922,"director":"F. W. Murnau"}"#
            ),
            ("b", #"{"title":"Häxan","year":1922,"director":"Benjamin Christensen","genres":["Horror"]}"#),
            (
                "c",
                #"{"title":"Sun \"rise\" 100% _","year":1927,"director":"F. W. Murnau","overview":"A trip."}"#
            ),
        ]
        for (id, json) in films { _ = try test.library.insert(film(json), id: id) }
        for (text, ids) in [
            ("murnau", ["a", "c"]), ("MURNAU 1922", ["a"]), ("haxan", ["b"]), ("horr", ["b"]),
            ("symph", ["a"]),
            ("w.", ["a", "c"]), ("su", ["c"]), ("x", ["b"]), ("trip", []), ("\"rise\"", ["c"]),
            ("100%", ["c"]),
            ("_", ["c"]), ("nosferatu eine", ["a"]), ("1922 murnau haxan", []), ("  ", ["a", "b", "c"]),
            ("murnau f", ["a", "c"]), ("' OR 1", []), ("\" OR \"", []), ("tumurnau", []),
        ] {
            #expect(try test.ids(search: text) == ids, "\(text)")
        }
        _ = try test.library.update("b") { _ in try film(#"{"title":"Witches"}"#) }
        _ = try test.library.remove("a")
        #expect(try test.ids(search: "haxan").isEmpty)
        #expect(try test.ids(search: "witches") == ["b"])
        #expect(try test.ids(search: "murnau") == ["c"])
    }

    @Test(
        "words behind the name of a field must occur there; years are a year or a range",
        arguments: [true, false])
    func fields(usesTrigrams: Bool) throws {
        let test = try TestLibrary(usesTrigrams: usesTrigrams)
        for (id, json) in [
            ("a", #"{"title":"Lang","year":1921,"director":"Ozu","genres":["Drama"]}"#),
            ("b", #"{"title":"M","originalTitle":"Mörder","year":1931,"director":"Fritz Lang"}"#),
            ("c", #"{"title":"Fury","director":"Fritz Lang","genres":["Drama"]}"#),
            ("d", #"{"title":"Drama","year":1930,"director":"X"}"#),
        ] { _ = try test.library.insert(film(json), id: id) }
        for (text, ids) in [
            ("director:lang", ["b", "c"]), ("title: lang", ["a"]), ("genre:drama", ["a", "c"]),
            ("genre:drama director: LANG", ["c"]), ("title:morder year:1931", ["b"]),
            ("lang year:..1925", ["a"]),
            ("year: 1921 .. 1930", ["a", "d"]), ("year:1930..", ["b", "d"]),
            ("director:", ["a", "b", "c", "d"]),
            ("year:1900", []), ("title:fury director:ozu", []),
        ] {
            #expect(try test.ids(search: text) == ids, "\(text)")
        }
        var query = FilmQuery(sort: .title, search: "director:lang", limit: 1)
        let first = try test.library.films(query)
        #expect(first.films.map(\.id) == ["c"])
        query.after = first.next
        let second = try test.library.films(query)
        #expect(second.films.map(\.id) == ["b"] && second.next == nil)
        query.before = second.previous
        #expect(try test.library.films(query).films.map(\.id) == ["c"])
    }

    @Test("the index is rebuilt after a program without it has written")
    func staleIndex() throws {
        let test = try TestLibrary()
        _ = try test.library.insert(film(#"{"title":"Faust"}"#), id: "a")
        let other = try FilmLibrary(path: test.path, access: .writing, usesTrigrams: false)
        _ = try other.update("a") { _ in try film(#"{"title":"Tartuffe"}"#) }
        #expect(try test.ids(search: "tartuffe") == ["a"])
        #expect(try test.ids(search: "faust") == [])
        _ = try test.library.insert(film(#"{"title":"Phantom"}"#), id: "b")
        #expect(try test.ids(search: "tartuffe") == ["a"])
        #expect(try test.ids(search: "faust") == [])
        #expect(try test.ids(search: "phantom") == ["b"])
    }
}
