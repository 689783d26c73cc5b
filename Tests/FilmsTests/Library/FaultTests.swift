import FilmSources
import Foundation
import TestSupport
import TestTraits
import Testing

/// Concurrent processes, kills and full disks.
@Suite("Library faults", .bounded, .ownThread)
struct FaultTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
    }

    /// Checks that every acknowledged write is in the library, complete.
    private func check(_ acknowledged: [Int], _ name: String = "film") throws {
        let library = try FilmLibrary(path: path, access: .reading)
        #expect(try library.integrity() == "ok")
        // The next write removes every third film.
        for number in acknowledged where number % 3 != 2 {
            let film = try library.film("\(name)-\(number)")
            #expect(film?.document["title"]?.string == "\(number % 7 == 0 ? "Changed" : "Film") \(number)")
            #expect(try library.poster(of: "\(name)-\(number)")?.bytes == Probe.poster(number))
            #expect(film?.votes == (number % 5 == 0 ? 1 : 0))
        }
        // The write that ran when the process ended is there completely or not at all.
        let whole = try library.count
        let expected = acknowledged.count { $0 % 3 != 2 || $0 == acknowledged.last }
        #expect((expected...expected + 1).contains(whole))
    }

    @Test("eight processes that edit one film at once lose no edit")
    func writersAtOnce() throws {
        let library = try FilmLibrary(path: path, access: .creating)
        _ = try library.insert(film(#"{"title":"A"}"#), id: "a")
        let probes = try (0..<8).map { _ in try Probe(["edit", path, "a", "100"]) }
        for probe in probes {
            let end = probe.end()
            #expect(end.status == 0 && end.acknowledged.count == 100, "\(end.errors)")
        }
        #expect(try library.film("a")?.document["count"]?.number == 800)
        #expect(try library.integrity() == "ok")
    }

    /// The library's log has a header of 32 bytes, then pages of 4096 bytes with a header of 24 bytes each. A write
    /// beyond a limit first fills the file up to it.
    @Test(
        "a process killed in any write to the log loses no acknowledged write",
        arguments: [0, 10, 24, 2000, 4116])
    func kills(offset: Int) throws {
        // Over the first thirteen films, of which some are rated, changed and removed.
        for frame in stride(from: 30 + offset % 7, to: 330, by: 83) {
            for file in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
            let limit = 32 + frame * (24 + 4096) + offset
            let end = try Probe(["write", path, "film", "100000", "\(limit)"]).end()
            #expect(end.status == SIGXFSZ, "\(end.errors)")
            let log = try Data(contentsOf: URL(filePath: path + "-wal"))
            // The last write was cut off there.
            #expect(log.count == limit)
            #expect(end.acknowledged.count > 0)
            try check(end.acknowledged)
        }
    }

    @Test("a file that may not grow is an error, and the library keeps its contents")
    func fileSizeLimit() throws {
        // The limit is in blocks of 512 bytes. The journal reaches it first.
        let end = try Probe(["write", path, "film", "100000"], shell: "ulimit -f 4096; exec \"$@\"").end()
        #expect(end.status == 1 && end.errors.contains("the disk is full"), "\(end.errors)")
        #expect(end.acknowledged.count > 10)
        try check(end.acknowledged)
    }

    @Test("a full disk is an error, and the library keeps its contents")
    func fullDisk() throws {
        guard let end = try onSmallDisk(["write", "film", "100000"]) else { return }
        #expect(end.status == 1 && end.errors.contains("the disk is full"), "\(end.errors)")
        #expect(end.acknowledged.count > 10)
        try check(end.acknowledged)
    }

    @Test("a log that has filled the disk is folded into the library before a write fails")
    func foldedLog() throws {
        _ = try FilmLibrary(path: path, access: .creating).insert(film(#"{"title":"A"}"#), id: "a")
        // Without a fold about a hundred edits fill the disk. SQLite folds a log of four megabytes by itself.
        guard let end = try onSmallDisk(["edit", "a", "1000"]) else { return }
        #expect(end.status == 0 && end.acknowledged.count == 1000, "\(end.acknowledged.count): \(end.errors)")
        #expect(try FilmLibrary(path: path, access: .reading).film("a")?.document["count"]?.number == 1000)
    }

    @Test("on a disk that posters have filled, films can be removed, and then others stored")
    func removedFromFullDisk() throws {
        guard let end = try onSmallDisk(["fill", "film", "20"]) else { return }
        #expect(end.status == 0 && end.acknowledged == Array(1...21), "\(end.acknowledged) \(end.errors)")
        #expect(try FilmLibrary(path: path, access: .reading).integrity() == "ok")
    }

    /// Runs the probe with the library on a disk of 3 MB. The process mounts a file system of its own, which ends with it;
    /// the shell copies the files there first, and back.
    /// - Parameter words: the probe's words without the library.
    /// - Returns: nil where nothing can be mounted.
    private func onSmallDisk(_ words: [String]) throws -> (
        status: Int32, acknowledged: [Int], errors: String
    )? {
        let disk = folder.file("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let commands = """
            mount -t tmpfs -o size=3m none "$0" 2>/dev/null || exit 77
            cp "\(folder.path)"/films.db* "$0" 2>/dev/null
            "$@" || status=$?
            cp "$0"/films.db* "\(folder.path)/"
            exit $status
            """
        let end = try Probe(
            [words[0], disk + "/films.db"] + words.dropFirst(),
            shell: "exec unshare -m sh -c '\(commands)' '\(disk)' \"$@\""
        ).end()
        if end.status == 77 || end.errors.contains("unshare") {
            print("skipped: a file system cannot be mounted here")
            return nil
        }
        return end
    }

    @Test(
        "the program sqlite3 finds no error in a library",
        .enabled(if: Shell.has("sqlite3"), "sqlite3 is not installed"))
    func sqlite3() throws {
        let library = try FilmLibrary(path: path, access: .creating)
        _ = try library.insert(film(#"{"title":"Häxan","year":1922}"#), id: "a")
        let query = "PRAGMA integrity_check; SELECT id, document FROM films"
        #expect(
            Shell.output("sqlite3 '\(path)' '\(query)'") == "ok\na|{\"title\":\"Häxan\",\"year\":1922}\n")
    }
}

@Suite("Opening a library", .bounded)
struct OpeningTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
    }

    private func error(_ access: FilmLibrary.Access) -> FilmLibraryError? {
        libraryError { _ = try FilmLibrary(path: path, access: access) }
    }

    @Test("a missing file is created only if the access says so")
    func missing() throws {
        #expect(error(.reading) == .missing(path: path))
        #expect(error(.writing) == .missing(path: path))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(error(.creating) == nil)
        #expect(error(.reading) == nil)
    }

    @Test("the error says when the folder is missing")
    func noFolder() {
        let error = libraryError {
            _ = try FilmLibrary(path: folder.file("none/films.db"), access: .creating)
        }
        #expect(error?.description.contains("there is no folder") == true)
    }

    @Test(
        "a file that is not a library is refused and left alone",
        arguments: [FilmLibrary.Access.reading, .writing, .creating])
    func notALibrary(access: FilmLibrary.Access) throws {
        let text = Data(String(repeating: "This is a text and no database.\n", count: 200).utf8)
        try text.write(to: URL(filePath: path))
        #expect(error(access) == .notALibrary(path: path))
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
    }

    @Test("another program's database and a later version's library are refused")
    func foreign() throws {
        let library = try FilmLibrary(path: path, access: .creating)
        try library.execute("PRAGMA user_version = 2")
        #expect(error(.reading) == .newerVersion(path: path))
        #expect(error(.writing) == .newerVersion(path: path))
        try library.execute("PRAGMA user_version = 1; PRAGMA application_id = 7")
        #expect(error(.creating) == .notALibrary(path: path))
    }

    @Test("an empty file becomes a library if the access says so")
    func empty() throws {
        try Data().write(to: URL(filePath: path))
        #expect(error(.reading) == .notALibrary(path: path))
        #expect(error(.creating) == nil)
    }

    @Test("a truncated library is reported as damaged")
    func cut() throws {
        do {
            let library = try FilmLibrary(path: path, access: .creating)
            for number in 0..<200 {
                _ = try library.insert(film(#"{"title":"Film \#(number)"}"#), id: "\(number)")
            }
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
        let error = libraryError {
            let library = try FilmLibrary(path: path, access: .reading)
            try library.forEach { _ throws(FilmLibraryError) in true }
        }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a folder is not a library, and its error is one line")
    func lines() {
        guard case .system = libraryError({ _ = try FilmLibrary(path: folder.path, access: .creating) })
        else {
            Issue.record("a folder was opened")
            return
        }
        let errors: [FilmLibraryError] = [
            .sqliteMissing(reason: "r"), .missing(path: "p"), .notALibrary(path: "p"),
            .newerVersion(path: "p"),
            .readOnly(path: "p"), .busy(path: "p"), .full(path: "p"), .corrupt(path: "p", reason: "r"),
            .system(path: "p", reason: "r"), .idTaken(id: "a"), .invalidID(id: "a", fault: "f"),
            .invalidFilm(.empty), .invalidCursor,
        ]
        for error in errors { #expect(!error.description.isEmpty && !error.description.contains("\n")) }
    }
}
