import Foundation
import SystemSupport
import TestSupport
import TestTraits
import Testing
@testable import FilmSources

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
        try check(changes: true) { try other.importFilms { try $0.setNameIfNone("Films") } }
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

    /// Runs `work` on another thread, which waits where it calls the closure, until `body` has run.
    private func hold(
        _ work: @escaping @Sendable (_ wait: () -> Void) throws -> Void, meanwhile body: () throws -> Void
    ) throws {
        let (reached, gate, ended) = (Gate(), Gate(), Gate())
        try BlockingThreads.startThread {
            // Ignored: the reads tell.
            try? work {
                reached.open()
                gate.wait()
            }
            ended.open()
        }
        reached.wait()
        try body()
        gate.open()
        ended.wait()
    }

    @Test("reads, searches and the state go on while a transaction or a read of a library in memory is held")
    func held() throws {
        let library = try FilmLibrary(inMemoryFor: "memory")
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        var state: Int64?
        try hold { wait in
            try library.importFilms { films in
                _ = try films.add(film(#"{"title":"B"}"#), id: "b", poster: nil, replaces: false)
                wait()
            }
        } meanwhile: {
            state = try library.state
            #expect(try library.films(FilmQuery(search: "a", limit: 9)).films.map(\.id) == ["a"])
            #expect(try library.count == 1 && library.state == state)
        }
        #expect(try library.count == 2 && library.state != state)
        try hold { wait in
            try library.forEach { _ throws(FilmLibraryError) in
                wait()
                return false
            }
        } meanwhile: {
            _ = try library.state
            #expect(try library.film("a") != nil)
            #expect(try library.insert(film(#"{"title":"C"}"#), id: "c").id == "c")
        }
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
