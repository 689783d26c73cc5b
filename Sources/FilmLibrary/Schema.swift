/// The tables of a library, in version 1.
enum Schema {
    /// `Mrqe`: marks a database as a library.
    static let applicationID = 0x4D72_7165
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

    /// 8 MiB of pages for each connection, and 256 MiB for a bulk import: without room SQLite writes pages twice.
    static let cache = "PRAGMA cache_size = -8192;"
    static let bulkCache = "PRAGMA cache_size = -262144;"

    /// The sort keys of films without a score or a year: after all others.
    static let missingScoreKey = 1.0
    static let missingYearKey = 1_000_000
}

extension Database {
    /// Whether this is a library of a supported version. False for an empty database.
    func isLibrary() throws(FilmLibraryError) -> Bool {
        func number(_ sql: String) throws(FilmLibraryError) -> Int {
            try first(sql) { row throws(FilmLibraryError) in row.integer(0) } ?? 0
        }
        if try number("PRAGMA application_id") == Schema.applicationID {
            guard try number("PRAGMA user_version") <= Schema.version else { throw .newerVersion(path: path) }
            return true
        }
        guard try number("SELECT count(*) FROM sqlite_master") == 0 else { throw .notALibrary(path: path) }
        return false
    }

    /// Creates the tables, unless another process has just done so.
    func makeLibrary() throws(FilmLibraryError) {
        try execute("BEGIN IMMEDIATE")
        do throws(FilmLibraryError) {
            if try !isLibrary() {
                try execute(Schema.tables)
                // Entity tags contain revisions: a recreated library must not repeat those of the old one.
                try run(
                    "INSERT INTO facts VALUES ('revision', ?)", .integer(Int.random(in: 1 << 20..<1 << 44)))
                try execute(
                    "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.version)"
                )
            }
            try execute("COMMIT")
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
