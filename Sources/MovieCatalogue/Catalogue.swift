/// Films and where their posters are, from JSON or XML.
public struct Catalogue: Sendable, Hashable {
    /// The catalogue's own title, if it gives one.
    public let name: String?
    /// The films in the order of the catalogue.
    public let movies: [Movie]

    /// Makes a catalogue of films; nothing is checked.
    public init(name: String?, movies: [Movie]) {
        self.name = name
        self.movies = movies
    }

    /// Reads a catalogue of at most 64 MiB of UTF-8; its content tells JSON from XML, never its name. One film
    /// that is not right makes the whole refused, since a list that silently lacks films helps nobody.
    ///
    ///     {"name": "Silents", "movies": [{"id": "nosferatu", "title": "Nosferatu", "originalTitle": "…",
    ///       "year": 1922, "director": "F. W. Murnau", "country": "Germany", "minutes": 94,
    ///       "genres": ["Horror"], "overview": "…", "score": 8.1, "poster": "posters/nosferatu.jpg"}]}
    ///
    ///     <catalogue name="Silents"><movie id="nosferatu"><title>Nosferatu</title><year>1922</year>
    ///       <director>F. W. Murnau</director><genres><genre>Horror</genre></genres></movie></catalogue>
    ///
    /// In JSON a bare array of films does as well. Required are id, title, year and director; what else a film
    /// has and is not named above is ignored. Throws what is wrong, and in XML on which line.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        let source = try CatalogueSource(try Document(parsing: bytes))
        name = source.name
        var identifiers: Set<String> = []
        var movies: [Movie] = []
        movies.reserveCapacity(source.movies.count)
        for fields in source.movies {
            let movie = try fields.movie()
            guard identifiers.insert(movie.id).inserted else {
                throw .duplicateIdentifier(id: movie.id, line: fields.line)
            }
            movies.append(movie)
        }
        self.movies = movies
    }
}

/// The shape of a catalogue, its films not yet checked.
struct CatalogueSource {
    let name: String?
    let movies: [MovieFields]

    init(_ document: Document) throws(CatalogueError) {
        switch document {
        case .json(let root): try self.init(root)
        case .xml(let root): try self.init(root)
        case .lines: throw .unrecognised
        }
    }

    init(_ root: JSONDocument) throws(CatalogueError) {
        guard let entries = root.movies ?? root.elements else {
            throw .wrongShape(
                expected: "an object with an array \"movies\", or an array of films", line: nil)
        }
        var movies: [MovieFields] = []
        movies.reserveCapacity(entries.count)
        for entry in entries {
            let position = movies.count + 1
            guard case .object(let values) = entry else {
                throw .wrongShape(expected: "an object for film \(position)", line: nil)
            }
            movies.append(MovieFields(position: position, line: nil, values: values))
        }
        self.movies = movies
        name = root.name?.trimmed
    }

    init(_ root: XMLElement) throws(CatalogueError) {
        guard root.name == "catalogue" else {
            throw .wrongShape(expected: "<catalogue>, not <\(root.name)>", line: root.line)
        }
        let elements = root.children.filter { $0.name == "movie" }
        movies = elements.enumerated().map { MovieFields($0.element, position: $0.offset + 1) }
        name = root.attributes["name"]?.collapsed
    }
}
