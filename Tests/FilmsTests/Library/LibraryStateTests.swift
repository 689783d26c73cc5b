import Foundation
import SystemSupport
import TestSupport
import TestTraits
import Testing
@testable import Films

@Suite("The state of a library", .bounded, .ownThread)
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
        // Leaving folds the log, which may change the state.
        #expect(test.library.refresh() != nil)
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

    @Test("reads, searches and the state go on while a transaction of a library in memory is held")
    func heldTransaction() throws {
        let library = try FilmLibrary(inMemoryFor: "memory")
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        let (reached, gate, ended) = (Gate(), Gate(), Gate())
        try BlockingThreads.startThread {
            // Ignored: the count below tells.
            try? library.importFilms { films in
                _ = try films.add(film(#"{"title":"B"}"#), id: "b", poster: nil, replaces: false)
                reached.open()
                gate.wait()
            }
            ended.open()
        }
        reached.wait()
        let state = try library.state
        #expect(try library.films(FilmQuery(search: "a", limit: 9)).films.map(\.id) == ["a"])
        #expect(try library.count == 1)
        #expect(try library.state == state)
        gate.open()
        ended.wait()
        #expect(try library.state != state)
        #expect(try library.count == 2)
    }

    @Test("reads go on while a read of a library in memory is held")
    func heldRead() throws {
        let library = try FilmLibrary(inMemoryFor: "memory")
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        let (reached, gate, ended) = (Gate(), Gate(), Gate())
        try BlockingThreads.startThread {
            // Ignored: the read is not the one that is tested.
            try? library.forEach { _ throws(FilmLibraryError) in
                reached.open()
                gate.wait()
                return true
            }
            ended.open()
        }
        reached.wait()
        _ = try library.state
        #expect(try library.film("a") != nil)
        #expect(try library.insert(film(#"{"title":"B"}"#), id: "b").id == "b")
        gate.open()
        ended.wait()
    }

    @Test("a full disk is told until there is room again")
    func fullDisk() throws {
        let test = try TestLibrary()
        let library = test.library
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        #expect(library.refresh() == nil)
        try library.execute("PRAGMA max_page_count = 1")
        let poster = PosterBytes(mediaType: "image/png", bytes: [UInt8](repeating: 7, count: 1 << 20))
        func store() throws { _ = try library.update("a", poster: .store(poster)) { $0.document } }
        #expect(libraryError(store) == .full(path: test.path))
        #expect(library.refresh() == .full(path: test.path))
        #expect(library.writeCounts.failed == [.full: 1])
        try library.execute("PRAGMA max_page_count = 1000000")
        #expect(library.refresh() == nil)
        #expect(libraryError(store) == nil)
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
