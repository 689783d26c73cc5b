import SystemSupport

/// A persistent catalogue in an SQLite database: searchable, editable, with votes.
///
/// All calls block, and any thread may call. Readers never wait for a writer: each has its own connection. Writers take
/// turns, by a lock within the process and `BEGIN IMMEDIATE` between processes. A write is on disk when it returns.
///
/// The library follows its path. Every read and every write looks which file is there; if it is another library, they
/// use that one. While there is none, or none that can be opened, reads use the old one, and writes throw `.replaced`.
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

    /// The database's path, or its name in messages.
    package let path: String
    private let access: Access
    private let usesTrigrams: Bool
    private let current: Lock<Current>
    /// Held by the thread that opens the file of a replaced library.
    private let exchange = Lock(())
    private let counts = Lock(WriteCounts())

    private struct Current {
        var file: LibraryFile
        /// The file before, while a read uses it.
        weak var previous: LibraryFile?
        /// The highest revision that was written, here or in a file before. Entity tags contain revisions, and a
        /// restored copy must not repeat those that clients have.
        var revision = 0
        /// When `state` looked at the path.
        var lastLook: ContinuousClock.Instant?
        /// When reads look for the new file again, after it could not be opened.
        var nextAttempt: ContinuousClock.Instant?
    }

    /// `state` looks at the path only so often: the look would take as long as all else.
    private static let lookInterval = Duration.milliseconds(10)
    /// After a failed attempt to open a new file, reads use the old one for so long. An attempt may cost milliseconds.
    private static let retryInterval = Duration.seconds(1)

    /// Opens a library.
    /// - Parameter usesTrigrams: whether to use the trigram index, if SQLite supports it.
    package convenience init(path: String, access: Access, usesTrigrams: Bool = true) throws(FilmLibraryError)
    {
        try SQLite.open()
        let file = try LibraryFile(path: path, access: access, usesTrigrams: usesTrigrams)
        self.init(path: path, access: access == .creating ? .writing : access, file, usesTrigrams)
    }

    /// Creates an empty library in memory.
    /// - Parameter path: the name in messages.
    package convenience init(inMemoryFor path: String) throws(FilmLibraryError) {
        try SQLite.open()
        self.init(path: path, access: .writing, try LibraryFile(inMemoryFor: path), true)
    }

    private init(path: String, access: Access, _ file: LibraryFile, _ usesTrigrams: Bool) {
        self.path = path
        self.access = access
        self.usesTrigrams = usesTrigrams
        current = Lock(Current(file: file))
    }

    // MARK: The file

    /// Looks at the path, and opens the file there if it is another one. Reads and writes do so themselves; a service
    /// calls it from time to time, so that the log of a replaced library does not stay there until the next request.
    /// - Returns: why that file cannot be used, `.replaced`; nil if it can.
    @discardableResult
    package func refresh() -> FilmLibraryError? {
        do throws(FilmLibraryError) {
            _ = try latestFile()
            return nil
        } catch {
            return error
        }
    }

    /// Changes with every write of this or any other process, and within 10 ms after another file has taken the path. It
    /// may change without one. Takes microseconds; any thread may call. Read it before the films that it stands for.
    package var state: Int64 {
        get throws(FilmLibraryError) {
            let now = ContinuousClock.now
            let known = current.withLock { current -> LibraryFile? in
                if let last = current.lastLook, now - last < Self.lookInterval { return current.file }
                current.lastLook = now
                return nil
            }
            let file = known ?? fileForReading()
            // SQLite's version has 32 bits.
            return Int64(file.generation) << 32 | Int64(try file.version())
        }
    }

    private func latestFile() throws(FilmLibraryError) -> LibraryFile {
        let file = current.withLock { $0.file }
        return file.isInPlace ? file : try successor(of: file)
    }

    /// The file for a read. The look at the path costs a microsecond, so every read looks.
    private func fileForReading() -> LibraryFile {
        let file = current.withLock { $0.file }
        if file.isAtPath { return file }
        let now = ContinuousClock.now
        let isTried = current.withLock { current in
            if let next = current.nextAttempt, now < next { return false }
            current.nextAttempt = now + Self.retryInterval
            return true
        }
        guard isTried else { return file }
        // Ignored: the old file serves reads. The next write, and `refresh`, report the error.
        return (try? successor(of: file)) ?? file
    }

    /// Opens the file at the path in place of `old`.
    private func successor(of old: LibraryFile) throws(FilmLibraryError) -> LibraryFile {
        try exchange.withLock { _ throws(FilmLibraryError) in
            let (file, previous) = current.withLock { ($0.file, $0.previous) }
            // Another thread has just done it, or the old file is back.
            if file !== old || file.isInPlace { return file }
            try old.leave()
            // The file before is back, and a read still uses it without the name of its log. SQLite would give new
            // connections that log's index, and another log.
            guard previous?.isAtPath != true else {
                throw .replaced(path: path, reason: "was replaced by an older one, still in use; try again")
            }
            // Ignored: revisions may repeat after a damaged library is replaced.
            let revision =
                (try? old.read { database throws(FilmLibraryError) in
                    try database.revision().revision
                })
            let new: LibraryFile
            do throws(FilmLibraryError) {
                new = try LibraryFile(
                    path: path, access: access, usesTrigrams: usesTrigrams, generation: old.generation + 1)
            } catch {
                throw .replaced(path: path, reason: "was replaced, and the new one cannot be used: \(error)")
            }
            current.withLock { current in
                (current.file, current.previous, current.nextAttempt) = (new, old, nil)
                current.revision = max(current.revision, revision ?? 0)
            }
            return new
        }
    }

    // MARK: Reading and writing

    /// Runs `body` with a reading connection.
    func read<Value: Sendable>(
        _ body: (Database) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        try fileForReading().read(body)
    }

    /// Runs `body` in a transaction. On return the changes are on disk; on a throw nothing has changed.
    /// - Parameter isBulk: whether many films are written.
    func write<Value: Sendable>(
        isBulk: Bool = false, _ body: (Transaction) throws -> Value
    ) throws -> Value {
        do {
            // Repeated only if the file was replaced once more.
            while true {
                let revision = current.withLock { $0.revision }
                let file = try latestFile()
                guard let written = try file.write(isBulk: isBulk, above: revision, body) else { continue }
                current.withLock { $0.revision = max($0.revision, written.revision) }
                counts.withLock { $0.stored += 1 }
                return written.value
            }
        } catch {
            if let kind = (error as? FilmLibraryError).flatMap(WriteCounts.Failure.init) {
                counts.withLock { $0.failed[kind, default: 0] += 1 }
            }
            throw error
        }
    }

    /// The writes so far, by how they ended.
    package var writeCounts: WriteCounts { counts.withLock { $0 } }
}

/// How many writes a library has stored, and how many failed. A write that is refused for its content, or by its own
/// condition, counts as neither.
package struct WriteCounts: Sendable, Hashable {
    /// Why a write failed.
    package enum Failure: String, Sendable, CaseIterable {
        case busy, full, replaced
        case readOnly = "read-only"
        case other

        init?(_ error: FilmLibraryError) {
            switch error {
            case .busy: self = .busy
            case .full: self = .full
            case .replaced: self = .replaced
            case .readOnly: self = .readOnly
            case .sqliteMissing, .missing, .notALibrary, .newerVersion, .corrupt, .system: self = .other
            case .idTaken, .invalidID, .invalidFilm, .filmTooLarge, .tooManyMembers, .invalidCursor:
                return nil
            }
        }
    }

    /// The transactions that are on disk.
    package fileprivate(set) var stored = 0
    package fileprivate(set) var failed: [Failure: Int] = [:]

    package init() {}
}
