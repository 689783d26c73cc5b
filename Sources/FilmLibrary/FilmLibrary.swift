import FoundationEssentials
import MovieCatalogue
import SystemSupport

/// A persistent catalogue in an SQLite database: searchable, editable, with votes.
///
/// All calls block, and any thread may call. Readers never wait for a writer: each has its own connection. Writers take
/// turns, by a lock within the process and `BEGIN IMMEDIATE` between processes. A write is on disk when it returns.
package final class FilmLibrary: Sendable {
    /// How a library is opened.
    package enum Access: Sendable {
        case reading, writing
        /// For writing; created if absent.
        case creating
    }

    /// Members of a film that the library stores outside the document.
    package static let ownMembers = ["id", "rating", "votes", "created_at", "updated_at", "ratings"]

    /// The most bytes of a film that is written, as JSON without `ownMembers`. A page of films is read and sent as a
    /// whole. A larger film that is stored already stays readable, and can be made smaller. In memory nothing is limited.
    package static let filmBytes = 256 << 10
    /// The most members of a film that is written, without `ownMembers`.
    package static let filmMembers = 1000

    /// The most idle connections kept for readers.
    private static let idleReaders = 16

    /// The database's path, or its name in messages.
    package let path: String
    private let isInMemory: Bool
    private let readerMode: Database.Mode
    /// The writing connection; nil in a read-only library. In memory it reads too.
    private let writer: Lock<Writer?>
    private let readers = Lock<[Database]>([])

    /// A writing connection.
    struct Writer: Sendable {
        let database: Database
        /// Whether it maintains the trigram index.
        var hasTrigrams: Bool
    }

    /// Opens a library.
    /// - Parameter usesTrigrams: whether to use the trigram index, if SQLite supports it.
    package convenience init(path: String, access: Access, usesTrigrams: Bool = true) throws(FilmLibraryError)
    {
        try SQLite.open()
        try Self.check(path, access)
        switch access {
        case .reading:
            let (database, mode) = try Self.reader(path)
            self.init(path: path, isInMemory: false, readerMode: mode, writer: nil)
            readers.withLock { $0.append(database) }
        case .writing, .creating:
            let database = try Database(path: path, mode: access == .creating ? .creating : .writing)
            try database.execute(Schema.settings)
            if try !database.isLibrary() {
                guard access == .creating else { throw .notALibrary(path: path) }
                try database.makeLibrary()
            }
            // Losing the error is right: if another process has the database open, it keeps its journal mode until next
            // time, and every mode is safe.
            _ = try? database.execute("PRAGMA journal_mode = WAL")
            let hasTrigrams = usesTrigrams ? try Self.prepareTrigrams(database) : false
            self.init(
                path: path, isInMemory: false, readerMode: .reading,
                writer: Writer(database: database, hasTrigrams: hasTrigrams))
        }
    }

    /// Creates an empty library in memory.
    /// - Parameter path: the name in messages.
    package convenience init(inMemoryFor path: String) throws(FilmLibraryError) {
        try SQLite.open()
        let database = try Database(path: ":memory:", mode: .creating)
        try database.execute(Schema.settings)
        try database.makeLibrary()
        self.init(
            path: path, isInMemory: true, readerMode: .reading,
            writer: Writer(database: database, hasTrigrams: try Self.prepareTrigrams(database)))
    }

    private init(path: String, isInMemory: Bool, readerMode: Database.Mode, writer: Writer?) {
        self.path = path
        self.isInMemory = isInMemory
        self.readerMode = readerMode
        self.writer = Lock(writer)
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

    // MARK: Connections

    /// Runs `body` with a reading connection.
    func read<Value: Sendable>(
        _ body: (Database) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        if isInMemory {
            return try writer.withLock { writer throws(FilmLibraryError) in
                guard let writer else { throw .readOnly(path: path) }
                return try body(writer.database)
            }
        }
        let database: Database
        if let idle = readers.withLock({ $0.popLast() }) {
            database = idle
        } else {
            database = try Database(path: path, mode: readerMode)
            try database.execute(Schema.settings)
        }
        defer {
            readers.withLock { idle in
                if idle.count < Self.idleReaders { idle.append(database) }
            }
        }
        return try body(database)
    }

    /// Runs `body` in a transaction. On return the changes are on disk; on a throw nothing has changed.
    /// - Parameter isBulk: whether many films are written.
    func write<Value: Sendable>(
        isBulk: Bool = false, _ body: (Transaction) throws -> Value
    ) throws -> Value {
        try writer.withLock { writer in
            guard let database = writer?.database else { throw FilmLibraryError.readOnly(path: path) }
            if isBulk { try database.execute(Schema.bulkCache) }
            // Losing the error is right: the connection only keeps more memory than it needs.
            defer { if isBulk { _ = try? database.execute(Schema.cache) } }
            try database.execute("BEGIN IMMEDIATE")
            do {
                let transaction = Transaction(
                    database, hasTrigrams: writer?.hasTrigrams ?? false, isBulk: isBulk,
                    hasLimits: !isInMemory, revision: try database.revision())
                let value = try body(transaction)
                try transaction.finish()
                try database.execute("COMMIT")
                return value
            } catch {
                database.rollBack()
                throw error
            }
        }
    }
}

extension FilmLibrary {
    /// Checks for problems that SQLite reports only vaguely.
    private static func check(_ path: String, _ access: Access) throws(FilmLibraryError) {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            guard access == .creating else { throw .missing(path: path) }
            let folder = URL(filePath: path).deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder) else {
                throw .system(path: path, reason: "there is no folder \(folder); make it first")
            }
            guard FileManager.default.isWritableFile(atPath: folder) else { throw .readOnly(path: path) }
            return
        }
        guard !isFolder else { throw .system(path: path, reason: "it is a folder; name a file in it") }
        if access != .reading, !FileManager.default.isWritableFile(atPath: path) {
            throw .readOnly(path: path)
        }
    }

    /// Opens a reading connection. It may write SQLite's own files, so that the last one to close removes them. If it
    /// cannot write them and they are absent, nobody writes the library either.
    private static func reader(
        _ path: String
    ) throws(FilmLibraryError) -> (Database, Database.Mode) {
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
                // Losing this error is right: the immutable mode reports its own.
                if let database = try? open(.readingOnly) { return (database, .readingOnly) }
                guard !FileManager.default.fileExists(atPath: path + "-wal") else { throw error }
                return (try open(.immutable), .immutable)
            default: throw error
            }
        }
    }
}
