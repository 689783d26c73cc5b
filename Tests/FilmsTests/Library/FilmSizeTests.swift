import TestTraits
import Testing
@testable import FilmSources
@testable import Films

@Suite("The size of films", .bounded)
struct FilmSizeTests {
    private let test: TestLibrary
    private var library: FilmLibrary { test.library }

    init() throws { test = try TestLibrary() }

    /// A film whose JSON has this many bytes.
    private func film(bytes: Int) throws -> FilmDocument {
        let frame = #"{"title":"A","overview":""}"#
        return film(title: "A", overview: bytes - frame.utf8.count)
    }

    private func film(title: String, overview: Int) -> FilmDocument {
        var document = FilmDocument()
        document["title"] = JSONText(title)
        document["overview"] = JSONText(String(repeating: "x", count: overview))
        return document
    }

    private func film(members: Int) throws -> FilmDocument {
        var document = FilmDocument()
        document["title"] = JSONText("A")
        for number in 1..<members { document["m\(number)"] = JSONText(number) }
        return document
    }

    /// A film beyond the limits, as an earlier version stored it.
    private func store(_ document: FilmDocument, id: String) throws {
        _ = try library.insert(try film(bytes: 100), id: id)
        try library.execute("UPDATE films SET document = '\(document.json())' WHERE id = '\(id)'")
    }

    @Test("members that the library computes do not count")
    func ownMembers() throws {
        var document = try film(members: FilmLibrary.filmMembers)
        document["ratings"] = JSONText(members: [])
        document["votes"] = JSONText(0)
        #expect(try library.insert(document, id: "a").document.members.count == FilmLibrary.filmMembers)
    }

    @Test("a larger film that is stored stays readable, and can be made smaller but not larger")
    func stored() throws {
        let limit = FilmLibrary.filmBytes
        try store(film(bytes: limit + 1000), id: "a")
        try store(film(members: 1500), id: "b")
        #expect(try library.film("a")?.json.text.utf8.count == limit + 1000)
        #expect(try library.film("b")?.document.members.count == 1500)
        #expect(try library.replace("a", with: film(bytes: limit + 1000)).isNew == false)
        #expect(try library.replace("a", with: film(bytes: limit + 500)).isNew == false)
        #expect(
            libraryError { _ = try library.replace("a", with: film(bytes: limit + 501)) }
                == .filmTooLarge(id: "a", bytes: limit + 501, limit: limit))
        #expect(try library.replace("b", with: film(members: 1200)).isNew == false)
        #expect(
            libraryError { _ = try library.replace("b", with: film(members: 1201)) }
                == .tooManyMembers(id: "b", members: 1201, limit: 1000))
        // A vote and a poster leave the text as it is.
        #expect(try library.rate("a", rater: "ann", value: 8)?.votes == 1)
        let poster = PosterBytes(mediaType: "image/png", bytes: [1])
        #expect(try library.update("a", poster: .store(poster)) { $0.document } != nil)
    }

    @Test("a library in memory takes a catalogue's films as they are")
    func inMemory() throws {
        let memory = try FilmLibrary(inMemoryFor: "memory")
        _ = try memory.insert(film(bytes: FilmLibrary.filmBytes + 1), id: "a")
        #expect(try memory.count == 1)
    }

    @Test("the size of a film is known without its text")
    func size() throws {
        try store(film(bytes: 3 << 20), id: "a")
        #expect(try library.size(of: "a") == 3 << 20)
        #expect(try library.size(of: "nobody") == nil)
    }

    @Test(
        "pages with a limit of bytes are together all films in order, forwards and backwards",
        arguments: FilmQuery.Sort.allCases, ["", "d1"])
    func pages(sort: FilmQuery.Sort, search: String) throws {
        for number in 0..<30 {
            let overview = number == 17 ? 5000 : number % 3 * 300
            var document = film(
                title: "Film \(number * 7 % 30)", overview: overview)
            document["director"] = JSONText("D\(number % 2)")
            document["year"] = JSONText(1900 + number % 4)
            document["score"] = JSONText(number % 5)
            _ = try library.insert(document, id: "\(number)")
        }
        let expected = try test.ids(sort, search: search)
        var query = FilmQuery(sort: sort, search: search, limit: 10)
        query.byteLimit = 1000
        var found: [String] = []
        var last: FilmQuery.Page
        repeat {
            last = try library.films(query)
            found += last.films.map(\.id)
            let bytes = last.films.reduce(0) { $0 + $1.json.text.utf8.count }
            #expect(bytes <= 1000 || last.films.count == 1)
            query.after = last.next
        } while last.next != nil
        #expect(found == expected)
        var back = last.films.map(\.id)
        while let previous = last.previous {
            query.before = previous
            last = try library.films(query)
            back = last.films.map(\.id) + back
            let bytes = last.films.reduce(0) { $0 + $1.json.text.utf8.count }
            #expect(bytes <= 1000 || last.films.count == 1)
        }
        #expect(back == expected)
    }

    @Test("a page can be asked for only if it is small")
    func smallPage() throws {
        for number in 0..<4 { _ = try library.insert(film(bytes: 100), id: "\(number)") }
        let query = FilmQuery(limit: 4)
        #expect(try library.films(query, ifAtMost: 400) == library.films(query))
        #expect(try library.films(query, ifAtMost: 399) == nil)
        #expect(try library.films(FilmQuery(limit: 3), ifAtMost: 399)?.next != nil)
        #expect(try library.films(FilmQuery(search: "nobody", limit: 3), ifAtMost: 0)?.films == [])
        try store(film(bytes: 3 << 20), id: "5")
        #expect(try library.films(FilmQuery(limit: 1), ifAtMost: 100)?.films.count == 1)
        #expect(try library.films(FilmQuery(limit: 5), ifAtMost: 1000) == nil)
    }
}
