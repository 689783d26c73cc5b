import FoundationEssentials
import Hashing
import TestSupport
import TestTraits
import Testing

@testable import FilmSources

/// A tag names one content, or one write, for ever: clients, proxies and caches keep what it named.
@Suite("Tags of a library", .bounded)
struct TagTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
        let library = try FilmLibrary(path: path, access: .creating)
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
    }

    private func poster(_ byte: UInt8, count: Int = 5000) -> PosterBytes {
        PosterBytes(mediaType: "image/png", bytes: [UInt8](repeating: byte, count: count))
    }

    /// Stores a poster of the film in a file, and closes it.
    /// - Returns: the poster's tag, and the film's revision.
    @discardableResult
    private func store(_ poster: PosterBytes, in path: String) throws -> (tag: String, revision: Int) {
        let library = try FilmLibrary(path: path, access: .writing)
        let film = try #require(try library.update("a", poster: .store(poster)) { $0.document })
        return (try tag(in: library), film.revision)
    }

    private func tag(in library: FilmLibrary) throws -> String {
        guard case .stored(_, _, let tag) = try library.film("a")?.poster else { return "none" }
        #expect(try library.poster(of: "a")?.tag == tag)
        return tag
    }

    @Test("a poster's tag is the digest of its bytes, in every library")
    func digest() throws {
        let other = folder.file("other.db")
        _ = try FilmLibrary(path: other, access: .creating).insert(film(#"{"title":"B"}"#), id: "a")
        let first = try store(poster(1), in: path).tag
        #expect(first == String(SHA256.hash(of: poster(1).bytes.span).hexadecimal.prefix(32)))
        #expect(try store(poster(2), in: path).tag != first)
        #expect(try store(poster(1), in: path).tag == first)
        #expect(try store(poster(1), in: other).tag == first)
    }

    @Test("after a restore from a copy, with every program stopped, no tag of before names another write")
    func restored() throws {
        let copy = folder.file("copy.db")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let before = try store(poster(1), in: path)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: copy, toPath: path)
        let after = try store(poster(2), in: path)
        #expect(after.tag != before.tag && after.revision != before.revision)
    }

    @Test("posters that earlier versions stored under a counter have different tags in two copies")
    func counters() throws {
        let copy = folder.file("copy.db")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try store(poster(1), in: path)
        // Films are written at most every millisecond.
        let now = Timestamp.now
        while Timestamp.now == now {}
        try store(poster(2), in: copy)
        let tags = try [path, copy].map { path in
            let library = try FilmLibrary(path: path, access: .writing)
            try library.execute("UPDATE posters SET tag = 'cre66ia3'")
            let tag = try tag(in: library)
            #expect(tag.utf8.count <= 64)
            #expect(tag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
            return tag
        }
        #expect(tags[0] != tags[1])
        // A vote leaves the poster as it is.
        let library = try FilmLibrary(path: path, access: .writing)
        _ = try library.rate("a", rater: "ann", value: 8)
        #expect(try tag(in: library) == tags[0])
    }

    @Test("an earlier version goes on writing the library: its revisions are higher by one")
    func earlierVersion() throws {
        let library = try FilmLibrary(path: path, access: .writing)
        // Often: a revision that does not follow from the last one may be higher by chance.
        for _ in 0..<20 {
            let before = try library.revision
            try library.execute("UPDATE facts SET value = value + 1 WHERE key = 'revision'")
            #expect(try library.revision == before + 1)
            #expect(try #require(try library.rate("a", rater: "ann", value: 8)).revision > before + 1)
        }
        #expect(try library.films(FilmQuery(search: "a", limit: 9)).films.map(\.id) == ["a"])
    }

    @Test("a catalogue that is only read has the same tags after a restart, and others after a change")
    func catalogue() throws {
        func revisions(_ title: String) throws -> [Int] {
            let text = #"{"movies":[{"id":"a","title":"\#(title)"},{"id":"b","title":"B"}]}"#
            let (library, _) = try FilmLibrary.inMemory(parsing: Array(text.utf8), path: "x")
            return try [library.revision] + library.films(FilmQuery(limit: 9)).films.map(\.revision)
        }
        let first = try revisions("A")
        #expect(try revisions("A") == first)
        #expect(try revisions("C") != first)
        #expect(Set(first).count == 1)
    }
}
