import Foundation
import SystemSupport
import TestSupport
import TestTraits
import Testing
@testable import FilmSources
@testable import Films

/// A library whose file is replaced while it is open, in each way that an operator has.
@Suite("A replaced library", .bounded, .ownThread)
struct ReplacementTests {
    private let folder: TemporaryFolder
    private let path: String
    private let library: FilmLibrary

    /// The open library has the films `old` and `newest`. The second is in its log only.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
        try Self.make(path, "old")
        library = try FilmLibrary(path: path, access: .writing)
        try add("newest")
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")).count > 0)
    }

    /// Makes a library with these films, and closes it.
    private static func make(_ path: String, _ ids: String...) throws {
        let library = try FilmLibrary(path: path, access: .creating)
        for id in ids { _ = try library.insert(film(#"{"title":"A"}"#), id: id) }
    }

    private func add(_ id: String) throws { _ = try library.insert(film(#"{"title":"A"}"#), id: id) }

    private func ids(_ library: FilmLibrary) throws -> [String] {
        try library.films(FilmQuery(limit: 100)).films.map(\.id)
    }

    /// The films in a file, as a later program finds them.
    private func ids(in path: String) throws -> [String] {
        let library = try FilmLibrary(path: path, access: .reading)
        #expect(try library.integrity() == "ok")
        return try ids(library)
    }

    /// Moves a file as `mv` does.
    private func move(_ name: String, to newName: String) throws {
        guard unsafe rename(folder.file(name), folder.file(newName)) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Moves a library with the film `new` over the file.
    private func replace() throws {
        try Self.make(folder.file("new.db"), "new")
        try move("new.db", to: "films.db")
    }

    private func isReplaced(_ body: () throws -> Void) -> Bool {
        if case .replaced = libraryError(body) { true } else { false }
    }

    @Test("the next read and the next write use the library that was moved over the old one")
    func moved() throws {
        try replace()
        #expect(try ids(library) == ["new"])
        try add("later")
        #expect(try ids(library) == ["new", "later"])
        #expect(try ids(in: path) == ["new", "later"])
    }

    @Test("the first write after the move goes to the new library, also without a read before")
    func movedAndWritten() throws {
        try replace()
        try add("later")
        #expect(try ids(in: path) == ["new", "later"])
    }

    @Test("a library opened for reading follows its path too")
    func reading() throws {
        let reader = try FilmLibrary(path: path, access: .reading)
        #expect(try ids(reader) == ["old", "newest"])
        try replace()
        #expect(try ids(reader) == ["new"])
        #expect(try ids(library) == ["new"])
    }

    @Test("all acknowledged writes are in a library that was moved away, although its log stays behind")
    func movedAway() throws {
        try move("films.db", to: "old.db")
        #expect(library.refresh() != nil)
        #expect(try ids(in: folder.file("old.db")) == ["old", "newest"])
        try replace()
        #expect(library.refresh() == nil)
        try add("later")
        #expect(try ids(in: path) == ["new", "later"])
        #expect(try ids(in: folder.file("old.db")) == ["old", "newest"])
    }

    @Test("while the file is gone, writes fail and all reads go on; when it is back, both use it")
    func goneAndBack() throws {
        try move("films.db", to: "away.db")
        #expect(isReplaced { try add("lost") })
        // More reads at once than there are idle connections.
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<20 { #expect((try? ids(library)) == ["old", "newest"]) }
        }
        try move("away.db", to: "films.db")
        try add("later")
        #expect(try ids(library) == ["old", "newest", "later"])
        #expect(try ids(in: path) == ["old", "newest", "later"])
    }

    @Test("while there is no library at the path, writes fail and reads go on, until there is one")
    func notALibrary() throws {
        let text = Data("This is a text and no database.".utf8)
        try text.write(to: URL(filePath: folder.file("text")))
        try move("text", to: "films.db")
        #expect(isReplaced { try add("lost") })
        #expect(library.refresh()?.description.contains("not a Marquee library") == true)
        #expect(try ids(library) == ["old", "newest"])
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
        try replace()
        try add("later")
        #expect(try ids(in: path) == ["new", "later"])
    }

    @Test("when the whole folder is exchanged, both libraries stay complete")
    func folderMoved() throws {
        let place = folder.file("data")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let library = try FilmLibrary(path: place + "/films.db", access: .creating)
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        let other = folder.file("data.new")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try Self.make(other + "/films.db", "b")
        try move("data", to: "data.old")
        try move("data.new", to: "data")
        _ = try library.insert(film(#"{"title":"C"}"#), id: "c")
        #expect(try ids(library) == ["b", "c"])
        #expect(try ids(in: folder.file("data/films.db")) == ["b", "c"])
        #expect(try ids(in: folder.file("data.old/films.db")) == ["a"])
    }

    @Test("a link that leads to another library is followed, and back")
    func linked() throws {
        try Self.make(folder.file("new.db"), "new")
        let link = folder.file("link.db")
        func turn(to name: String) throws {
            try? FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file(name))
        }
        try turn(to: "films.db")
        let linked = try FilmLibrary(path: link, access: .writing)
        #expect(try ids(linked) == ["old", "newest"])
        try turn(to: "new.db")
        _ = try linked.insert(film(#"{"title":"A"}"#), id: "later")
        #expect(try ids(linked) == ["new", "later"])
        try turn(to: "films.db")
        #expect(try ids(linked) == ["old", "newest"])
        try add("last")
        #expect(try ids(linked) == ["old", "newest", "last"])
        #expect(try ids(in: path) == ["old", "newest", "last"])
    }

    @Test("a write during which the file is replaced fails, and its repetition is in the new library")
    func duringWrite() throws {
        try Self.make(folder.file("new.db"), "old")
        func edit(_ before: () throws -> Void) throws {
            _ = try library.update("old") { film in
                try before()
                var document = film.document
                document["year"] = JSONText(1922)
                return document
            }
        }
        #expect(isReplaced { try edit { try move("new.db", to: "films.db") } })
        #expect(try library.film("old")?.document["year"] == nil)
        try edit {}
        #expect(try FilmLibrary(path: path, access: .reading).film("old")?.document["year"]?.number == 1922)
    }

    @Test("while a read uses the old file, nothing is written to the new one; the read ends as it began")
    func duringRead() throws {
        try Self.make(folder.file("new.db"), "new")
        var read: [String] = []
        try library.forEach { film throws(FilmLibraryError) in
            if read.isEmpty {
                #expect(unsafe rename(folder.file("new.db"), path) == 0)
                #expect(isReplaced { try add("lost") })
            }
            read.append(film.id)
            return true
        }
        #expect(read == ["old", "newest"])
        try add("later")
        #expect(try ids(in: path) == ["new", "later"])
    }

    @Test("nothing of the old library is beside the new one, even before that is written")
    func cleared() throws {
        for ending in ["-wal", "-shm"] {
            // The second name keeps the file's number from being used again.
            #expect(unsafe link(path + ending, folder.file("kept") + ending) == 0)
        }
        try replace()
        #expect(try ids(library) == ["new"])
        for ending in ["-wal", "-shm"] {
            let old = try FileCalls().status(ofPath: folder.file("kept") + ending).identity
            let new = try FileCalls().status(ofPath: path + ending).identity
            #expect(new.inode != old.inode)
        }
    }

    @Test("an older file that comes back is not opened while a read from before still uses it")
    func backDuringRead() throws {
        // A read that needs nothing of the log does not keep it.
        #expect(try library.read { database throws(FilmLibraryError) in try database.emptyLog() })
        try Self.make(folder.file("new.db"), "new")
        #expect(unsafe link(path, folder.file("old.db")) == 0)
        var read: [String] = []
        try library.forEach { film throws(FilmLibraryError) in
            if read.isEmpty {
                #expect(unsafe rename(folder.file("new.db"), path) == 0)
                #expect(library.refresh() == nil)
                #expect((try? ids(library)) == ["new"])
                #expect(unsafe rename(folder.file("old.db"), path) == 0)
                #expect(library.refresh()?.description.contains("still in use") == true)
            }
            read.append(film.id)
            return true
        }
        #expect(read == ["old", "newest"])
        try add("later")
        #expect(try ids(in: path) == ["old", "newest", "later"])
    }

    @Test("a restored copy never repeats a revision that clients may have seen")
    func revisions() throws {
        // The copy, as the program sqlite3 makes it, has the films up to here.
        try library.execute("COMMIT; VACUUM INTO '\(folder.file("copy.db"))'; BEGIN IMMEDIATE")
        let lost = try library.insert(film(#"{"title":"A"}"#), id: "a").revision
        try move("copy.db", to: "films.db")
        let first = try library.insert(film(#"{"title":"B"}"#), id: "a")
        #expect(first.revision > lost)
        #expect(try ids(in: path) == ["old", "newest", "a"])
    }

    @Test(
        "a restore by the program sqlite3 is seen at once, and revisions do not repeat",
        .enabled(if: Shell.has("sqlite3"), "sqlite3 is not installed"))
    func restored() throws {
        let copy = folder.file("copy.db")
        func sqlite(_ command: String) -> Bool {
            Shell.output("sqlite3 '\(path)' '\(command)' && echo done").hasSuffix("done\n")
        }
        #expect(sqlite(".backup \(copy)"))
        let lost = try library.insert(film(#"{"title":"A"}"#), id: "a").revision
        let before = try library.state
        #expect(sqlite(".restore \(copy)"))
        #expect(try library.state != before)
        #expect(try ids(library) == ["old", "newest"])
        #expect(try library.insert(film(#"{"title":"B"}"#), id: "a").revision > lost)
        #expect(try ids(in: path) == ["old", "newest", "a"])
    }

    @Test("a library is not made beside the log of another one, which stays as it is")
    func strangeLog() throws {
        try move("films.db", to: "away.db")
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        guard case .system = libraryError({ _ = try FilmLibrary(path: path, access: .creating) }) else {
            Issue.record("a library was made")
            return
        }
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")) == log)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a log that was removed is noticed, and the library keeps its writes")
    func logRemoved() throws {
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(isReplaced { try add("lost") })
        #expect(try ids(library) == ["old", "newest"])
        try FileManager.default.copyItem(atPath: path, toPath: folder.file("copy.db"))
        #expect(try ids(in: folder.file("copy.db")) == ["old", "newest"])
    }

    @Test(
        "no acknowledged write is lost while the file is replaced again and again under readers and writers")
    func race() throws {
        let rounds = Rounds.count(12, many: 200)
        // A second name for each file shows what it has after it has left the path.
        var files = [folder.file("file-0.db")]
        #expect(unsafe link(path, files[0]) == 0)
        let acknowledged = Lock<[String]>([])
        let ends = Lock(false)
        let threads = DispatchGroup()
        for thread in 0..<2 {
            Thread.detachNewThread(in: threads) {
                var number = 0
                while !ends.withLock({ $0 }) {
                    number += 1
                    let id = "w\(thread)-\(number)"
                    if (try? add(id)) != nil { acknowledged.withLock { $0.append(id) } }
                }
            }
            Thread.detachNewThread(in: threads) {
                while !ends.withLock({ $0 }) {
                    // The library of a round has its own film first.
                    let first = try? library.films(FilmQuery(limit: 3)).films.first?.id
                    #expect(first?.hasPrefix("old") == true)
                    #expect((try? library.state) != nil)
                }
            }
        }
        for round in 1...rounds {
            let new = folder.file("new.db")
            try Self.make(new, "old-\(round)")
            let name = folder.file("file-\(round).db")
            #expect(unsafe link(new, name) == 0)
            files.append(name)
            let count = acknowledged.withLock { $0.count }
            try move("new.db", to: "films.db")
            // At least one write goes to each file.
            while acknowledged.withLock({ $0.count }) <= count { sched_yield() }
        }
        ends.withLock { $0 = true }
        threads.wait()
        #expect(library.refresh() == nil)
        var found: Set<String> = []
        for file in files.dropLast() { found.formUnion(try all(in: file)) }
        found.formUnion(try all(in: path))
        let lost = acknowledged.withLock { $0 }.filter { !found.contains($0) }
        #expect(lost.isEmpty)
    }

    private func all(in path: String) throws -> [String] {
        let library = try FilmLibrary(path: path, access: .reading)
        #expect(try library.integrity() == "ok")
        var ids: [String] = []
        try library.forEach { film throws(FilmLibraryError) in
            ids.append(film.id)
            return true
        }
        return ids
    }
}

extension Thread {
    /// Runs a block on a thread of its own, as a member of a group.
    fileprivate static func detachNewThread(
        in group: DispatchGroup, _ block: @escaping @Sendable () -> Void
    ) {
        group.enter()
        detachNewThread {
            block()
            group.leave()
        }
    }
}
