import FoundationEssentials
import SystemSupport

/// A library's file with its connections: one writes, some read, and one watches for writes of others.
///
/// SQLite opens the database by its path, and its own two files beside it by theirs: the log `films.db-wal` and the log's
/// index `films.db-shm`. If another file takes the path, they stay there, and SQLite would apply them to the wrong
/// database. So a replacement takes these steps:
///
/// 1. `isInPlace` sees that the path leads elsewhere. From then on no connection is opened here.
/// 2. `leave()` copies the log's content to the database, wherever that is now, and removes both files from the path.
/// 3. The library opens the file at the path as another `LibraryFile`. Running reads finish here; the last one closes
///    the connections.
final class LibraryFile: Sendable {
    /// The writing connection.
    private struct Writer: Sendable {
        let database: Database
        /// Whether it maintains the trigram index.
        let hasTrigrams: Bool
        /// The number of transactions.
        var commits = 0
    }

    /// The files that are open. `target` is where the links of `path` lead.
    private struct Place: Sendable {
        let path, target: String
        let database: FileNumber
        /// Nil if there was none, because the database cannot have a log.
        let log, index: FileNumber?

        static let logSuffix = "-wal"
        static let indexSuffix = "-shm"

        /// The files at a path; nil if there is no database.
        init?(_ path: String) {
            guard let database = FileNumber(path) else { return nil }
            (self.path, self.database) = (path, database)
            target = URL(filePath: path).resolvingSymlinksInPath().path
            (log, index) = (FileNumber(target + Self.logSuffix), FileNumber(target + Self.indexSuffix))
        }

        var hasDatabase: Bool { FileNumber(path) == database }
        var hasLog: Bool { log == nil || FileNumber(target + Self.logSuffix) == log }
    }

    /// The most idle connections kept for readers.
    private static let idleReaders = 16

    /// The number of files that the library has opened before this one.
    let generation: Int
    private let path: String
    private let readerMode: Database.Mode
    /// Nil in memory.
    private let place: Place?
    /// Nil if the library is opened for reading. In memory it reads too.
    private let writer: Lock<Writer?>
    /// Nil in memory.
    private let watcher: Lock<Database?>
    private let readers = Lock<[Database]>([])

    /// An empty library in memory.
    /// - Parameter path: the name in messages.
    init(inMemoryFor path: String) throws(FilmLibraryError) {
        let database = try Database(path: ":memory:", mode: .creating)
        try database.execute(Schema.settings)
        try database.makeLibrary()
        (self.path, generation, readerMode, place) = (path, 0, .reading, nil)
        writer = Lock(Writer(database: database, hasTrigrams: try Self.prepareTrigrams(database)))
        watcher = Lock(nil)
    }

    /// Opens a file.
    /// - Parameter usesTrigrams: whether to use the trigram index, if SQLite supports it.
    init(
        path: String, access: FilmLibrary.Access, usesTrigrams: Bool, generation: Int = 0
    ) throws(FilmLibraryError) {
        try Self.check(path, access)
        let before = FileNumber(path)
        writer = Lock(access == .reading ? nil : try Self.writer(path, access, usesTrigrams))
        let (database, mode) = try Self.reader(path)
        guard let place = Place(path), before == nil || place.database == before else {
            throw .replaced(path: path, reason: "was replaced while it was opened; try again")
        }
        (self.path, self.generation, readerMode, self.place) = (path, generation, mode, place)
        watcher = Lock(database)
    }

    /// Checks for problems that SQLite reports only vaguely.
    private static func check(_ path: String, _ access: FilmLibrary.Access) throws(FilmLibraryError) {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            guard access == .creating else { throw .missing(path: path) }
            let folder = URL(filePath: path).deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder) else {
                throw .system(path: path, reason: "there is no folder \(folder); make it first")
            }
            guard FileManager.default.isWritableFile(atPath: folder) else { throw .readOnly(path: path) }
            let log = path + Place.logSuffix
            // SQLite would remove the log, with writes of a library that was moved away, perhaps while it is served.
            guard FileNumber(log) == nil else {
                throw .system(
                    path: path,
                    reason: "there is a log of another library, \(log); make the new one under another name "
                        + "and move it here, or remove the log if no program uses it")
            }
            return
        }
        guard !isFolder else { throw .system(path: path, reason: "it is a folder; name a file in it") }
        // Ignored: SQLite reports why the file cannot be looked at.
        if let status = try? FileCalls().status(ofPath: path, followsLinks: true), !status.isFile {
            throw .system(path: path, reason: "it is not a file; name another library")
        }
        if access != .reading, !FileManager.default.isWritableFile(atPath: path) {
            throw .readOnly(path: path)
        }
    }

    private static func writer(
        _ path: String, _ access: FilmLibrary.Access, _ usesTrigrams: Bool
    ) throws(FilmLibraryError) -> Writer {
        let database = try Database(path: path, mode: access == .creating ? .creating : .writing)
        try database.execute(Schema.settings)
        if try !database.isLibrary() {
            guard access == .creating else { throw .notALibrary(path: path) }
            try database.makeLibrary()
        }
        // Ignored: if another process has the database open, it keeps its journal mode until next time, and every mode
        // is safe.
        _ = try? database.execute("PRAGMA journal_mode = WAL")
        return Writer(
            database: database, hasTrigrams: usesTrigrams ? try Self.prepareTrigrams(database) : false)
    }

    /// Creates the trigram index, if SQLite supports it.
    private static func prepareTrigrams(_ database: Database) throws(FilmLibraryError) -> Bool {
        if database.hasTrigrams { return true }
        do throws(FilmLibraryError) {
            try database.execute(Schema.trigrams)
            return true
        } catch {
            // Without FTS5 or its trigram tokenizer a search scans all films. Another process may have just created the
            // index.
            guard case .system = error else { throw error }
            return database.hasTrigrams
        }
    }

    /// Opens a reading connection. It may write SQLite's own files, so that the last one to close removes them. If it
    /// cannot write them and they are absent, nobody writes the library either.
    private static func reader(_ path: String) throws(FilmLibraryError) -> (Database, Database.Mode) {
        func open(_ mode: Database.Mode) throws(FilmLibraryError) -> Database {
            let database = try Database(path: path, mode: mode)
            try database.execute(Schema.settings)
            guard try database.isLibrary() else { throw .notALibrary(path: path) }
            return database
        }
        do throws(FilmLibraryError) {
            return (try open(.reading), .reading)
        } catch {
            switch error {
            case .readOnly, .system:
                // Ignored: the immutable mode reports its own error.
                if let database = try? open(.readingOnly) { return (database, .readingOnly) }
                guard !FileManager.default.fileExists(atPath: path + Place.logSuffix) else { throw error }
                return (try open(.immutable), .immutable)
            default: throw error
            }
        }
    }

    // MARK: The path

    /// Whether the path leads to the open database, which is enough for a read. One call of `stat`, a microsecond.
    var isAtPath: Bool { place?.hasDatabase ?? true }

    /// Whether the path leads to the open database and its log.
    var isInPlace: Bool { place.map { $0.hasDatabase && $0.hasLog } ?? true }

    /// Prepares for another file at the path: nothing of this one may stay there. Does not wait for other connections.
    /// - Throws: `.replaced` if there is no file, if this one is still in use, or if it needs a restart.
    func leave() throws(FilmLibraryError) {
        guard let place else { return }
        // With this lock no reader opens a connection meanwhile.
        try readers.withLock { _ throws(FilmLibraryError) in
            let (log, index) = (place.target + Place.logSuffix, place.target + Place.indexSuffix)
            let (there, logThere) = (FileNumber(place.target), FileNumber(log))
            let (hasLog, hasIndex) = (logThere == place.log, FileNumber(index) == place.index)
            if there == place.database, hasLog {
                // A link leads elsewhere now, or nowhere. The database and its log stay together.
                guard FileNumber(path) != nil else { throw gone }
                return
            }
            // They have been moved with the database, or there were none.
            if there != place.database, place.log == nil || !hasLog && !hasIndex {
                guard there != nil else { throw gone }
                return
            }
            // The writes of another program's log must not get into this database.
            guard hasLog || logThere == nil else { throw lostLog(log) }
            let isEmpty = try watcher.withLock { watcher throws(FilmLibraryError) in
                try watcher?.emptyLog() ?? true
            }
            guard isEmpty else {
                throw .replaced(
                    path: path, reason: "was replaced, and the old one is still in use; try again")
            }
            // The database is complete now. It keeps its log, because it may come back.
            guard there != nil else { throw gone }
            guard there != place.database else { throw lostLog(log) }
            do throws(FileFault) {
                if hasIndex { try FileCalls().remove(path: index) }
                if hasLog { try FileCalls().remove(path: log) }
            } catch {
                throw .replaced(
                    path: path, reason: "was replaced, and \(error); remove it and try again")
            }
        }
    }

    private var gone: FilmLibraryError {
        .replaced(path: path, reason: "is gone; put a library there")
    }

    private func lostLog(_ log: String) -> FilmLibraryError {
        .replaced(path: path, reason: "has lost its log \(log); restart this program")
    }

    // MARK: Connections

    /// Runs `body` with a reading connection.
    func read<Value: Sendable>(
        _ body: (Database) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        guard place != nil else {
            return try writer.withLock { writer throws(FilmLibraryError) in
                guard let writer else { throw .readOnly(path: path) }
                return try body(writer.database)
            }
        }
        guard let database = try connection() else {
            // Without a new connection the reads take turns.
            return try watcher.withLock { watcher throws(FilmLibraryError) in
                guard let watcher else { throw .missing(path: path) }
                return try body(watcher)
            }
        }
        defer {
            readers.withLock { idle in
                if idle.count < Self.idleReaders { idle.append(database) }
            }
        }
        return try body(database)
    }

    /// An idle connection, or a new one; nil if a new one would open another file.
    private func connection() throws(FilmLibraryError) -> Database? {
        try readers.withLock { idle throws(FilmLibraryError) in
            if let database = idle.popLast() { return database }
            guard isInPlace else { return nil }
            let database = try Database(path: path, mode: readerMode)
            // The first read opens the log. Until then the connection can be closed without a trace.
            guard isInPlace else { return nil }
            try database.execute(Schema.settings)
            _ = try database.revision()
            return database
        }
    }

    /// Changes with every write of any connection, also of another process; it may change without one.
    func version() throws(FilmLibraryError) -> Int {
        guard place != nil else { return writer.withLock { $0?.commits ?? 0 } }
        return try watcher.withLock { watcher throws(FilmLibraryError) in
            try watcher?.version() ?? 0
        }
    }

    /// Runs `body` in a transaction. On return the changes are on disk; on a throw nothing has changed.
    /// - Parameters:
    ///   - isBulk: whether many films are written.
    ///   - revision: the changes get a higher one.
    /// - Returns: the value, and the library's revision; nil, and nothing has changed, if the path leads to another file.
    func write<Value: Sendable>(
        isBulk: Bool, above revision: Int, _ body: (Transaction) throws -> Value
    ) throws -> (value: Value, revision: Int)? {
        try writer.withLock { writer in
            guard let database = writer?.database else { throw FilmLibraryError.readOnly(path: path) }
            if isBulk { try database.execute(Schema.bulkCache) }
            // Ignored: the connection only keeps more memory than it needs.
            defer { if isBulk { _ = try? database.execute(Schema.cache) } }
            try database.execute("BEGIN IMMEDIATE")
            let written: (value: Value, revision: Int)
            do {
                // Looked at here, not earlier: the wait for another program's transaction has ended.
                guard isInPlace else {
                    database.rollBack()
                    return nil
                }
                let present = try database.revision()
                let transaction = Transaction(
                    database, hasTrigrams: writer?.hasTrigrams ?? false, isBulk: isBulk,
                    hasLimits: place != nil, revision: (max(present.revision, revision), present.isIndexed))
                let value = try body(transaction)
                try transaction.finish()
                try database.execute("COMMIT")
                written = (value, transaction.lastRevision)
            } catch {
                database.rollBack()
                throw error
            }
            writer?.commits += 1
            guard isInPlace else {
                throw FilmLibraryError.replaced(
                    path: path, reason: "was replaced during this write, and the new one lacks it; repeat it")
            }
            return written
        }
    }
}
