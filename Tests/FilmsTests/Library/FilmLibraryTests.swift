import FilmSources
import Films
import TestTraits
import Testing

@Suite("FilmLibrary", .bounded)
struct FilmLibraryTests {
    private let test: TestLibrary
    private var library: FilmLibrary { test.library }

    init() throws { test = try TestLibrary() }

    @Test("a film is read as it was written, also after the library was closed")
    func kept() throws {
        let document = try film(#"{"shelf":{"row":3},"title":"Faust","year":1926,"seen":null,"price":1.50}"#)
        let stored = try library.insert(document, id: "faust")
        #expect(stored.document == document)
        #expect(stored.rating == nil && stored.votes == 0 && stored.poster == .none)
        #expect(
            stored.createdAt == stored.updatedAt && stored.createdAt.hasSuffix("Z")
                && stored.createdAt.count == 24)
        let again = try FilmLibrary(path: test.path, access: .reading)
        #expect(try again.film("faust") == stored)
        #expect(try again.film("nobody") == nil)
        #expect(
            stored.completeDocument().json()
                == #"{"id":"faust","shelf":{"row":3},"title":"Faust","year":1926,"seen":null,"price":1.50,"#
                + #""created_at":"\#(stored.createdAt)","updated_at":"\#(stored.updatedAt)"}"#)
    }

    @Test("members that the library computes are ignored in a document")
    func ownMembers() throws {
        let stored = try library.insert(
            film(
                #"{"id":"x","title":"A","rating":10,"votes":99,"created_at":"1","updated_at":"2","ratings":{}}"#
            ), id: "a")
        #expect(stored.document.json() == #"{"title":"A"}"#)
        #expect(stored.votes == 0 && stored.id == "a")
    }

    @Test("an id is unique and valid; without one it is made of title and year")
    func ids() throws {
        let document = try film(#"{"title":"El Camión","year":2019}"#)
        #expect(try library.insert(document).id == "el-camion-2019")
        #expect(try library.insert(document).id == "el-camion-2019-2")
        #expect(
            libraryError { _ = try library.insert(document, id: "el-camion-2019") }
                == .idTaken(id: "el-camion-2019"))
        guard case .invalidID = libraryError({ _ = try library.insert(document, id: "top3") }) else {
            Issue.record("top3 was taken")
            return
        }
        guard case .invalidFilm = libraryError({ _ = try library.insert(film("{}"), id: "a") }) else {
            Issue.record("a film without a title was accepted")
            return
        }
    }

    @Test("a film is replaced, changed and removed, unless a condition forbids it")
    func writes() throws {
        struct Forbidden: Error {}
        let first = try library.insert(film(#"{"title":"A","year":1920}"#), id: "a")
        let second = try library.replace("a", with: film(#"{"title":"B"}"#))
        #expect(!second.isNew && second.film.document.json() == #"{"title":"B"}"#)
        #expect(second.film.revision > first.revision && second.film.createdAt == first.createdAt)
        #expect(try library.replace("b", with: film(#"{"title":"C"}"#)).isNew)
        #expect(throws: Forbidden.self) {
            try library.replace("a", with: film(#"{"title":"D"}"#)) { _ in throw Forbidden() }
        }
        #expect(throws: Forbidden.self) { try library.remove("a") { _ in throw Forbidden() } }
        #expect(try library.film("a") == second.film)
        let third = try library.update("a") { film in
            var document = film.document
            document["year"] = JSONText(1921)
            return document
        }
        #expect(third?.document.json() == #"{"title":"B","year":1921}"#)
        #expect(try library.update("nobody") { $0.document } == nil)
        #expect(try library.remove("a"))
        #expect(try !library.remove("a"))
        #expect(try test.ids() == ["b"])
    }

    @Test("a poster is stored, replaced by an address, and removed with its film")
    func posters() throws {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let poster = PosterBytes(mediaType: "image/png", bytes: bytes)
        let stored = try library.insert(film(#"{"title":"A","poster":"x.png"}"#), id: "a", poster: poster)
        guard case .stored("image/png", 100_000, let tag) = stored.poster else {
            Issue.record("\(stored.poster)")
            return
        }
        #expect(stored.document["poster"] == nil)
        #expect(try library.poster(of: "a")?.bytes == bytes)
        #expect(try library.update("a") { $0.document }?.poster == stored.poster)
        let second = try library.update(
            "a", poster: .store(PosterBytes(mediaType: "image/png", bytes: bytes.map { $0 + 1 }))
        ) { $0.document }
        #expect(second?.poster != .stored(mediaType: "image/png", count: 100_000, tag: tag))
        let third = try library.update("a") { film in
            var document = film.document
            document["poster"] = JSONText("http://x/y.png")
            return document
        }
        #expect(third?.poster == .address("http://x/y.png"))
        #expect(try library.poster(of: "a") == nil)
        _ = try library.update("a", poster: .store(poster)) { $0.document }
        #expect(
            try library.update("a", poster: .asDocument) { $0.document }?.poster == StoredFilm.Poster.none)
        _ = try library.update("a", poster: .store(poster)) { $0.document }
        #expect(try library.replace("a", with: film(#"{"title":"A"}"#)).film.poster == .none)
        #expect(try library.update("nobody", poster: .store(poster)) { $0.document } == nil)
    }

    @Test("the rating is the mean of the votes, and one rater has one vote")
    func ratings() throws {
        let first = try library.insert(film(#"{"title":"A","score":9}"#), id: "a")
        _ = try library.insert(film(#"{"title":"B","score":5}"#), id: "b")
        #expect(try test.ids(.score) == ["a", "b"])
        _ = try library.rate("a", rater: "ann", value: 1)
        _ = try library.rate("a", rater: "ann", value: 2)
        let rated = try library.rate("a", rater: "ben", value: 5)
        #expect(rated?.rating == 3.5 && rated?.votes == 2)
        #expect(rated.map { $0.revision > first.revision } == true)
        #expect(try library.rating(of: "a", by: "ann") == 2)
        #expect(try library.rating(of: "a", by: "eve") == nil)
        #expect(try test.ids(.score) == ["b", "a"])
        _ = try library.replace("a", with: film(#"{"title":"A","score":10}"#))
        #expect(try library.film("a")?.votes == 2)
        _ = try library.unrate("a", rater: "ann")
        #expect(try library.unrate("a", rater: "ben")?.rating == nil)
        #expect(try test.ids(.score) == ["a", "b"])
        #expect(try library.rate("nobody", rater: "ann", value: 1) == nil)
    }

    @Test("the revision changes with each write that changes something")
    func revision() throws {
        let before = try library.revision
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        let after = try library.revision
        #expect(after > before)
        _ = try library.remove("nobody")
        #expect(try library.revision == after)
        let other = try FilmLibrary(path: test.path, access: .writing)
        _ = try other.remove("a")
        #expect(try library.revision > after)
    }

    @Test("a library in memory supports everything that one on disk does")
    func inMemory() throws {
        let library = try FilmLibrary(inMemoryFor: "films.json")
        _ = try library.insert(film(#"{"title":"Faust"}"#))
        #expect(try library.films(FilmQuery(search: "aus", limit: 10)).films.map(\.id) == ["faust"])
        #expect(try library.count == 1)
        try library.importFilms { try $0.setNameIfNone("Silents") }
        #expect(try library.name == "Silents")
    }
}

@Suite("FilmImport", .bounded)
struct FilmImportTests {
    private func imported(_ json: String) throws -> StoredFilm? {
        let library = try FilmLibrary(inMemoryFor: "test")
        _ = try library.importFilms { try $0.add(film(json), id: "a", poster: nil, replaces: false) }
        return try library.film("a")
    }

    @Test("times are imported to the millisecond, in UTC")
    func times() throws {
        let library = try FilmLibrary(inMemoryFor: "test")
        let times = (1000..<2000).map { "2026-11-22T12:43:17.\(String($0).dropFirst())Z" }
        try library.importFilms { films in
            for time in times {
                let document = try film(#"{"title":"A","created_at":"\#(time)"}"#)
                _ = try films.add(document, id: time, poster: nil, replaces: false)
            }
        }
        for time in times { #expect(try library.film(time)?.createdAt == time) }
        for (written, time) in [
            ("2026-11-22T12:43:17Z", "2026-11-22T12:43:17.000Z"),
            ("2026-11-22T13:43:17.250+01:00", "2026-11-22T12:43:17.250Z"),
            ("2026-11-22T14:40:01.5+01:00", "2026-11-22T13:40:01.500Z"),
        ] {
            #expect(try imported(#"{"title":"A","updated_at":"\#(written)"}"#)?.updatedAt == time)
        }
        #expect(try imported(#"{"title":"A","created_at":"yesterday"}"#)?.createdAt.hasPrefix("20") == true)
    }

    @Test("imported votes without raters count, and include those with raters")
    func votes() throws {
        let some = try imported(#"{"title":"A","rating":7,"votes":4,"ratings":{"ann":10}}"#)
        #expect(some?.votes == 4 && some?.rating == 7)
        let fewer = try imported(#"{"title":"A","rating":7,"votes":1,"ratings":{"ann":10,"ben":5}}"#)
        #expect(fewer?.votes == 2 && fewer?.rating == 7.5)
        #expect(try imported(#"{"title":"A","rating":"PG","votes":9}"#)?.votes == 0)
        #expect(try imported(#"{"title":"A","ratings":{"ann":11,"ben":"x"}}"#)?.votes == 0)
    }
}

@Suite("A catalogue as a library", .bounded)
struct InMemoryTests {
    @Test("its valid films are there, and invalid ones are reported")
    func catalogue() throws {
        let text = """
            {"name":"Mine","movies":[{"id":"a","title":"A","rating":7,"votes":2},{"id":"a","title":"Again"},
             {"id":"top3","title":"B","year":1920},{"id":"c"}]}
            """
        let (library, problems) = try FilmLibrary.inMemory(parsing: Array(text.utf8), path: "films.json")
        #expect(try library.films(FilmQuery(limit: 9)).films.map(\.id) == ["a", "b-1920"])
        #expect(try library.name == "Mine")
        #expect(try library.film("a")?.rating == 7)
        #expect(
            problems == [
                .duplicateIdentifier(id: "a", line: nil),
                .missingField(movie: "film 4 (\"c\")", field: "title", line: nil),
            ])
    }
}
