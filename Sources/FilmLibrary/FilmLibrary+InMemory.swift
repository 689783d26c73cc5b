package import MovieCatalogue

extension FilmLibrary {
    /// A catalogue as a library in memory, to be searched and paged through. What is written to it is lost.
    ///
    /// A film that is not right is left out, as is the second of two with one id; an id that no library has becomes one of
    /// title and year.
    /// - Parameters:
    ///   - path: what stands for it in messages.
    ///   - problem: told of each film that is left out.
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
    /// Takes in a film of a catalogue that is only looked at.
    fileprivate func view(_ document: FilmDocument, position: Int) throws(CatalogueError) {
        let movie = try document.movie(position: position)
        var id = movie.id
        if FilmID.fault(id) != nil { id = FilmID.make(title: movie.title, year: movie.year) }
        // In memory nothing fails but for a film that is there already.
        guard let outcome = try? add(document, id: id, poster: nil, replaces: false), outcome == .added else {
            throw .duplicateIdentifier(id: id, line: nil)
        }
    }
}
