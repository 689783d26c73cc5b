import CMarqueeSQLite
import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// A connection to an SQLite database. Not safe for concurrent use.
///
/// Proof for `@unchecked`: a writing connection stays behind the library's lock, and a reading one is taken out of the
/// pool by one thread at a time. SQLite lets a connection move between threads.
@safe final class Database: @unchecked Sendable {
    /// The name in error messages.
    let path: String
    fileprivate let handle: OpaquePointer
    /// The head of the log's index; nil until it is looked for, and where there is no log.
    private var logHead: csqlite_log_head?
    private var hasSoughtLogHead = false
    /// The last value of `PRAGMA data_version`.
    private var lastVersion = 0
    /// Idle prepared statements by their SQL.
    private var statements: [String: Statement] = [:]

    /// How a database is opened.
    enum Mode {
        case reading, writing, creating
        /// SQLite's own files beside the database cannot be written.
        case readingOnly
        /// Without checking for writers: the folder is read-only and no writer left a WAL file.
        case immutable
    }

    /// How long a statement waits for another process's transaction, in milliseconds.
    private static let busyTimeout: Int32 = 10_000
    /// After so many steps of its virtual machine, some microseconds, SQLite asks whether a read is still wanted.
    private static let stepsBetweenLooks: Int32 = 1000

    init(path: String, mode: Mode) throws(FilmLibraryError) {
        self.path = path
        var handle: OpaquePointer?
        let flags =
            switch mode {
            case .readingOnly: CSQLITE_OPEN_READONLY
            case .immutable: CSQLITE_OPEN_READONLY | CSQLITE_OPEN_URI
            case .reading, .writing: CSQLITE_OPEN_READWRITE
            case .creating: CSQLITE_OPEN_READWRITE | CSQLITE_OPEN_CREATE
            }
        let name =
            if case .immutable = mode { "file:\(PercentEncoding.encoded(path))?immutable=1" } else { path }
        let result = unsafe csqlite_open(name, &handle, Int32(flags | CSQLITE_OPEN_NOMUTEX))
        guard let handle = unsafe handle else { throw .system(path: path, reason: "no memory for SQLite") }
        unsafe self.handle = handle
        guard Int(result) == CSQLITE_OK else { throw failure() }
        _ = unsafe csqlite_busy_timeout(handle, Self.busyTimeout)
        switch mode {
        case .writing, .creating: return
        case .reading: try execute("PRAGMA query_only = ON")
        case .readingOnly, .immutable: break
        }
        // Asked on the thread that reads, so no later read of this connection can be meant.
        unsafe csqlite_progress(handle, Self.stepsBetweenLooks) { _ in BlockingThreads.isGivenUp ? 1 : 0 }
    }

    deinit {
        for statement in statements.values { statement.finalize() }
        unsafe csqlite_close(handle)
    }

    /// Changes with every write of any other connection, also of another process (`PRAGMA data_version`). Without a
    /// write since the last call it takes nanoseconds: the pragma locks the log, while its head is in shared memory.
    func version() throws(FilmLibraryError) -> Int {
        if !hasSoughtLogHead {
            hasSoughtLogHead = true
            let mode = try first("PRAGMA journal_mode") { row throws(FilmLibraryError) in row.text(0) }
            var head = unsafe csqlite_log_head()
            if mode == "wal", unsafe csqlite_log_head_find(handle, &head) == 0 { unsafe logHead = head }
        }
        // The head is read before the version, so that a write in between is seen by the next call.
        if var head = unsafe logHead {
            let hasChanged = unsafe csqlite_log_head_has_changed(&head) != 0
            unsafe logHead = head
            if !hasChanged { return lastVersion }
        }
        do throws(FilmLibraryError) {
            lastVersion = try number("PRAGMA data_version")
            return lastVersion
        } catch {
            // The change has been seen and not read: the next call looks again.
            hasSoughtLogHead = false
            unsafe logHead = nil
            throw error
        }
    }

    /// Runs statements without parameters.
    func execute(_ sql: String) throws(FilmLibraryError) {
        guard unsafe Int(csqlite_exec(handle, sql)) == CSQLITE_OK else { throw failure() }
    }

    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    func run(_ sql: String, _ values: SQLValue...) throws(FilmLibraryError) -> Int {
        try run(sql, values)
    }

    /// As above.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(FilmLibraryError) -> Int {
        try rows(sql, values) { _ throws(FilmLibraryError) in false }
        return unsafe Int(csqlite_changes(handle))
    }

    /// Calls `body` with each row until it returns false.
    func rows(
        _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        let statement = try takeStatement(sql)
        defer {
            statement.reset()
            keep(statement, for: sql)
        }
        for (index, value) in values.enumerated() {
            guard statement.bind(value, at: Int32(index + 1)) else { throw failure() }
        }
        while true {
            let result = statement.step()
            if result == CSQLITE_DONE { return }
            guard result == CSQLITE_ROW else { throw failure() }
            guard try body(Row(statement: statement)) else { return }
        }
    }

    /// The values of all rows.
    /// - Parameter read: reads one; nil leaves the row out.
    func all<Value>(
        _ sql: String, _ values: [SQLValue] = [], read: (Row) throws(FilmLibraryError) -> Value?
    ) throws(FilmLibraryError) -> [Value] {
        var all: [Value] = []
        try rows(sql, values) { row throws(FilmLibraryError) in
            if let value = try read(row) { all.append(value) }
            return true
        }
        return all
    }

    /// The value that `read` returns for the first row; nil without rows.
    func first<Value>(
        _ sql: String, _ values: [SQLValue] = [], read: (Row) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value? {
        var value: Value?
        try rows(sql, values) { row throws(FilmLibraryError) in
            value = try read(row)
            return false
        }
        return value
    }

    /// The number in the first column of the first row; 0 without rows.
    func number(_ sql: String, _ values: [SQLValue] = []) throws(FilmLibraryError) -> Int {
        try first(sql, values) { row throws(FilmLibraryError) in row.integer(0) } ?? 0
    }

    /// The row id of the last inserted row.
    var lastInsertedRow: Int { unsafe Int(csqlite_last_row(handle)) }

    /// Whether the database can prepare a statement.
    func canPrepare(_ sql: String) -> Bool {
        // Ignored: the caller asks only whether it works.
        guard let statement = try? takeStatement(sql) else { return false }
        statement.finalize()
        return true
    }

    /// Copies what is in the WAL file to the database, and empties the WAL file.
    /// - Parameter milliseconds: how long it waits for other connections. Default: not at all.
    /// - Returns: false if another connection prevents it, because it reads an older state or writes.
    func emptyLog(waiting milliseconds: Int32 = 0) throws(FilmLibraryError) -> Bool {
        _ = unsafe csqlite_busy_timeout(handle, milliseconds)
        defer { _ = unsafe csqlite_busy_timeout(handle, Self.busyTimeout) }
        do throws(FilmLibraryError) {
            return try first("PRAGMA wal_checkpoint(TRUNCATE)") { row throws(FilmLibraryError) in
                row.integer(0) == 0
            } ?? true
        } catch {
            guard case .busy = error else { throw error }
            return false
        }
    }

    /// Rolls back the open transaction, if any.
    func rollBack() {
        // Some failures, such as a full disk, have ended the transaction already.
        if unsafe csqlite_in_autocommit(handle) == 0 { _ = unsafe csqlite_exec(handle, "ROLLBACK") }
    }

    /// Returns a statement to the idle ones.
    fileprivate func keep(_ statement: Statement, for sql: String) { statements[sql] = statement }

    /// An idle statement, or a new one.
    fileprivate func takeStatement(_ sql: String) throws(FilmLibraryError) -> Statement {
        if let statement = statements.removeValue(forKey: sql) { return statement }
        var pointer: OpaquePointer?
        guard unsafe Int(csqlite_prepare(handle, sql, &pointer)) == CSQLITE_OK,
            let pointer = unsafe pointer
        else { throw failure() }
        return unsafe Statement(pointer: pointer)
    }

    /// The error of the last call.
    fileprivate func failure() -> FilmLibraryError {
        // SQLite does not record `errno` for every failure, for instance that of a commit.
        let last = errno
        let extended = unsafe Int(csqlite_error(handle))
        let noted = unsafe csqlite_system_error(handle)
        let code = noted == 0 ? last : noted
        let message = unsafe csqlite_message(handle).map { unsafe String(cString: $0) } ?? "error \(extended)"
        switch extended & 0xFF {
        case CSQLITE_BUSY, CSQLITE_LOCKED: return .busy(path: path)
        case CSQLITE_FULL: return .full(path: path)
        case CSQLITE_READONLY, CSQLITE_PERM: return .readOnly(path: path)
        case CSQLITE_NOTADB: return .notALibrary(path: path)
        case CSQLITE_CORRUPT: return .corrupt(path: path, reason: message)
        case CSQLITE_IOERR where [ENOSPC, EDQUOT, EFBIG].contains(code): return .full(path: path)
        case CSQLITE_CANTOPEN where [EACCES, EROFS, EPERM].contains(code):
            if unsafe access(path, F_OK) == 0, unsafe access(path, R_OK) != 0 {
                return .system(path: path, reason: "the file cannot be read; check its permissions")
            }
            return .readOnly(path: path)
        case CSQLITE_IOERR, CSQLITE_CANTOPEN:
            return .system(path: path, reason: code == 0 ? message : "\(message): \(SystemError.text(code))")
        default: return .system(path: path, reason: message)
        }
    }
}

/// Reads films by their row numbers: one prepared statement and one open value serve all of them.
@safe final class FilmRows {
    private let database: Database
    private let statement: Statement
    /// The document whose size was asked for last.
    private var value: OpaquePointer?

    /// - Parameter database: a connection that stays at one snapshot meanwhile.
    init(_ database: Database) throws(FilmLibraryError) {
        self.database = database
        statement = try database.takeStatement(Database.filmByNumber)
    }

    deinit {
        unsafe csqlite_value_close(value)
        statement.reset()
        database.keep(statement, for: Database.filmByNumber)
    }

    /// The bytes of a film's document, found without reading it: SQLite's `length` would read the whole text.
    func size(of number: Int) throws(FilmLibraryError) -> Int {
        let result =
            if let value = unsafe value {
                unsafe csqlite_value_move(value, Int64(number))
            } else {
                unsafe csqlite_value_open(database.handle, "films", "document", Int64(number), &value)
            }
        guard Int(result) == CSQLITE_OK else { throw database.failure() }
        return unsafe Int(csqlite_value_size(value))
    }

    /// A film; nil if there is none with this number.
    func film(_ number: Int) throws(FilmLibraryError) -> StoredFilm? {
        defer { statement.reset() }
        guard statement.bind(.integer(number), at: 1) else { throw database.failure() }
        switch statement.step() {
        case CSQLITE_ROW: return try database.film(Row(statement: statement))
        case CSQLITE_DONE: return nil
        default: throw database.failure()
        }
    }
}

/// A prepared statement. Its owner finalizes it.
@safe struct Statement {
    fileprivate let pointer: OpaquePointer

    func step() -> Int { unsafe Int(csqlite_step(pointer)) }
    func reset() { unsafe csqlite_reset(pointer) }
    func finalize() { unsafe csqlite_finalize(pointer) }

    /// Binds a parameter, counted from 1; false without memory.
    func bind(_ value: SQLValue, at index: Int32) -> Bool {
        let result =
            switch value {
            case .null: unsafe csqlite_bind_null(pointer, index)
            case .integer(let number): unsafe csqlite_bind_integer(pointer, index, Int64(number))
            case .real(let number): unsafe csqlite_bind_real(pointer, index, number)
            case .text(let text):
                unsafe Array(text.utf8).withUnsafeBytes {
                    unsafe csqlite_bind_text(pointer, index, $0.baseAddress, $0.count)
                }
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes {
                    unsafe csqlite_bind_blob(pointer, index, $0.baseAddress, $0.count)
                }
            }
        return Int(result) == CSQLITE_OK
    }
}

/// The current row of a statement. Valid until the next step.
@safe struct Row {
    fileprivate let statement: Statement

    func isNull(_ column: Int32) -> Bool {
        unsafe Int(csqlite_column_kind(statement.pointer, column)) == CSQLITE_NULL
    }
    func integer(_ column: Int32) -> Int { unsafe Int(csqlite_column_integer(statement.pointer, column)) }
    func real(_ column: Int32) -> Double { unsafe csqlite_column_real(statement.pointer, column) }
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    func bytes(_ column: Int32) -> [UInt8] {
        var count = 0
        guard let start = unsafe csqlite_column_bytes(statement.pointer, column, &count) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The system's SQLite, opened once per process, for the first library.
enum SQLite {
    /// Debian and its derivatives install it with Swift's own dependencies. The environment variable
    /// `MARQUEE_LIBSQLITE`, a path, overrides it.
    private static let name = "libsqlite3.so.0"

    private static let isOpen = Lock(false)

    /// Opens the shared library once.
    /// - Throws: `.sqliteMissing`. The next call tries again.
    static func open() throws(FilmLibraryError) {
        try isOpen.withLock { isOpen throws(FilmLibraryError) in
            if isOpen { return }
            let chosen = ProcessInfo.processInfo.environment["MARQUEE_LIBSQLITE"].flatMap {
                $0.isEmpty ? nil : $0
            }
            var reason = [CChar](repeating: 0, count: 512)
            guard unsafe csqlite_open_library(chosen ?? name, &reason, reason.count) == 0 else {
                throw .sqliteMissing(
                    reason: String(
                        decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            isOpen = true
        }
    }
}

extension FilmLibrary {
    /// The version of the system's SQLite, such as `3.40.1`.
    package static func engineVersion() throws(FilmLibraryError) -> String {
        try SQLite.open()
        return unsafe String(cString: csqlite_version())
    }
}

/// A value of a statement or a row.
enum SQLValue: Sendable {
    case null
    case integer(Int)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Nil becomes NULL.
    init(_ number: Double?) { self = number.map(Self.real) ?? .null }
}
