import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import FilmSources

/// The file of a library for one process alone.
@Suite("A private folder", .bounded)
struct PrivateFolderTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
    }

    private func library() throws -> FilmLibrary {
        try FilmLibrary(inMemoryFor: "movies.json", in: [place.path])
    }

    @Test("only its user may enter it, and it goes with its library")
    func removed() throws {
        do {
            let library = try library()
            _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
            let names = try names()
            #expect(names.count == 1 && names[0].hasPrefix("marquee-films-"))
            #expect(try !FileCalls().status(ofPath: place.file(names[0])).isOpenToOthers)
        }
        #expect(try names().isEmpty)
    }

    @Test("what a killed process has left is removed; a folder in use, and other names, stay")
    func leftovers() throws {
        let first = try library()
        let used = try names()
        for name in ["marquee-films-old", "marquee-sample-1"] {
            try FileManager.default.createDirectory(
                atPath: place.file(name), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(filePath: place.file(name + "/films.db")))
        }
        let second = try library()
        #expect(try names().count == 3)
        #expect(try Set(names()).isSuperset(of: used + ["marquee-sample-1"]))
        #expect(try !names().contains("marquee-films-old"))
        #expect(try first.count == 0 && second.count == 0)
    }

    @Test("the next place is used where no folder can be made; without any the error says what to do")
    func places() throws {
        let library = try FilmLibrary(inMemoryFor: "movies.json", in: ["/proc", place.path])
        #expect(try library.count == 0)
        #expect(try names().count == 1)
        let error = libraryError { _ = try FilmLibrary(inMemoryFor: "movies.json", in: ["/proc", "/none"]) }
        let reason =
            "its films need a temporary folder, and none can be made in /proc, /none; "
            + "set TMPDIR to a folder with room"
        #expect(error == .system(path: "movies.json", reason: reason))
    }
}

/// The end of a program that has a library open.
@Suite("Closing a library", .bounded)
struct ClosingTests {
    @Test("a closed library is one file as soon as its last read has ended, whoever still holds it")
    func closed() throws {
        try SQLite.open()
        let folder = try TemporaryFolder()
        let path = folder.file("films.db")
        let file = try LibraryFile(path: path, access: .creating, usesTrigrams: true)
        _ = try file.write(isBulk: false, above: 0) { transaction in
            try transaction.put(film(#"{"title":"A"}"#), id: "a", replacing: nil, poster: .asDocument)
        }
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        #expect(try files().count == 3)
        let count = try file.read { database throws(FilmLibraryError) in
            try database.rows("SELECT number FROM films") { _ throws(FilmLibraryError) in
                file.close()
                return true
            }
            return try database.number("SELECT count(*) FROM films")
        }
        #expect(count == 1)
        #expect(try files() == ["films.db"])
        #expect(libraryError { _ = try file.read { _ throws(FilmLibraryError) in 0 } } != nil)
        #expect(try FilmLibrary(path: path, access: .reading).film("a") != nil)
    }
}
