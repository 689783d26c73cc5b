import FilmSources
import Films
import FoundationEssentials
import LazyImages

/// A library as a catalogue: all of its films, or only the needed ones.
enum LibrarySource {
    /// All films, in the library's order.
    static func all(_ path: String, _ output: Output) async throws -> OpenCatalogue {
        let label = "reading " + URL(filePath: path).lastPathComponent
        return try await LibraryWork.run(label, total: nil, output) { _ in
            let library = try FilmLibrary(path: path, access: .reading)
            var films: [StoredFilm] = []
            try library.forEach { film throws(FilmLibraryError) in
                films.append(film)
                return true
            }
            return opened(films, name: try library.name, path)
        }
    }

    /// The first films in an order.
    static func first(
        _ count: Int, by order: Catalogue.Sort, _ path: String, _ output: Output
    ) async throws -> OpenCatalogue {
        let sort: FilmQuery.Sort =
            switch order {
            case .score: .score
            case .year: .year
            case .title: .title
            }
        return try await LibraryWork.run("reading", total: nil, output) { _ in
            let library = try FilmLibrary(path: path, access: .reading)
            let page = try library.films(FilmQuery(sort: sort, limit: count))
            return opened(page.films, name: try library.name, path)
        }
    }

    /// The most films that a search by title reads.
    private static let mostAlike = 1000

    /// The film with the id `text`, or the films whose titles have its words; nil if there are none, or too many to
    /// choose from.
    static func few(_ text: String, _ path: String, _ output: Output) async throws -> OpenCatalogue? {
        try await LibraryWork.run("reading", total: nil, output) { _ in
            let library = try FilmLibrary(path: path, access: .reading)
            if let film = try library.film(text) { return opened([film], name: nil, path) }
            let page = try library.films(FilmQuery(search: text, limit: mostAlike))
            guard page.next == nil else { return nil }
            let few = opened(page.films, name: nil, path)
            // The words may be outside the title.
            if case .none = few.catalogue.match(text) { return nil }
            return few
        }
    }

    private static func opened(_ films: [StoredFilm], name: String?, _ path: String) -> OpenCatalogue {
        let address = LibraryTransport.base(path)
        let movies = films.compactMap { film in
            // Ignored: films are checked on their way into the library, so it does not occur.
            try? film.movie(poster: LibraryTransport.address(of: film, address))
        }
        return OpenCatalogue(
            catalogue: Catalogue(name: name, movies: movies), base: BaseURL(URL(filePath: path)))
    }
}
