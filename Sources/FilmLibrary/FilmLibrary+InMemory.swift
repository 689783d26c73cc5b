package import MovieCatalogue

extension FilmLibrary {
    /// Loads a catalogue into a library in memory, for searching and paging. Changes to it are lost.
    ///
    /// Skips invalid films and all but the first film with an id. An invalid id is replaced by one made from title and
    /// year.
    /// - Parameters:
    ///   - path: the name in messages.
    ///   - problem: called for each skipped film.
    package static func inMemory(
        _ catalogue: CatalogueDocuments, path: String, problem: (CatalogueError) -> Void = { _ in }
    ) throws -> FilmLibrary {
        let library = try FilmLibrary(inMemoryFor: path)
        try library.importFilms { films in
            if let name = catalogue.name { try films.setNameIfNone(name) }
            catalogue.forEach { position, film in
                do throws(CatalogueError) {
                    try films.view(try film.get(), position: position)
                } catch {
                    problem(error)
                }
            }
        }
        return library
    }
}

extension FilmImport {
    /// Adds a film of a catalogue that is only read.
    fileprivate func view(_ document: FilmDocument, position: Int) throws(CatalogueError) {
        let movie = try document.movie(position: position)
        var id = movie.id
        if FilmID.fault(id) != nil { id = FilmID.make(title: movie.title, year: movie.year) }
        // Losing the error is right: in memory `add` fails only for an existing film.
        guard let outcome = try? add(document, id: id, poster: nil, replaces: false), outcome == .added else {
            throw .duplicateIdentifier(id: id, line: nil)
        }
    }
}
