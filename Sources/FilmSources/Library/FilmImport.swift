package import Films
import Hashing

/// Adds many films in one transaction: all or none.
package struct FilmImport {
    /// The result for one film.
    package enum Outcome: Sendable, Hashable {
        case added, replaced
        /// The library has the same film with this id already.
        case unchanged
        /// The library has another film with this id and keeps it.
        case exists
    }

    private let transaction: Transaction

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Gives the films a revision that follows from a catalogue's content. A new library's is below 2^44.
    func begin(of content: SHA256.Digest) {
        transaction.begin(at: 1 << 44 + Int(content.first >> 12))
    }

    /// Sets the catalogue's title, unless it has one.
    package func setNameIfNone(_ name: String) throws(FilmLibraryError) {
        let names = try transaction.database.number("SELECT count(*) FROM facts WHERE key = 'name'")
        guard names == 0 else { return }
        _ = try transaction.revision()
        try transaction.database.run("INSERT INTO facts VALUES ('name', ?)", .text(name))
    }

    /// Adds a film. Takes valid values of `created_at`, `updated_at`, `rating`, `votes` and `ratings` from the
    /// document.
    /// - Parameters:
    ///   - poster: the poster's bytes; nil uses the document's member `poster`.
    ///   - replaces: whether to replace another film with this id. Its votes stay, unless the document has some.
    /// - Throws: `.filmTooLarge` and `.tooManyMembers` before anything changes, so that the import may go on.
    package func add(
        _ document: FilmDocument, id: String, poster: PosterBytes?, replaces: Bool
    ) throws(FilmLibraryError) -> Outcome {
        let old = try transaction.database.film(id)
        if let old {
            if try isSame(document, poster, as: old.film, number: old.number) { return .unchanged }
            guard replaces else { return .exists }
        }
        let (created, updated) = (time(document["created_at"]), time(document["updated_at"]))
        let number = try transaction.put(
            document, id: id, replacing: old, poster: poster.map(PosterChange.store) ?? .asDocument,
            created: created, updated: updated)
        try vote(Votes(document), for: number)
        return old == nil ? .added : .replaced
    }

    private func time(_ value: JSONText?) -> String? { value?.string.flatMap(Timestamp.normalized) }

    private func isSame(
        _ document: FilmDocument, _ poster: PosterBytes?, as film: StoredFilm, number: Int
    ) throws(FilmLibraryError) -> Bool {
        var own = document
        for member in FilmLibrary.ownMembers { own[member] = nil }
        if poster != nil { own["poster"] = nil }
        guard own == film.document else { return false }
        if let created = time(document["created_at"]), created != film.createdAt { return false }
        if let updated = time(document["updated_at"]), updated != film.updatedAt { return false }
        let votes = Votes(document)
        if votes.count > 0, votes.count != film.votes || votes.rating != film.rating { return false }
        guard let poster else {
            if case .stored = film.poster { return false }
            return true
        }
        let stored = try transaction.database.poster("?", .integer(number))
        return stored?.mediaType == poster.mediaType && stored?.bytes == poster.bytes
    }

    /// The votes in a document.
    private struct Votes {
        /// The number of all votes, and their mean.
        let count: Int
        let rating: Double?
        /// The votes with known raters.
        let raters: [(rater: String, value: Double)]

        init(_ document: FilmDocument) {
            var raters: [String: Double] = [:]
            for vote in document["ratings"]?.members ?? [] {
                guard let value = vote.value.number, Movie.scores.contains(value) else { continue }
                raters[vote.name] = value
            }
            // Ignored: an invalid film has no total of votes here, and `put` reports it.
            let movie = try? document.movie(id: "votes")
            self.raters = raters.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
            let isTold = movie.map { $0.votes >= raters.count && $0.votes > 0 } ?? false
            count = isTold ? movie?.votes ?? 0 : raters.count
            rating = isTold ? movie?.rating : nil
        }
    }

    private func vote(_ votes: Votes, for number: Int) throws(FilmLibraryError) {
        guard votes.count > 0 else { return }
        let database = transaction.database
        try database.run("DELETE FROM ratings WHERE film = ?", .integer(number))
        for (rater, value) in votes.raters {
            try database.run(
                "INSERT INTO ratings VALUES (?, ?, ?)", .integer(number), .text(rater), .real(value))
        }
        // The votes without known raters keep their count and sum.
        let others = votes.count - votes.raters.count
        let sum = votes.raters.reduce(0) { $0 + $1.value }
        let rest = others > 0 ? max(0, (votes.rating ?? 0) * Double(votes.count) - sum) : 0
        try database.run(
            "UPDATE films SET base_votes = ?, base_sum = ? WHERE number = ?", .integer(others), .real(rest),
            .integer(number))
        try transaction.rank(number)
    }
}

extension FilmLibrary {
    /// Imports many films. If `body` throws, the library does not change.
    package func importFilms<Value: Sendable>(_ body: (FilmImport) throws -> Value) throws -> Value {
        try write(isBulk: true) { transaction in try body(FilmImport(transaction)) }
    }

    /// Calls `body` with every film in catalogue order, until it returns false: with the complete document, whose
    /// member `ratings` has all votes, and the poster, if it is stored. All from one snapshot.
    package func forEachExported(
        _ body: (FilmDocument, StoredPoster?) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        try forEachRow { database, number, film throws(FilmLibraryError) in
            var document = film.completeDocument()
            if film.votes > 0 {
                let votes = try database.all(
                    "SELECT rater, value FROM ratings WHERE film = ? ORDER BY rater", [.integer(number)]
                ) { row throws(FilmLibraryError) in
                    JSONText.Member(name: row.text(0), value: JSONText(row.real(1)))
                }
                if !votes.isEmpty { document["ratings"] = JSONText(members: votes) }
            }
            guard case .stored = film.poster else { return try body(document, nil) }
            return try body(document, try database.poster("?", .integer(number)))
        }
    }
}
