import Foundation
import TestSupport
import TestTraits
import Testing
@testable import Films

@Suite("The state of a library", .bounded)
struct LibraryStateTests {
    @Test("it changes with each write of any connection, and not with reads")
    func state() throws {
        let test = try TestLibrary()
        let other = try FilmLibrary(path: test.path, access: .writing)
        var states = [try test.library.state]
        func check(changes: Bool, _ body: () throws -> Void) throws {
            try body()
            let state = try test.library.state
            #expect(states.contains(state) != changes)
            states.append(state)
        }
        try check(changes: true) { _ = try test.library.insert(film(#"{"title":"A"}"#), id: "a") }
        try check(changes: true) { _ = try other.rate("a", rater: "ann", value: 8) }
        try check(changes: false) { _ = try test.library.film("a") }
        try check(changes: true) { try other.setName("Films") }
        try check(changes: false) { _ = try test.library.films(FilmQuery(limit: 5)) }
        try FileManager.default.moveItem(atPath: test.path, toPath: test.path + ".old")
        try check(changes: false) { _ = test.library.refresh() }
        let new = test.folder.file("new.db")
        _ = try FilmLibrary(path: new, access: .creating).insert(film(#"{"title":"A"}"#), id: "b")
        try check(changes: true) {
            try FileManager.default.moveItem(atPath: new, toPath: test.path)
            #expect(test.library.refresh() == nil)
        }
    }

    @Test("it changes with each write of a library in memory")
    func inMemory() throws {
        let library = try FilmLibrary(inMemoryFor: "memory")
        let before = try library.state
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        #expect(try library.state != before)
    }

    @Test("writes are counted, failed ones by their reason, refused ones not at all")
    func counts() throws {
        let test = try TestLibrary()
        let library = test.library
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        _ = try library.rate("a", rater: "ann", value: 8)
        #expect(throws: FilmLibraryError.self) {
            try library.insert(film(#"{"title":"A"}"#), id: "a")
        }
        #expect(library.writeCounts.stored == 2 && library.writeCounts.failed.isEmpty)
        let reader = try FilmLibrary(path: test.path, access: .reading)
        #expect(throws: FilmLibraryError.self) { try reader.remove("a") }
        #expect(reader.writeCounts.failed == [.readOnly: 1])
        // No page more than the library has.
        try library.execute("PRAGMA max_page_count = 1")
        let poster = PosterBytes(mediaType: "image/png", bytes: [UInt8](repeating: 7, count: 1 << 20))
        #expect(
            libraryError { _ = try library.update("a", poster: .store(poster)) { $0.document } }
                == .full(path: test.path))
        try FileManager.default.moveItem(atPath: test.path, toPath: test.path + ".old")
        #expect(throws: FilmLibraryError.self) { try library.remove("a") }
        #expect(library.writeCounts.failed == [.full: 1, .replaced: 1])
    }
}
