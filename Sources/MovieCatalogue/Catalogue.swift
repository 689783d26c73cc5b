/// Films and the locations of their posters, read from JSON or XML.
public struct Catalogue: Sendable, Hashable {
    /// The catalogue's title, if it has one.
    public let name: String?
    /// The films in the order of the catalogue.
    public let movies: [Movie]
    /// The errors of the films that were skipped, in catalogue order.
    public let problems: [CatalogueError]

    /// Creates a catalogue without checking the films.
    public init(name: String?, movies: [Movie]) {
        self.init(name: name, movies: movies, problems: [])
    }

    init(name: String?, movies: [Movie], problems: [CatalogueError]) {
        self.name = name
        self.movies = movies
        self.problems = problems
    }

    /// Reads a catalogue of at most 64 MiB of UTF-8. Its content, not its name, decides between JSON and XML. Invalid
    /// films are skipped and listed in `problems`.
    ///
    ///     {"name": "Silents", "movies": [{"id": "nosferatu", "title": "Nosferatu", "originalTitle": "…",
    ///       "year": 1922, "director": "F. W. Murnau", "country": "Germany", "minutes": 94,
    ///       "genres": ["Horror"], "overview": "…", "score": 8.1, "poster": "posters/nosferatu.jpg",
    ///       "media": "films/nosferatu.mkv"}]}
    ///
    ///     <catalogue name="Silents"><movie id="nosferatu"><title>Nosferatu</title><year>1922</year>
    ///       <director>F. W. Murnau</director><genres><genre>Horror</genre></genres></movie></catalogue>
    ///
    /// An Atom feed or RSS of films is a catalogue too: see `FilmFeed`.
    ///
    /// In JSON an array of films alone is valid too. `id` and `title` are required. `poster` and `media` (the film
    /// itself) are paths or URLs, relative to the catalogue. `rating`, `votes`, `created_at` and `updated_at` come from
    /// a library. All other members are ignored.
    /// - Throws: the error in the document, with its line in XML; if no film is valid, the error of the first.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        let source = try CatalogueSource(try Document(parsing: bytes))
        var identifiers: Set<String> = []
        var movies: [Movie] = []
        var problems: [CatalogueError] = []
        try source.forEachFilm { film throws(CatalogueError) in
            do throws(CatalogueError) {
                let fields = try film.get()
                let movie = try fields.movie()
                guard identifiers.insert(movie.id).inserted else {
                    throw .duplicateIdentifier(id: movie.id, line: fields.line)
                }
                movies.append(movie)
            } catch {
                problems.append(error)
            }
        }
        if movies.isEmpty, let first = problems.first { throw first }
        name = source.name
        self.movies = movies
        self.problems = problems
    }
}

/// The structure of a catalogue, with unchecked films.
struct CatalogueSource {
    let name: String?
    private let films: Films

    private enum Films {
        case json(JSONEntries)
        case xml(XMLFilms)
    }

    init(_ document: Document) throws(CatalogueError) {
        switch document {
        case .json(let root): try self.init(root)
        case .xml(let root): try self.init(root)
        case .lines: throw .unrecognized
        }
    }

    init(_ root: JSONDocument) throws(CatalogueError) {
        guard let entries = root.movies ?? root.elements else {
            throw .wrongShape(
                expected: "an object with an array \"movies\", or an array of films", line: nil)
        }
        films = .json(entries)
        name = root.name?.trimmed
    }

    init(_ root: XMLElement) throws(CatalogueError) {
        let movies = try XMLFilms(root)
        films = .xml(movies)
        name = movies.name
    }

    /// Calls `body` with each film in order, or with the reason why the entry is not a film.
    /// - Throws: the error that makes the document unreadable, and errors of `body`.
    func forEachFilm(
        _ body: (Result<MovieFields, CatalogueError>) throws(CatalogueError) -> Void
    ) throws(CatalogueError) {
        var position = 0
        switch films {
        case .xml(let movies):
            for index in 0..<movies.count {
                let film = Result { () throws(CatalogueError) in
                    MovieFields(try movies.film(index), position: index + 1)
                }
                try body(film)
            }
        case .json(let entries):
            try entries.forEach { entry throws(CatalogueError) in
                position += 1
                if case .object(let values) = entry {
                    try body(.success(MovieFields(position: position, line: nil, values: values)))
                } else {
                    try body(.failure(.wrongShape(expected: "an object for film \(position)", line: nil)))
                }
            }
        }
    }
}

/// The films that match a few typed words.
public enum MovieMatch: Sendable, Hashable {
    /// Exactly one film.
    case one(Movie)
    /// Several films, in catalogue order.
    case several([Movie])
    /// None, with at most five films of similar spelling, nearest first.
    case none(suggestions: [Movie])
}

extension Catalogue {
    /// Finds the film with this id, otherwise with this title or original title, otherwise with a title that contains
    /// the text. Ignores case, accents and repeated spaces.
    public func match(_ text: String) -> MovieMatch {
        if let movie = movies.first(where: { $0.id == text }) { return .one(movie) }
        let wanted = FoldedText.fold(text)
        guard !wanted.isEmpty else { return .none(suggestions: []) }
        let titles = movies.map { movie in
            (movie: movie, titles: [movie.title, movie.originalTitle].compactMap { $0.map(FoldedText.fold) })
        }
        let exact = titles.filter { $0.titles.contains(wanted) }
        let found = exact.isEmpty ? titles.filter { $0.titles.contains { $0.contains(wanted) } } : exact
        if found.count > 1 { return .several(found.map(\.movie)) }
        if let only = found.first { return .one(only.movie) }
        let suggestions = Suggestions.films(like: wanted, among: movies.map { ($0, $0) })
        return .none(suggestions: suggestions)
    }
}
