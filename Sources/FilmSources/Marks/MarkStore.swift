package import Films
import SystemSupport

/// A person's marks of films, in an SQLite database of their own: they belong to the person, and not to a library. Several
/// programs may use it at once; each change of a mark is a transaction, so that none is lost.
///
/// All calls block. Safe for concurrent use.
package final class MarkStore: Sendable {
    private let database: Lock<Database>

    /// A change of a mark.
    package struct Change: Sendable, Hashable {
        /// One of `FilmMarks.keys`.
        package let key: String
        package let mark: FilmMark
        package let value: Int
        /// The film's id at the server that the mark is sent to; nil if it is sent nowhere.
        package let film: String?

        package init(key: String, mark: FilmMark, value: Int, film: String?) {
            (self.key, self.mark, self.value, self.film) = (key, mark, value, film)
        }
    }

    /// A stored mark.
    package struct Stored: Sendable, Hashable {
        package let key: String
        package let mark: FilmMark
        package let value: Int
        /// When it was set, or reached the server, in seconds since 1970.
        package let changed: Int
        /// Grows with every change in the store.
        package let revision: Int
    }

    /// A mark that the server does not have yet.
    package struct Unsent: Sendable, Hashable {
        package let film: String
        package let key: String
        package let mark: FilmMark
        package let value: Int
    }

    /// Where the marks are: in `XDG_DATA_HOME`, or in `~/.local/share` without it.
    package static var standardPath: String {
        UserFolder.path(variable: "XDG_DATA_HOME", standard: ".local/share") + "/marquee/marks.db"
    }

    /// `Mrqm`: marks a database as a store of marks.
    private static let applicationID = 0x4D72_716D
    private static let version = 1
    /// How long one program may take to send a mark before another one sends it, in seconds.
    private static let claim = 60

    /// `unsent` holds what a server lacks: the last value of each mark. `claimed` is when a program began to send it.
    private static let tables = """
        CREATE TABLE marks (
            film TEXT NOT NULL, mark TEXT NOT NULL, value INTEGER NOT NULL, changed INTEGER NOT NULL,
            revision INTEGER NOT NULL, PRIMARY KEY (film, mark)) WITHOUT ROWID;
        CREATE INDEX marks_by_revision ON marks (revision);
        CREATE TABLE unsent (
            server TEXT NOT NULL, film TEXT NOT NULL, mark TEXT NOT NULL, value INTEGER NOT NULL, key TEXT NOT NULL,
            claimed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (server, film, mark)) WITHOUT ROWID;
        CREATE TABLE servers (name TEXT PRIMARY KEY, sends INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// Opens the store, and creates it if there is none.
    package convenience init(path: String = standardPath) throws(FilmLibraryError) {
        do throws(FilmLibraryError) {
            try self.init(opening: path)
        } catch {
            switch error {
            case .notALibrary: throw .system(path: path, reason: "this is no store of marks; move it away")
            case .corrupt(_, let reason):
                throw .system(path: path, reason: "the store of marks is damaged (\(reason)); move it away")
            default: throw error
            }
        }
    }

    private init(opening path: String) throws(FilmLibraryError) {
        try SQLite.open()
        do throws(FileFault) {
            try FileCalls().makeFolders(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)))
        } catch {
            throw .system(path: path, reason: error.description)
        }
        let database = try Database(path: path, mode: .creating)
        try database.execute("PRAGMA synchronous = FULL")
        try database.make(Self.tables, applicationID: Self.applicationID, version: Self.version)
        // Ignored: every journal mode is safe; this one is faster.
        _ = try? database.execute("PRAGMA journal_mode = WAL")
        self.database = Lock(database)
    }

    private func write<Value: Sendable>(
        _ body: (Database) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        try database.withLock { database throws(FilmLibraryError) in
            let database = database
            return try database.transaction { () throws(FilmLibraryError) in try body(database) }
        }
    }

    // MARK: Marks

    /// The marks that were changed after a revision, by this program or another.
    /// - Parameter revision: the highest one that is known. Default: all marks.
    package func marks(after revision: Int = 0) throws(FilmLibraryError) -> [Stored] {
        try database.withLock { database throws(FilmLibraryError) in
            try database.all(
                "SELECT film, mark, value, changed, revision FROM marks WHERE revision > ?",
                [.integer(revision)]
            ) { row throws(FilmLibraryError) in
                // A later version may have other marks.
                FilmMark(rawValue: row.text(1)).map { mark in
                    Stored(
                        key: row.text(0), mark: mark, value: row.integer(2), changed: row.integer(3),
                        revision: row.integer(4))
                }
            }
        }
    }

    /// Sets marks: all of them, or none if it fails.
    /// - Parameters:
    ///   - server: the name of the server that lacks them now; nil for none. Changes without `film` are not for it.
    ///   - now: the time, in seconds since 1970.
    package func set(_ changes: [Change], for server: String?, now: Int) throws(FilmLibraryError) {
        try write { database throws(FilmLibraryError) in
            for change in changes {
                try Self.store(change.key, change.mark, change.value, database, now: now)
                guard let server, let film = change.film else { continue }
                try database.run(
                    """
                    INSERT INTO unsent (server, film, mark, value, key) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (server, film, mark) DO UPDATE SET value = excluded.value, key = excluded.key, claimed = 0
                    """, .text(server), .text(film), .text(change.mark.rawValue), .integer(change.value),
                    .text(change.key))
            }
        }
    }

    private static func store(
        _ key: String, _ mark: FilmMark, _ value: Int, _ database: Database, now: Int
    ) throws(FilmLibraryError) {
        try database.run(
            """
            INSERT INTO marks (film, mark, value, changed, revision)
            VALUES (?, ?, ?, ?, (SELECT coalesce(max(revision), 0) + 1 FROM marks))
            ON CONFLICT (film, mark) DO UPDATE SET
                value = excluded.value, changed = excluded.changed, revision = excluded.revision
            """, .text(key), .text(mark.rawValue), .integer(value), .integer(now))
    }

    // MARK: Servers

    /// Whether the person lets marks be sent to a server; nil if nobody has asked.
    package func isSending(to server: String) throws(FilmLibraryError) -> Bool? {
        try database.withLock { database throws(FilmLibraryError) in
            try database.first("SELECT sends FROM servers WHERE name = ?", [.text(server)]) {
                row throws(FilmLibraryError) in row.integer(0) != 0
            }
        }
    }

    /// Keeps the person's answer. Without permission, what waits for the server is dropped.
    package func setSending(_ sends: Bool, to server: String) throws(FilmLibraryError) {
        try write { database throws(FilmLibraryError) in
            try database.run(
                "INSERT OR REPLACE INTO servers (name, sends) VALUES (?, ?)", .text(server),
                .integer(sends ? 1 : 0))
            if !sends { try database.run("DELETE FROM unsent WHERE server = ?", .text(server)) }
        }
    }

    /// The marks that a server does not have yet.
    package func unsent(to server: String) throws(FilmLibraryError) -> [Unsent] {
        try database.withLock { database throws(FilmLibraryError) in
            try Self.unsent(
                database, "SELECT film, key, mark, value FROM unsent WHERE server = ?", [.text(server)])
        }
    }

    /// One mark to be sent, which no other program sends meanwhile; nil if there is none.
    /// - Parameter now: the time, in seconds since 1970.
    package func claimUnsent(to server: String, now: Int) throws(FilmLibraryError) -> Unsent? {
        try write { database throws(FilmLibraryError) in
            let found = try Self.unsent(
                database,
                "SELECT film, key, mark, value FROM unsent WHERE server = ? AND claimed < ? LIMIT 1",
                [.text(server), .integer(now - Self.claim)])
            guard let first = found.first else { return nil }
            try database.run(
                "UPDATE unsent SET claimed = ? WHERE server = ? AND film = ? AND mark = ?", .integer(now),
                .text(server), .text(first.film), .text(first.mark.rawValue))
            return first
        }
    }

    /// Ends the sending of a mark that was claimed.
    /// - Parameters:
    ///   - isDone: whether the server has it. Otherwise it is sent later.
    ///   - now: the time, in seconds since 1970.
    package func end(_ unsent: Unsent, to server: String, isDone: Bool, now: Int) throws(FilmLibraryError) {
        try write { database throws(FilmLibraryError) in
            let place: [SQLValue] = [.text(server), .text(unsent.film), .text(unsent.mark.rawValue)]
            guard isDone else {
                try database.run(
                    "UPDATE unsent SET claimed = 0 WHERE server = ? AND film = ? AND mark = ?", place)
                return
            }
            // It may have been changed since.
            let removed = try database.run(
                "DELETE FROM unsent WHERE server = ? AND film = ? AND mark = ? AND value = ?",
                place + [.integer(unsent.value)])
            // From now on the server's list has it.
            if removed > 0 { try Self.store(unsent.key, unsent.mark, unsent.value, database, now: now) }
        }
    }

    private static func unsent(
        _ database: Database, _ sql: String, _ values: [SQLValue]
    ) throws(FilmLibraryError) -> [Unsent] {
        try database.all(sql, values) { row throws(FilmLibraryError) in
            FilmMark(rawValue: row.text(2)).map { mark in
                Unsent(film: row.text(0), key: row.text(1), mark: mark, value: row.integer(3))
            }
        }
    }
}
