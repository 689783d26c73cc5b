import FoundationEssentials
import MovieCatalogue

/// The writing half of a library, within one transaction.
final class Transaction {
    let database: Database
    private let hasWords: Bool
    private let isIndexed: Bool
    /// Whether the index of letters is made anew at the end: for many films that takes a tenth of the time.
    private let isBulk: Bool
    private let before: Int
    /// The revision that this transaction makes; nil as long as it has changed nothing.
    private var made: Int?
    /// The time of what it writes.
    let now = Timestamp.now

    init(
        _ database: Database, hasWords: Bool, isBulk: Bool, revision: (revision: Int, isIndexed: Bool)
    ) {
        self.isBulk = isBulk
        self.database = database
        self.hasWords = hasWords
        before = revision.revision
        isIndexed = revision.isIndexed
    }

    private static let rebuild = "INSERT INTO words (words) VALUES ('rebuild')"

    /// The revision of what is changed. The first change of all makes it.
    func revision() throws(FilmLibraryError) -> Int {
        if let made { return made }
        // A program without the index may have written before.
        if hasWords, !isIndexed, !isBulk { try database.execute(Self.rebuild) }
        made = before + 1
        return before + 1
    }

    /// Notes the revision, if anything has changed.
    func finish() throws(FilmLibraryError) {
        guard let made else { return }
        if hasWords, isBulk { try database.execute(Self.rebuild) }
        try database.run("UPDATE facts SET value = ? WHERE key = 'revision'", .integer(made))
        if hasWords { try database.run("INSERT OR REPLACE INTO facts VALUES ('words', ?)", .integer(made)) }
    }

    // MARK: Films

    /// Puts a film in place of the one with this number, or after all others.
    /// - Parameter created: when a new film was made; nil: now.
    @discardableResult
    func put(
        _ document: FilmDocument, id: String, number: Int?, poster: PosterChange, created: String? = nil,
        updated: String? = nil
    ) throws(FilmLibraryError) -> Int {
        var document = document
        for member in FilmLibrary.ownMembers { document[member] = nil }
        if case .store = poster { document["poster"] = nil }
        let movie: Movie
        do throws(CatalogueError) {
            movie = try document.movie(id: id)
        } catch {
            throw .invalidFilm(error)
        }
        let year = movie.year ?? Schema.yearKeyOfNone
        let values: [SQLValue] = [
            .integer(year), .text(FoldedText.sortKey(movie.title)), SQLValue(movie.score),
            .text(updated ?? now), .integer(try revision()), .text(document.json()),
        ]
        let film: Int
        if let number {
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
                    .text(id), .real(movie.score.map { -$0 } ?? Schema.scoreKeyOfNone), .text(created ?? now),
                ])
            film = database.lastRow
            try index(movie, film, isNew: true)
            if case .store = poster { try change(poster, hasAddress: false, of: film) }
        }
        return film
    }

    /// Removes a film with all that belongs to it.
    func remove(_ number: Int) throws(FilmLibraryError) {
        _ = try revision()
        try unindex(number)
        try database.run("DELETE FROM films WHERE number = ?", .integer(number))
    }

    /// Notes that a film has changed.
    func touch(_ number: Int, isEdited: Bool) throws(FilmLibraryError) {
        try database.run(
            "UPDATE films SET revision = ? WHERE number = ?", .integer(try revision()), .integer(number))
        if isEdited {
            try database.run("UPDATE films SET updated_at = ? WHERE number = ?", .text(now), .integer(number))
        }
    }

    private func change(_ poster: PosterChange, hasAddress: Bool, of film: Int) throws(FilmLibraryError) {
        switch poster {
        case .keep where !hasAddress: break
        case .keep, .asDocument: try database.run("DELETE FROM posters WHERE number = ?", .integer(film))
        case .store(let poster):
            try database.run(
                "INSERT OR REPLACE INTO posters VALUES (?, ?, ?, ?, ?)", .integer(film),
                .text(poster.mediaType),
                .integer(poster.bytes.count), .text(String(try revision(), radix: 36)), .blob(poster.bytes))
        }
    }

    // MARK: Votes

    /// Works out a film's rating, and what it is ranked by.
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
            .real(Schema.scoreKeyOfNone), .integer(number))
    }

    // MARK: Search

    private func index(_ movie: Movie, _ number: Int, isNew: Bool) throws(FilmLibraryError) {
        let parts = [movie.title, movie.originalTitle, movie.director].compactMap(\.self) + movie.genres
        let text = (parts + (movie.year.map { ["\($0)"] } ?? [])).map(FoldedText.fold).joined(separator: "\n")
        if !isNew { try unindex(number) }
        try database.run("INSERT OR REPLACE INTO search VALUES (?, ?)", .integer(number), .text(text))
        if hasWords, !isBulk {
            try database.run("INSERT INTO words (rowid, text) VALUES (?, ?)", .integer(number), .text(text))
        }
    }

    private func unindex(_ number: Int) throws(FilmLibraryError) {
        guard hasWords, !isBulk else { return }
        try database.run(
            """
            INSERT INTO words (words, rowid, text)
            SELECT 'delete', number, text FROM search WHERE number = ?
            """, .integer(number))
    }
}

/// Times as a library has them: `2026-11-22T12:43:17.123Z`.
enum Timestamp {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static var now: String { Date().formatted(style) }

    /// A time of RFC 3339 in this form; nil for another text.
    static func normalized(_ text: String) -> String? {
        // One of the two forms fails: that with fractions, or that without.
        if let date = try? style.parse(text) {
            // As a number of seconds a time is a little more or less than it was, and formatting cuts off.
            return text.utf8.count == 24 && text.hasSuffix("Z")
                ? text : date.addingTimeInterval(1e-5).formatted(style)
        }
        return (try? Date.ISO8601FormatStyle().parse(text))?.formatted(style)
    }
}
