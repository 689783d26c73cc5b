package import Films
import Hashing

/// The tables of a library, in version 1.
enum Schema {
    /// `Mrqe`: marks a database as a library.
    fileprivate static let applicationID = 0x4D72_7165
    static let version = 1

    /// `films` holds each document and its sort keys, `search` the folded text to search. A film's number is its
    /// position in the catalogue. `base_votes` and `base_sum` are the votes without known raters. A poster's bytes are
    /// the last column, so that reading the others skips them.
    static let tables = """
        CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE films (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            score_key REAL NOT NULL, year_key INTEGER NOT NULL, title_key TEXT NOT NULL,
            rating REAL, votes INTEGER NOT NULL DEFAULT 0, score REAL,
            base_sum REAL NOT NULL DEFAULT 0, base_votes INTEGER NOT NULL DEFAULT 0,
            created_at TEXT NOT NULL, updated_at TEXT NOT NULL, revision INTEGER NOT NULL, document TEXT NOT NULL);
        CREATE INDEX films_by_score ON films (score_key, title_key, id);
        CREATE INDEX films_by_year ON films (year_key, title_key, id);
        CREATE INDEX films_by_title ON films (title_key, id);
        CREATE TABLE search (number INTEGER PRIMARY KEY REFERENCES films ON DELETE CASCADE, text TEXT NOT NULL);
        CREATE TABLE ratings (
            film INTEGER NOT NULL REFERENCES films ON DELETE CASCADE, rater TEXT NOT NULL, value REAL NOT NULL,
            PRIMARY KEY (film, rater)) WITHOUT ROWID;
        CREATE TABLE posters (
            number INTEGER PRIMARY KEY REFERENCES films ON DELETE CASCADE, media_type TEXT NOT NULL,
            size INTEGER NOT NULL, tag TEXT NOT NULL, bytes BLOB NOT NULL);
        """

    /// The trigram index of the table `search`. It needs SQLite 3.34 with FTS5.
    static let trigrams = """
        CREATE VIRTUAL TABLE words USING fts5(
            text, content='search', content_rowid='number', tokenize='trigram case_sensitive 1')
        """

    /// The settings of every connection.
    static let settings = """
        PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
        PRAGMA journal_size_limit = 16777216; \(cache)
        """

    /// The further setting of a library that ends with its process: no write of it need survive a crash of the system.
    static let unsynchronized = "PRAGMA synchronous = OFF;"

    /// 8 MiB of pages for each connection, and 256 MiB for a bulk import: without room SQLite writes pages twice.
    static let cache = "PRAGMA cache_size = -8192;"
    static let bulkCache = "PRAGMA cache_size = -262144;"
    /// The bytes of pages without content.
    static let freeBytes = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"

    /// The sort keys of films without a score or a year: after all others.
    static let missingScoreKey = 1.0
    static let missingYearKey = 1_000_000
}

extension Database {
    /// Whether this is a library of a supported version. False for an empty database.
    func isLibrary() throws(FilmLibraryError) -> Bool {
        try has(applicationID: Schema.applicationID, version: Schema.version)
    }

    /// Whether this database has an application's mark and a version that it knows. False for an empty database.
    /// - Throws: `.newerVersion`; `.notALibrary` for a database of another application.
    private func has(applicationID: Int, version: Int) throws(FilmLibraryError) -> Bool {
        if try number("PRAGMA application_id") == applicationID {
            guard try number("PRAGMA user_version") <= version else { throw .newerVersion(path: path) }
            return true
        }
        guard try number("SELECT count(*) FROM sqlite_master") == 0 else { throw .notALibrary(path: path) }
        return false
    }

    /// Creates the tables of a library, unless another process has just done so.
    func makeLibrary() throws(FilmLibraryError) {
        // Entity tags contain revisions: a recreated library must not repeat those of the old one.
        let revision = Int.random(in: 1 << 20..<1 << 44)
        try make(
            Schema.tables + "INSERT INTO facts VALUES ('revision', \(revision));",
            applicationID: Schema.applicationID, version: Schema.version)
    }

    /// Creates the tables of an application and marks the database as its own, unless another process has just done so.
    func make(_ tables: String, applicationID: Int, version: Int) throws(FilmLibraryError) {
        try transaction { () throws(FilmLibraryError) in
            if try has(applicationID: applicationID, version: version) { return }
            try execute(tables)
            try execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    /// Runs `body` in a transaction, which is undone if it throws.
    func transaction<Value>(
        _ body: () throws(FilmLibraryError) -> Value
    ) throws(FilmLibraryError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do throws(FilmLibraryError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Whether the library has a trigram index that this SQLite can use.
    var hasTrigrams: Bool { canPrepare("SELECT rowid FROM words WHERE words MATCH ?") }

    /// The revision. `isIndexed` says whether the trigram index belongs to this revision.
    func revision() throws(FilmLibraryError) -> (revision: Int, isIndexed: Bool) {
        var facts: [String: Int] = [:]
        try rows("SELECT key, value FROM facts WHERE key IN ('revision', 'words')") {
            row throws(FilmLibraryError) in
            facts[row.text(0)] = row.integer(1)
            return true
        }
        guard let revision = facts["revision"] else { throw .corrupt(path: path, reason: "no revision") }
        return (revision, facts["words"] == revision)
    }
}

/// A film in a library.
package struct StoredFilm: Sendable, Hashable {
    /// The location of the poster.
    package enum Poster: Sendable, Hashable {
        case none
        /// Elsewhere: the URL in the document's member `poster`.
        case address(String)
        /// In the library; `tag` is of the bytes, as in `StoredPoster`.
        case stored(mediaType: String, count: Int, tag: String)
    }

    package let id: String
    /// The film as written, without the members in `FilmLibrary.ownMembers`.
    package var document: FilmDocument {
        // Ignored: the library reads only rows whose text is a JSON object.
        (try? FilmDocument(json: json, allowsDuplicates: true)) ?? FilmDocument()
    }
    /// The text of the document: a service copies it to responses unparsed.
    package let json: JSONText
    /// The mean of the votes; nil without votes.
    package let rating: Double?
    package let votes: Int
    /// RFC 3339, UTC, with milliseconds.
    package let createdAt: String
    package let updatedAt: String
    /// Changes with every change of the film, its votes and its poster, and never repeats, in no copy of the library.
    package let revision: Int
    package let poster: Poster

    /// The film as a catalogue's movie.
    /// - Parameter poster: the URL of a stored poster.
    package func movie(poster address: String? = nil) throws(CatalogueError) -> Movie {
        try completeDocument(poster: address).movie()
    }

    /// The document with the members that the library stores: `id` first; `rating`, `votes`, `created_at` and
    /// `updated_at` last. Without votes `rating` and `votes` are absent.
    /// - Parameter poster: the URL of a stored poster.
    package func completeDocument(poster address: String? = nil) -> FilmDocument {
        var whole = document
        whole.putFirst("id", JSONText(id))
        if let address, case .stored = poster { whole["poster"] = JSONText(address) }
        if let rating, votes > 0 {
            whole["rating"] = JSONText(rating)
            whole["votes"] = JSONText(votes)
        }
        whole["created_at"] = JSONText(createdAt)
        whole["updated_at"] = JSONText(updatedAt)
        return whole
    }
}

/// A poster to store, or a copy of a stored one.
package struct PosterBytes: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]

    package init(mediaType: String, bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
    }

    private static let tagLength = 32

    /// 128 bits of the SHA-256 of the bytes: 32 hexadecimal digits.
    var tag: String { String(SHA256.hash(of: bytes.span).hexadecimal.prefix(Self.tagLength)) }

    /// The tag of a stored poster. Earlier versions stored a counter, which means other bytes in a copy of the library. The
    /// size, and the millisecond of the film's last change, tell them apart: reading all bytes would take too long.
    static func tag(stored: String, size: Int, changed: String) -> String {
        stored.utf8.count == tagLength ? stored : "\(stored)-\(size)-" + changed.filter(\.isNumber)
    }
}

/// A stored poster.
package struct StoredPoster: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]
    /// Names these bytes for ever, in every library.
    package let tag: String
}

/// How writing a document changes the film's poster.
package enum PosterChange: Sendable, Hashable {
    /// Removes a stored poster; the document's member `poster` is the new one's URL, if present.
    case asDocument
    /// Keeps a stored poster, unless the document has a URL.
    case keep
    /// Stores these bytes and ignores the document's member `poster`.
    case store(PosterBytes)
}
