import FoundationEssentials
import SystemSupport

/// A library's file with its connections: one writes, some read, and one watches for writes of others. The last connection
/// of all processes folds the log into the database and removes it, so each is closed at the end.
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
    }

    /// The connections for reads that run beside each other.
    private struct Readers: Sendable {
        var idle: [Database] = []
        /// How many others there are: each runs a read.
        var running = 0
        var isClosed = false
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
    private let place: Place
    /// The folder of a library for this process alone; nil for others.
    private let folder: PrivateFolder?
    /// Nil if the library is opened for reading, and after its end.
    private let writer: Lock<Writer?>
    /// Held for microseconds, whatever the others do: threads that serve connections ask it. Nil after the end.
    private let watcher: Lock<Database?>
    /// For reads without a connection of their own, which take turns. Nil after the end.
    private let spare: Lock<Database?>
    private let readers = Lock(Readers())
    /// Held while a connection is opened, and while the path is left: a connection opens the log by its name.
    private let opening = Lock(())
    /// Whether `leave()` has removed the log. The open connections then have a log without a name.
    private let hasLeft = Lock(false)

    /// Opens a file.
    /// - Parameters:
    ///   - usesTrigrams: whether to use the trigram index, if SQLite supports it.
    ///   - folder: the private folder that has the file; nil for a library that stays.
    init(
        path: String, access: FilmLibrary.Access, usesTrigrams: Bool, generation: Int = 0,
        in folder: PrivateFolder? = nil
    ) throws(FilmLibraryError) {
        try Self.check(path, access)
        let before = FileNumber(path)
        writer = Lock(
            access == .reading ? nil : try Self.writer(path, access, usesTrigrams, folder != nil))
        let (database, mode) = try Self.reader(path)
        let watcher = try Database(path: path, mode: mode)
        _ = try watcher.version()
        guard let place = Place(path), before == nil || place.database == before else {
            throw .replaced(path: path, reason: "was replaced while it was opened; try again")
        }
        (self.path, self.generation, readerMode, self.place) = (path, generation, mode, place)
        self.folder = folder
        self.watcher = Lock(watcher)
        spare = Lock(database)
        Self.all.withLock { $0[ObjectIdentifier(self)] = Opened(file: self) }
    }

    deinit { Self.all.withLock { $0[ObjectIdentifier(self)] = nil } }

    // MARK: The end

    private struct Opened: Sendable {
        weak var file: LibraryFile?
    }

    /// The files that are open in this process.
    private static let all = Lock<[ObjectIdentifier: Opened]>([:])

    /// Closes all open files, at the end of the program: what still holds one need not be found. Blocks until running
    /// writes have ended.
    static func closeAll() {
        for opened in all.withLock({ Array($0.values) }) { opened.file?.close() }
    }

    /// Closes the connections; one that reads is closed after that. The file cannot be used afterwards.
    func close() {
        // Nothing is left of a private file, so its running transaction may take its time.
        if let folder { return folder.remove() }
        opening.withLock { _ in readers.withLock { ($0.idle, $0.isClosed) = ([], true) } }
        closeOthers()
    }

    private func closeOthers() {
        spare.withLock { $0 = nil }
        watcher.withLock { $0 = nil }
        writer.withLock { $0 = nil }
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
        _ path: String, _ access: FilmLibrary.Access, _ usesTrigrams: Bool, _ isPrivate: Bool
    ) throws(FilmLibraryError) -> Writer {
        let database = try Database(path: path, mode: access == .creating ? .creating : .writing)
        try database.execute(Schema.settings + (isPrivate ? Schema.unsynchronized : ""))
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
    var isAtPath: Bool { place.hasDatabase }

    /// Whether the path leads to the open database and its log.
    var isInPlace: Bool { place.hasDatabase && place.hasLog }

    /// Prepares for another file at the path: nothing of this one may stay there. Does not wait for other connections.
    /// - Throws: `.replaced` if there is no file, if this one is still in use, or if it needs a restart.
    func leave() throws(FilmLibraryError) {
        try opening.withLock { _ throws(FilmLibraryError) in
            let (log, index) = (place.target + Place.logSuffix, place.target + Place.indexSuffix)
            let (there, logThere) = (FileNumber(place.target), FileNumber(log))
            let (hasLog, hasIndex) = (logThere == place.log, FileNumber(index) == place.index)
            if there == place.database, hasLog {
                // A link leads elsewhere now, or nowhere. The database and its log stay together.
                guard FileNumber(path) != nil else { throw gone }
                return
            }
            // It is back. New connections would share the log of these, so all are closed.
            if there == place.database, hasLeft.withLock({ $0 }) {
                let isIdle = readers.withLock { readers in
                    guard readers.running == 0 else { return false }
                    (readers.idle, readers.isClosed) = ([], true)
                    return true
                }
                guard isIdle else {
                    throw .replaced(path: path, reason: "is back, and reads still use it; try again")
                }
                return closeOthers()
            }
            // They have been moved with the database, or there were none.
            if there != place.database, place.log == nil || !hasLog && !hasIndex {
                guard there != nil else { throw gone }
                return
            }
            // The writes of another program's log must not get into this database.
            guard hasLog || logThere == nil else { throw lostLog(log) }
            let isEmpty = try spare.withLock { spare throws(FilmLibraryError) in
                try spare?.emptyLog() ?? true
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
                hasLeft.withLock { $0 = true }
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
        guard let database = try connection() else {
            // Without a new connection the reads take turns.
            return try spare.withLock { spare throws(FilmLibraryError) in
                guard let spare else { throw .system(path: path, reason: "it has been closed") }
                return try body(spare)
            }
        }
        defer {
            readers.withLock { readers in
                readers.running -= 1
                if !readers.isClosed, readers.idle.count < Self.idleReaders {
                    readers.idle.append(database)
                }
            }
        }
        return try body(database)
    }

    /// An idle connection, or a new one; nil if a new one would open another file, and after the end.
    private func connection() throws(FilmLibraryError) -> Database? {
        func take(_ database: Database?, _ readers: inout Readers) -> Database? {
            if database != nil { readers.running += 1 }
            return database
        }
        let idle = readers.withLock { take($0.idle.popLast(), &$0) }
        if let idle { return idle }
        return try opening.withLock { _ throws(FilmLibraryError) in
            guard isInPlace, !readers.withLock({ $0.isClosed }) else { return nil }
            let database = try Database(path: path, mode: readerMode)
            // The first read opens the log. Until then the connection can be closed without a trace.
            guard isInPlace else { return nil }
            try database.execute(Schema.settings)
            _ = try database.revision()
            return readers.withLock { take(database, &$0) }
        }
    }

    /// Changes with every write of any connection, also of another process; it may change without one.
    func version() throws(FilmLibraryError) -> Int {
        try watcher.withLock { watcher throws(FilmLibraryError) in try watcher?.version() ?? 0 }
    }

    /// Runs `body` in a transaction. On return the changes are on disk; on a throw nothing has changed.
    /// - Parameters:
    ///   - isBulk: whether many films are written.
    ///   - grows: whether it needs room on the disk, as all but a removal does.
    ///   - revision: the changes get a higher one.
    /// - Returns: the value, and the library's revision; nil, and nothing has changed, if the path leads to another file.
    func write<Value: Sendable>(
        isBulk: Bool, grows: Bool = true, above revision: Int, _ body: (Transaction) throws -> Value
    ) throws -> (value: Value, revision: Int)? {
        try writer.withLock { writer in
            guard let writer else { throw FilmLibraryError.readOnly(path: path) }
            // Ignored: what comes after it reports that there is no room.
            func fold() { _ = try? writer.database.emptyLog(waiting: Self.longestFold) }
            if !isBulk, !hasRoom() {
                fold()
                // What removed films have left takes the folded log's pages.
                let free = try writer.database.number(Schema.freeBytes)
                guard hasRoom(inLibrary: free) || !grows else { throw FilmLibraryError.full(path: path) }
            }
            do {
                return try transaction(writer, isBulk: isBulk, above: revision, body)
            } catch FilmLibraryError.full where !isBulk {
                fold()
                return try transaction(writer, isBulk: isBulk, above: revision, body)
            }
        }
    }

    /// Whether the disk has room for the log's pages, without which the log could not be folded, and for a removal. Both
    /// are kept free.
    /// - Parameter bytes: the room within the library.
    private func hasRoom(inLibrary bytes: Int = 0) -> Bool {
        var disk = statvfs()
        // Ignored: without an answer the write itself shows it.
        guard unsafe statvfs(path, &disk) == 0,
            let log = try? FileCalls().status(ofPath: place.target + Place.logSuffix).size
        else { return true }
        return Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize)) + bytes >= log
            + Self.roomOfRemoval
    }

    /// Some thirty pages, in bytes.
    private static let roomOfRemoval = 128 << 10
    /// How long a write on a full disk waits for reads of the log to end, in milliseconds.
    private static let longestFold: Int32 = 1000

    private func transaction<Value: Sendable>(
        _ writer: Writer, isBulk: Bool, above revision: Int, _ body: (Transaction) throws -> Value
    ) throws -> (value: Value, revision: Int)? {
        let database = writer.database
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
                database, hasTrigrams: writer.hasTrigrams, isBulk: isBulk, hasLimits: folder == nil,
                revision: (max(present.revision, revision), present.isIndexed))
            let value = try body(transaction)
            try transaction.finish()
            try database.execute("COMMIT")
            written = (value, transaction.lastRevision)
        } catch {
            database.rollBack()
            throw error
        }
        guard isInPlace else {
            throw FilmLibraryError.replaced(
                path: path, reason: "was replaced during this write, and the new one lacks it; repeat it")
        }
        return written
    }
}
