package import Films
import Hashing
import SystemSupport

/// A persistent catalogue in an SQLite database: searchable, editable, with votes.
///
/// All calls block, and any thread may call. Readers never wait for a writer: each has its own connection. Writers take
/// turns, by a lock within the process and `BEGIN IMMEDIATE` between processes. A write is on disk when it returns. A
/// library for one process alone ("in memory") is a file too, in a private folder, for the same reasons.
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
    package static let ownMembers =
        ["id"] + FilmMember.allCases.filter { $0.definition.rule == .library }.map(\.name) + ["ratings"]

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
        /// Whether the last write found the disk full.
        var isFull = false
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

    /// Creates an empty library for this process alone. It is removed with the object, or by `closeAll()`.
    /// - Parameters:
    ///   - name: what it is for, in messages.
    ///   - places: where its folder is made, in the first that allows it. Default: TMPDIR, /tmp, /dev/shm.
    package convenience init(inMemoryFor name: String, in places: [String]? = nil) throws(FilmLibraryError) {
        try SQLite.open()
        let folder = try PrivateFolder.make(for: name, in: places ?? PrivateFolder.places)
        let path = folder.path + "/films.db"
        let file = try LibraryFile(path: path, access: .creating, usesTrigrams: true, in: folder)
        self.init(path: path, access: .writing, file, true)
    }

    private init(path: String, access: Access, _ file: LibraryFile, _ usesTrigrams: Bool) {
        self.path = path
        self.access = access
        self.usesTrigrams = usesTrigrams
        current = Lock(Current(file: file))
    }

    /// Closes all libraries of this process, at its end. So the last process that has a library open folds its log
    /// `films.db-wal` into the file, and removes it. Blocks until running writes have ended.
    package static func closeAll() { LibraryFile.closeAll() }

    // MARK: The file

    /// Looks at the path, and opens the file there if it is another one. Reads and writes do so themselves; a service
    /// calls it from time to time, so that the log of a replaced library does not stay there until the next request.
    /// - Returns: why that file cannot be used, `.replaced`; `.full` after a write that found the disk full, until one is
    ///   stored; else nil.
    @discardableResult
    package func refresh() -> FilmLibraryError? {
        do throws(FilmLibraryError) {
            _ = try latestFile()
            return current.withLock { $0.isFull } ? .full(path: path) : nil
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

    /// Writes a copy of the library as it is at one moment. Others go on reading and writing meanwhile.
    /// - Parameter path: of a file that does not exist.
    package func backUp(to path: String) throws(FilmLibraryError) {
        try read { database throws(FilmLibraryError) in
            // Reading connections refuse all that writes, even another file.
            try database.execute("PRAGMA query_only = OFF")
            defer { try? database.execute("PRAGMA query_only = ON") }
            try database.run("VACUUM INTO ?1", .text(path))
        }
    }

    /// Runs `body` with a reading connection.
    func read<Value: Sendable>(
        _ body: (Database) throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        let file = fileForReading()
        do throws(FilmLibraryError) {
            return try file.read(body)
        } catch {
            // It may have been closed, because it was back at its path without its log.
            let present = exchange.withLock { _ in current.withLock { $0.file } }
            guard present !== file else { throw error }
            return try present.read(body)
        }
    }

    /// Runs `body` in a transaction. On return the changes are on disk; on a throw nothing has changed.
    /// - Parameters:
    ///   - isBulk: whether many films are written.
    ///   - grows: whether it needs room on the disk, as all but a removal does.
    func write<Value: Sendable>(
        isBulk: Bool = false, grows: Bool = true, _ body: (Transaction) throws -> Value
    ) throws -> Value {
        do {
            // Repeated only if the file was replaced once more.
            while true {
                let revision = current.withLock { $0.revision }
                let file = try latestFile()
                guard let written = try file.write(isBulk: isBulk, grows: grows, above: revision, body) else {
                    continue
                }
                current.withLock { current in
                    current.revision = max(current.revision, written.revision)
                    current.isFull = false
                }
                counts.withLock { $0.stored += 1 }
                return written.value
            }
        } catch {
            if let kind = (error as? FilmLibraryError).flatMap(WriteCounts.Failure.init) {
                if kind == .full { current.withLock { $0.isFull = true } }
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

extension Database {
    /// Selects the columns of a `StoredFilm`, in the order in which `film` reads them.
    fileprivate static let films = """
        SELECT f.number, f.id, f.document, f.rating, f.votes, f.created_at, f.updated_at, f.revision, p.media_type, p.size, \
        p.tag FROM films f LEFT JOIN posters p ON p.number = f.number
        """

    /// The film with a row number, and the film with an id.
    static let filmByNumber = films + " WHERE f.number = ?"
    private static let filmByID = films + " WHERE f.id = ?"

    /// The film with an id, and its row number.
    func film(_ id: String) throws(FilmLibraryError) -> (number: Int, film: StoredFilm)? {
        try first(Self.filmByID, [.text(id)]) {
            row throws(FilmLibraryError) in (row.integer(0), try film(row))
        }
    }

    /// A stored poster.
    /// - Parameter number: the film's row number in SQL, with one parameter.
    func poster(_ number: String, _ value: SQLValue) throws(FilmLibraryError) -> StoredPoster? {
        try first(
            "SELECT media_type, tag, size, updated_at, bytes FROM posters JOIN films USING (number) WHERE number = \(number)",
            [value]
        ) { row throws(FilmLibraryError) in
            let tag = PosterBytes.tag(stored: row.text(1), size: row.integer(2), changed: row.text(3))
            return StoredPoster(mediaType: row.text(0), bytes: row.bytes(4), tag: tag)
        }
    }

    /// Reads the film in a row of `films`.
    func film(_ row: Row) throws(FilmLibraryError) -> StoredFilm {
        let json: JSONText
        let address: JSONText?
        do throws(CatalogueError) {
            (json, address) = try JSONText.object(row.bytes(2), member: "poster")
        } catch {
            throw .corrupt(path: path, reason: "the film \(row.text(1))")
        }
        let poster: StoredFilm.Poster =
            if !row.isNull(8) {
                .stored(
                    mediaType: row.text(8), count: row.integer(9),
                    tag: PosterBytes.tag(stored: row.text(10), size: row.integer(9), changed: row.text(6)))
            } else {
                address?.string.map(StoredFilm.Poster.address) ?? .none
            }
        return StoredFilm(
            id: row.text(1), json: json, rating: row.isNull(3) ? nil : row.real(3),
            votes: row.integer(4),
            createdAt: row.text(5), updatedAt: row.text(6), revision: row.integer(7), poster: poster)
    }
}

extension FilmLibrary {
    /// The catalogue's title, if it has one.
    package var name: String? {
        get throws(FilmLibraryError) {
            try read { database throws(FilmLibraryError) in
                try database.first("SELECT value FROM facts WHERE key = 'name'") {
                    row throws(FilmLibraryError) in row.text(0)
                }
            }
        }
    }

    /// Changes with every write, also by another process, and never repeats.
    package var revision: Int {
        get throws(FilmLibraryError) {
            try read { database throws(FilmLibraryError) in try database.revision().revision }
        }
    }

    /// The number of films.
    package var count: Int {
        get throws(FilmLibraryError) {
            try read { database throws(FilmLibraryError) in
                try database.number("SELECT count(*) FROM films")
            }
        }
    }

    /// The film with an id; nil if there is none.
    package func film(_ id: String) throws(FilmLibraryError) -> StoredFilm? {
        try read { database throws(FilmLibraryError) in try database.film(id)?.film }
    }

    /// The bytes of a film's stored text, found without reading the text; nil if there is no film with this id.
    package func size(of id: String) throws(FilmLibraryError) -> Int? {
        try read { database throws(FilmLibraryError) in
            try database.first("SELECT number FROM films WHERE id = ?", [.text(id)]) {
                row throws(FilmLibraryError) in
                try FilmRows(database).size(of: row.integer(0))
            }
        }
    }

    /// The stored poster of a film; nil if none is stored.
    package func poster(of id: String) throws(FilmLibraryError) -> StoredPoster? {
        try read { database throws(FilmLibraryError) in
            try database.poster("(SELECT number FROM films WHERE id = ?)", .text(id))
        }
    }

    /// The vote of a rater; nil if there is none.
    package func rating(of id: String, by rater: String) throws(FilmLibraryError) -> Double? {
        try read { database throws(FilmLibraryError) in
            try database.first(
                "SELECT value FROM ratings WHERE film = (SELECT number FROM films WHERE id = ?) AND rater = ?",
                [.text(id), .text(rater)]
            ) { row throws(FilmLibraryError) in row.real(0) }
        }
    }

    /// Calls `body` with every film and its row number in catalogue order. All from one snapshot.
    func forEachRow(
        _ body: (Database, Int, StoredFilm) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        try read { database throws(FilmLibraryError) in
            try database.rows(Database.films + " ORDER BY f.number") { row throws(FilmLibraryError) in
                try body(database, row.integer(0), try database.film(row))
            }
        }
    }

    /// Calls `body` with every film in catalogue order, until it returns false. All from one snapshot.
    package func forEach(
        _ body: (StoredFilm) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        try forEachRow { _, _, film throws(FilmLibraryError) in try body(film) }
    }
}

extension FilmLibrary {
    /// Adds a new film.
    /// - Parameters:
    ///   - id: nil makes one from title and year.
    ///   - poster: the poster's bytes; nil uses the document's member `poster`.
    /// - Throws: `.idTaken`, `.invalidID`, `.invalidFilm`, `.filmTooLarge`, `.tooManyMembers`.
    package func insert(
        _ document: FilmDocument, id: String? = nil, poster: PosterBytes? = nil
    ) throws -> StoredFilm {
        try write { transaction in
            let id = try id ?? freeID(for: document, in: transaction.database)
            try Self.check(id)
            guard try transaction.database.film(id) == nil else { throw FilmLibraryError.idTaken(id: id) }
            try transaction.put(
                document, id: id, replacing: nil, poster: poster.map(PosterChange.store) ?? .asDocument)
            return try written(id, in: transaction)
        }
    }

    /// Replaces the film with this id, or adds a new one. Votes stay.
    /// - Parameter condition: called with the present film; throws to prevent the change.
    package func replace(
        _ id: String, with document: FilmDocument, poster: PosterChange = .asDocument,
        if condition: (StoredFilm?) throws -> Void = { _ in }
    ) throws -> (film: StoredFilm, isNew: Bool) {
        try Self.check(id)
        return try write { transaction in
            let old = try transaction.database.film(id)
            try condition(old?.film)
            try transaction.put(document, id: id, replacing: old, poster: poster)
            return (try written(id, in: transaction), old == nil)
        }
    }

    /// Changes a film in one transaction: nobody else can write between the film that `change` receives and the
    /// document that it returns.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func update(
        _ id: String, poster: PosterChange = .keep, _ change: (StoredFilm) throws -> FilmDocument
    ) throws -> StoredFilm? {
        try write { transaction in
            guard let old = try transaction.database.film(id) else { return nil }
            try transaction.put(try change(old.film), id: id, replacing: old, poster: poster)
            return try written(id, in: transaction)
        }
    }

    /// Removes a film with its votes and its poster.
    /// - Parameter condition: throws to prevent it.
    /// - Returns: whether the film existed.
    package func remove(_ id: String, if condition: (StoredFilm) throws -> Void = { _ in }) throws -> Bool {
        try write(grows: false) { transaction in
            guard let old = try transaction.database.film(id) else { return false }
            try condition(old.film)
            try transaction.remove(old.number)
            return true
        }
    }

    /// Stores the vote of a rater and replaces an earlier one.
    /// - Parameters:
    ///   - value: within `Movie.scores`.
    ///   - earlier: called with the vote that is replaced.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func rate(
        _ id: String, rater: String, value: Double, replacing earlier: (Double) -> Void = { _ in }
    ) throws -> StoredFilm? {
        try vote(id) { film, database throws(FilmLibraryError) in
            try database.first(
                "SELECT value FROM ratings WHERE film = ? AND rater = ?", [.integer(film), .text(rater)]
            ) { row throws(FilmLibraryError) in earlier(row.real(0)) }
            try database.run(
                "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?)", .integer(film), .text(rater), .real(value))
            return true
        }
    }

    /// Removes the vote of a rater.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func unrate(_ id: String, rater: String) throws -> StoredFilm? {
        try vote(id) { film, database throws(FilmLibraryError) in
            try database.run(
                "DELETE FROM ratings WHERE film = ? AND rater = ?", .integer(film), .text(rater)) > 0
        }
    }

    private func vote(
        _ id: String, _ change: (Int, Database) throws(FilmLibraryError) -> Bool
    ) throws -> StoredFilm? {
        try write { transaction in
            guard let old = try transaction.database.film(id) else { return nil }
            if try change(old.number, transaction.database) {
                try transaction.rank(old.number)
                try transaction.touch(old.number)
            }
            return try written(id, in: transaction)
        }
    }

    private static func check(_ id: String) throws(FilmLibraryError) {
        if let fault = FilmID.fault(id) { throw .invalidID(id: id, fault: fault) }
    }

    private func written(_ id: String, in transaction: Transaction) throws(FilmLibraryError) -> StoredFilm {
        guard let film = try transaction.database.film(id)?.film else {
            throw .corrupt(path: path, reason: "the film \(id)")
        }
        return film
    }

    /// The number of suffixes (`-2`, `-3`, ...) to try for an id made from title and year.
    private static let suffixLimit = 100

    private func freeID(for document: FilmDocument, in database: Database) throws(FilmLibraryError) -> String
    {
        let movie = try document.storedMovie(id: "new")
        let id = FilmID.make(title: movie.title, year: movie.year)
        for number in 1...Self.suffixLimit {
            let candidate = number == 1 ? id : "\(id)-\(number)"
            if try database.film(candidate) == nil { return candidate }
        }
        return FilmID.random()
    }
}

extension FilmLibrary {
    /// Loads a catalogue into a library in memory, for searching and paging. Changes to it are lost. The films' revision
    /// follows from the catalogue's bytes, so that the same catalogue has the same tags after a restart.
    ///
    /// Skips invalid films and all but the first film with an id. An invalid id is replaced by one made from title and
    /// year.
    /// - Parameter path: the name in messages.
    /// - Returns: the library, and why films are skipped.
    package static func inMemory(parsing bytes: [UInt8], path: String) throws -> (
        FilmLibrary, [CatalogueError]
    ) {
        let catalogue = try CatalogueDocuments(parsing: bytes)
        return try inMemory(path) { films, add in
            films.begin(of: SHA256.hash(of: bytes.span))
            if let name = catalogue.name { try films.setNameIfNone(name) }
            catalogue.forEach { add($1, $0) }
        }
    }

    /// Loads the films of a folder into a library in memory. Blocks.
    /// - Returns: the library, and all that is wrong.
    package static func inMemory(_ folder: FilmFolder) throws -> (FilmLibrary, [CatalogueError]) {
        try inMemory(folder.path) { _, add in
            try folder.readPages { page in
                for problem in page.problems { add(.failure(problem), 0) }
                for film in page.films { add(.success(film.document), 0) }
            }
        }
    }

    /// - Parameter read: calls its second argument with each film and its position, from 1.
    private static func inMemory(
        _ name: String, read: (FilmImport, (Result<FilmDocument, CatalogueError>, Int) -> Void) throws -> Void
    ) throws -> (FilmLibrary, [CatalogueError]) {
        let library = try FilmLibrary(inMemoryFor: name)
        var problems: [CatalogueError] = []
        try library.importFilms { films in
            try read(films) { film, position in
                do throws(CatalogueError) {
                    try films.add(try film.get(), position: position)
                } catch {
                    problems.append(error)
                }
            }
        }
        return (library, problems)
    }
}

extension FilmImport {
    /// Adds a film of a catalogue that is only read.
    fileprivate func add(_ document: FilmDocument, position: Int) throws(CatalogueError) {
        let movie = try document.movie(position: position)
        let id = FilmID.fault(movie.id) == nil ? movie.id : FilmID.make(title: movie.title, year: movie.year)
        // Ignored: in memory `add` fails only for an existing film.
        guard let outcome = try? add(document, id: id, poster: nil, replaces: false), outcome == .added else {
            throw .duplicateIdentifier(id: id, line: nil)
        }
    }
}

/// Why a library cannot be opened, read or written.
package enum FilmLibraryError: Error, Sendable, Hashable {
    /// The system's SQLite cannot be opened.
    case sqliteMissing(reason: String)
    /// There is no file at this path.
    case missing(path: String)
    /// The file is not a library.
    case notALibrary(path: String)
    /// A later version of the program created it.
    case newerVersion(path: String)
    /// The file or its folder cannot be written.
    case readOnly(path: String)
    /// Another process has been writing for longer than the timeout.
    case busy(path: String)
    /// The disk is full, or a quota or the file size limit is reached. The library has not changed.
    case full(path: String)
    /// Another file, or none, has taken the place of the open one, and cannot be used; `reason` continues "the file".
    /// Unless it says otherwise, nothing was changed.
    case replaced(path: String, reason: String)
    /// The file's content is inconsistent.
    case corrupt(path: String, reason: String)
    /// Any other error of the system or SQLite.
    case system(path: String, reason: String)
    /// Another film has this id.
    case idTaken(id: String)
    /// The id is invalid; `fault` says what it must be.
    case invalidID(id: String, fault: String)
    /// The film is invalid.
    case invalidFilm(CatalogueError)
    /// The film's text would be longer than `limit` bytes, and longer than it is now.
    case filmTooLarge(id: String, bytes: Int, limit: Int)
    /// The film would have more than `limit` members, and more than it has now.
    case tooManyMembers(id: String, members: Int, limit: Int)
    /// The cursor does not belong to this library and sort order.
    case invalidCursor
}

extension FilmLibraryError: CustomStringConvertible {
    /// One line: what is wrong and what to do. Escape it for a terminal: ids may come from untrusted clients.
    package var description: String {
        switch self {
        case .sqliteMissing(let reason):
            "a library needs SQLite, which cannot be opened (\(reason)); "
                + "install it, on Debian and Ubuntu with: apt-get install libsqlite3-0"
        case .missing(let path): "\(path): there is no such file; create a library with marquee import"
        case .notALibrary(let path): "\(path): not a Marquee library; create one with marquee import"
        case .newerVersion(let path): "\(path): a later version of Marquee created it; use that version"
        case .readOnly(let path): "\(path): the file or its folder cannot be written; check its permissions"
        case .busy(let path): "\(path): another program is writing; try again"
        case .full(let path): "\(path): the disk is full; nothing was changed; make room and try again"
        case .replaced(let path, let reason): "\(path): the file \(reason)"
        case .corrupt(let path, let reason):
            "\(path): the library is damaged (\(reason)); restore a copy, or export the readable films"
        case .system(let path, let reason): "\(path): \(reason)"
        case .idTaken(let id): "there is a film \"\(id)\" already; choose another id"
        case .invalidID(let id, let fault): "the id \"\(id)\" must be \(fault)"
        case .invalidFilm(let error): "\(error)"
        case .filmTooLarge(let id, let bytes, let limit):
            "the film \"\(id)\" has \(bytes) bytes as JSON, and at most \(limit) are stored; make it smaller"
        case .tooManyMembers(let id, let members, let limit):
            "the film \"\(id)\" has \(members) members, and at most \(limit) are stored; remove some"
        case .invalidCursor: "the cursor is not valid for this list; start again without it"
        }
    }
}
