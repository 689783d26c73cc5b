import Films
import FoundationEssentials

/// The writing operations of a library within one transaction.
final class Transaction {
    let database: Database
    private let hasTrigrams: Bool
    private let isIndexed: Bool
    /// Whether to rebuild the trigram index at the end: for many films that takes a tenth of the time.
    private let isBulk: Bool
    /// Whether the size of films is limited.
    private let hasLimits: Bool
    private let oldRevision: Int
    /// The revision of this transaction; nil until the first change.
    private var newRevision: Int?
    /// The timestamp of its changes.
    let now = Timestamp.now

    init(
        _ database: Database, hasTrigrams: Bool, isBulk: Bool, hasLimits: Bool,
        revision: (revision: Int, isIndexed: Bool)
    ) {
        self.isBulk = isBulk
        self.hasLimits = hasLimits
        self.database = database
        self.hasTrigrams = hasTrigrams
        oldRevision = revision.revision
        isIndexed = revision.isIndexed
    }

    private static let rebuild = "INSERT INTO words (words) VALUES ('rebuild')"

    /// The library's revision after this transaction.
    var lastRevision: Int { newRevision ?? oldRevision }

    /// The revision of this transaction's changes. Called before each change.
    func revision() throws(FilmLibraryError) -> Int {
        if let newRevision { return newRevision }
        // A program without the index may have written in between.
        if hasTrigrams, !isIndexed, !isBulk { try database.execute(Self.rebuild) }
        // A random step: nobody guesses the next revision, and no copy of the library gives it to another write. The
        // column's 63 bits suffice for four thousand million writes.
        let revision = oldRevision + Int.random(in: 1...1 << 32)
        newRevision = revision
        return revision
    }

    /// Chooses the revision of this transaction's changes, before the first of them.
    func begin(at revision: Int) { newRevision = revision }

    /// Stores the revision, if anything has changed.
    func finish() throws(FilmLibraryError) {
        guard let newRevision else { return }
        if hasTrigrams, isBulk { try database.execute(Self.rebuild) }
        try database.run("UPDATE facts SET value = ? WHERE key = 'revision'", .integer(newRevision))
        if hasTrigrams {
            try database.run("INSERT OR REPLACE INTO facts VALUES ('words', ?)", .integer(newRevision))
        }
    }

    // MARK: Films

    /// Replaces a film, or adds a new one at the end.
    /// - Parameters:
    ///   - old: the film to replace, and its row; nil if there is none with this id.
    ///   - created: the creation time of a new film; nil means now.
    /// - Throws: `.invalidFilm`, `.filmTooLarge`, `.tooManyMembers`; then nothing has changed.
    @discardableResult
    func put(
        _ document: FilmDocument, id: String, replacing old: (number: Int, film: StoredFilm)?,
        poster: PosterChange, created: String? = nil, updated: String? = nil
    ) throws(FilmLibraryError) -> Int {
        var document = document
        for member in FilmLibrary.ownMembers { document[member] = nil }
        if case .store = poster { document["poster"] = nil }
        let movie = try document.storedMovie(id: id)
        let json = document.json()
        if hasLimits { try checkSize(of: document, json, id: id, old?.film) }
        let year = movie.year ?? Schema.missingYearKey
        let values: [SQLValue] = [
            .integer(year), .text(FoldedText.sortKey(movie.title)), SQLValue(movie.score),
            .text(updated ?? now), .integer(try revision()), .text(json),
        ]
        let film: Int
        if let number = old?.number {
            try database.run(
                """
                UPDATE films SET year_key = ?, title_key = ?, score = ?, updated_at = ?, revision = ?, document = ?
                WHERE number = ?
                """, values + [.integer(number)])
            film = number
            try index(movie, film, isNew: false)
            try rank(film)
            try change(poster, hasAddress: movie.poster != nil, of: film)
        } else {
            try database.run(
                """
                INSERT INTO films (year_key, title_key, score, updated_at, revision, document, id, score_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                values + [
                    .text(id), .real(movie.score.map { -$0 } ?? Schema.missingScoreKey),
                    .text(created ?? now),
                ])
            film = database.lastInsertedRow
            try index(movie, film, isNew: true)
            if case .store = poster { try change(poster, hasAddress: false, of: film) }
        }
        return film
    }

    /// Checks the limits. A film that is beyond them already may stay so, but not grow.
    private func checkSize(
        of document: FilmDocument, _ json: String, id: String, _ old: StoredFilm?
    ) throws(FilmLibraryError) {
        let (bytes, members) = (json.utf8.count, document.members.count)
        if bytes > FilmLibrary.filmBytes, bytes > old?.json.text.utf8.count ?? 0 {
            throw .filmTooLarge(id: id, bytes: bytes, limit: FilmLibrary.filmBytes)
        }
        if members > FilmLibrary.filmMembers, members > old?.document.members.count ?? 0 {
            throw .tooManyMembers(id: id, members: members, limit: FilmLibrary.filmMembers)
        }
    }

    /// Removes a film with its votes, poster and search text.
    func remove(_ number: Int) throws(FilmLibraryError) {
        _ = try revision()
        try unindex(number)
        try database.run("DELETE FROM films WHERE number = ?", .integer(number))
    }

    /// Gives a film the revision of this transaction.
    func touch(_ number: Int) throws(FilmLibraryError) {
        try database.run(
            "UPDATE films SET revision = ? WHERE number = ?", .integer(try revision()), .integer(number))
    }

    private func change(_ poster: PosterChange, hasAddress: Bool, of film: Int) throws(FilmLibraryError) {
        switch poster {
        case .keep where !hasAddress: break
        case .keep, .asDocument: try database.run("DELETE FROM posters WHERE number = ?", .integer(film))
        case .store(let poster):
            try database.run(
                "INSERT OR REPLACE INTO posters VALUES (?, ?, ?, ?, ?)", .integer(film),
                .text(poster.mediaType),
                .integer(poster.bytes.count), .text(poster.tag), .blob(poster.bytes))
        }
    }

    // MARK: Votes

    /// Recomputes a film's rating and its sort key.
    func rank(_ number: Int) throws(FilmLibraryError) {
        try database.run(
            """
            UPDATE films SET votes = base_votes + (SELECT count(*) FROM ratings WHERE film = number),
                rating = (base_sum + (SELECT total(value) FROM ratings WHERE film = number))
                    / nullif(base_votes + (SELECT count(*) FROM ratings WHERE film = number), 0)
            WHERE number = ?
            """, .integer(number))
        try database.run(
            "UPDATE films SET score_key = coalesce(-coalesce(rating, score), ?) WHERE number = ?",
            .real(Schema.missingScoreKey), .integer(number))
    }

    // MARK: Search

    private func index(_ movie: Movie, _ number: Int, isNew: Bool) throws(FilmLibraryError) {
        let parts = FilmMember.indexed.flatMap { member in
            if case .texts(let texts) = movie[member] {
                texts
            } else {
                [movie.text(member)].compactMap(\.self)
            }
        }
        let text = parts.map(FoldedText.fold).joined(separator: "\n")
        if !isNew { try unindex(number) }
        try database.run("INSERT OR REPLACE INTO search VALUES (?, ?)", .integer(number), .text(text))
        if hasTrigrams, !isBulk {
            try database.run("INSERT INTO words (rowid, text) VALUES (?, ?)", .integer(number), .text(text))
        }
    }

    private func unindex(_ number: Int) throws(FilmLibraryError) {
        guard hasTrigrams, !isBulk else { return }
        try database.run(
            """
            INSERT INTO words (words, rowid, text)
            SELECT 'delete', number, text FROM search WHERE number = ?
            """, .integer(number))
    }
}

extension FilmDocument {
    /// The film, if a library can store it.
    /// - Throws: `.invalidFilm`.
    func storedMovie(id: String) throws(FilmLibraryError) -> Movie {
        do throws(CatalogueError) { return try movie(id: id) } catch { throw .invalidFilm(error) }
    }
}

/// Timestamps of a library: `2026-11-22T12:43:17.123Z`.
enum Timestamp {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static var now: String { Date().formatted(style) }

    /// Converts an RFC 3339 time to this form; nil for other text.
    static func normalized(_ text: String) -> String? {
        // Ignored: one of the two formats, with or without fractions, always fails.
        if let date = try? style.parse(text) {
            // A time in floating-point seconds may be slightly too early, and formatting truncates.
            return text.utf8.count == 24 && text.hasSuffix("Z")
                ? text : date.addingTimeInterval(1e-5).formatted(style)
        }
        return (try? Date.ISO8601FormatStyle().parse(text))?.formatted(style)
    }
}
