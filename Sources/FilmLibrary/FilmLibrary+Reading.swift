import MovieCatalogue

extension Database {
    /// The columns of a `StoredFilm`, in the order in which `film` reads them.
    static let filmColumns = """
        f.number, f.id, f.document, f.rating, f.votes, f.created_at, f.updated_at, f.revision, p.media_type, p.size, p.tag
        """

    /// The film with a row number.
    static let filmByNumber = """
        SELECT \(filmColumns) FROM films f LEFT JOIN posters p ON p.number = f.number WHERE f.number = ?
        """

    /// The film with an id, and its row number.
    func film(_ id: String) throws(FilmLibraryError) -> (number: Int, film: StoredFilm)? {
        try first(
            """
            SELECT \(Self.filmColumns) FROM films f LEFT JOIN posters p ON p.number = f.number WHERE f.id = ?
            """, .text(id)
        ) { row throws(FilmLibraryError) in (row.integer(0), try film(row)) }
    }

    /// Reads the film in a row of `filmColumns`.
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
                .stored(mediaType: row.text(8), count: row.integer(9), tag: row.text(10))
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
                    row throws(FilmLibraryError) in
                    row.text(0)
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
                try database.first("SELECT count(*) FROM films") { row throws(FilmLibraryError) in
                    row.integer(0)
                }
                    ?? 0
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
            try database.first("SELECT number FROM films WHERE id = ?", .text(id)) {
                row throws(FilmLibraryError) in
                try FilmRows(database).size(of: row.integer(0))
            }
        }
    }

    /// The stored poster of a film; nil if none is stored.
    package func poster(of id: String) throws(FilmLibraryError) -> StoredPoster? {
        try read { database throws(FilmLibraryError) in
            try database.first(
                """
                SELECT media_type, tag, bytes FROM posters WHERE number = (SELECT number FROM films WHERE id = ?)
                """, .text(id)
            ) { row throws(FilmLibraryError) in
                StoredPoster(mediaType: row.text(0), bytes: row.bytes(2), tag: row.text(1))
            }
        }
    }

    /// The vote of a rater; nil if there is none.
    package func rating(of id: String, by rater: String) throws(FilmLibraryError) -> Double? {
        try read { database throws(FilmLibraryError) in
            try database.first(
                "SELECT value FROM ratings WHERE film = (SELECT number FROM films WHERE id = ?) AND rater = ?",
                .text(id), .text(rater)
            ) { row throws(FilmLibraryError) in row.real(0) }
        }
    }

    /// Calls `body` with every film and its row number in catalogue order. All from one snapshot.
    func forEachRow(
        _ body: (Database, Int, StoredFilm) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        try read { database throws(FilmLibraryError) in
            try database.rows(
                """
                SELECT \(Database.filmColumns) FROM films f LEFT JOIN posters p ON p.number = f.number ORDER BY f.number
                """
            ) { row throws(FilmLibraryError) in try body(database, row.integer(0), try database.film(row)) }
        }
    }

    /// Calls `body` with every film in catalogue order, until it returns false. All from one snapshot.
    package func forEach(
        _ body: (StoredFilm) throws(FilmLibraryError) -> Bool
    ) throws(FilmLibraryError) {
        try forEachRow { _, _, film throws(FilmLibraryError) in try body(film) }
    }
}
