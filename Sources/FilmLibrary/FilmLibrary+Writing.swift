package import MovieCatalogue

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
        try write { transaction in
            guard let old = try transaction.database.film(id) else { return false }
            try condition(old.film)
            try transaction.remove(old.number)
            return true
        }
    }

    /// Stores a film's poster.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func setPoster(
        _ poster: PosterBytes, of id: String, if condition: (StoredFilm) throws -> Void = { _ in }
    ) throws -> StoredFilm? {
        try update(id, poster: .store(poster)) { film in
            try condition(film)
            return film.document
        }
    }

    /// Removes a film's poster, stored or linked.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func removePoster(
        of id: String, if condition: (StoredFilm) throws -> Void = { _ in }
    ) throws -> StoredFilm? {
        try update(id, poster: .asDocument) { film in
            try condition(film)
            var document = film.document
            document["poster"] = nil
            return document
        }
    }

    /// Stores the vote of a rater and replaces an earlier one.
    /// - Parameter value: within `Movie.scores`.
    /// - Returns: the film after the change; nil if there is none with this id.
    package func rate(_ id: String, rater: String, value: Double) throws -> StoredFilm? {
        try vote(id) { film, database throws(FilmLibraryError) in
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
                try transaction.touch(old.number, isEdited: false)
            }
            return try written(id, in: transaction)
        }
    }

    /// Sets the catalogue's title, or removes it.
    package func setName(_ name: String?) throws {
        try write { transaction in try transaction.setName(name) }
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
        let movie: Movie
        do throws(CatalogueError) {
            movie = try document.movie(id: "new")
        } catch {
            throw .invalidFilm(error)
        }
        let id = FilmID.make(title: movie.title, year: movie.year)
        for number in 1...Self.suffixLimit {
            let candidate = number == 1 ? id : "\(id)-\(number)"
            if try database.film(candidate) == nil { return candidate }
        }
        return FilmID.random()
    }
}

extension Transaction {
    func setName(_ name: String?) throws(FilmLibraryError) {
        _ = try revision()
        if let name {
            try database.run("INSERT OR REPLACE INTO facts VALUES ('name', ?)", .text(name))
        } else {
            try database.run("DELETE FROM facts WHERE key = 'name'")
        }
    }
}
