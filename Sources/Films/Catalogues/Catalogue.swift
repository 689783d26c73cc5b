public import FoundationEssentials
internal import SystemSupport

/// Films and the locations of their posters, read from JSON or XML.
public struct Catalogue: Sendable, Hashable {
    /// The catalogue's title, if it has one.
    public let name: String?
    /// The films in the order of the catalogue.
    public private(set) var movies: [Movie]
    /// The errors of the films that were skipped, in catalogue order.
    public private(set) var problems: [CatalogueError]

    /// Creates a catalogue without checking the films.
    public init(name: String?, movies: [Movie], problems: [CatalogueError] = []) {
        (self.name, self.movies, self.problems) = (name, movies, problems)
    }
}

extension Catalogue {
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
        source.forEachFilm { film in
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
        self.init(name: source.name, movies: movies, problems: problems)
    }
}

/// The structure of a catalogue, with unchecked films.
struct CatalogueSource: Sendable {
    let name: String?
    let films: Films

    enum Films: Sendable {
        case json([JSONNode])
        /// The feed makes films of its entries; without one the elements are films.
        case xml([XMLElement], FilmFeed?)
    }

    init(_ document: Document) throws(CatalogueError) {
        switch document {
        case .json(let root): try self.init(root)
        case .xml(let root): try self.init(root)
        case .lines: throw .unrecognized
        }
    }

    init(_ root: JSONNode) throws(CatalogueError) {
        guard let entries = root.kind == .array ? root : root["movies"], entries.kind == .array else {
            throw .wrongShape(
                expected: "an object with an array \"movies\", or an array of films", line: nil)
        }
        films = .json(entries.elements)
        name = root["name"]?.string?.trimmed
    }

    init(_ root: XMLElement) throws(CatalogueError) {
        if root.name == "catalogue" {
            name = root.attributes["name"]?.collapsed
            films = .xml(root.children.filter { $0.name == "movie" }, nil)
        } else {
            let feed = try FilmFeed(root)
            (name, films) = (feed.name, .xml(feed.entries, feed))
        }
    }

    /// The number of films, valid or not.
    var count: Int {
        switch films {
        case .json(let entries): entries.count
        case .xml(let elements, _): elements.count
        }
    }

    /// Calls `body` with each film in order, or with the reason why the entry is not a film.
    func forEachFilm<Failure: Error>(
        _ body: (Result<MovieFields, CatalogueError>) throws(Failure) -> Void
    ) throws(Failure) {
        try forEach(
            xml: { MovieFields($0, position: $1) },
            json: { MovieFields(position: $1, line: nil, values: MovieFields.Values($0)) }, body: body)
    }

    /// The films of JSON read by one thread at a time: some 100 KB.
    private static let pieceCount = 256
    /// The pieces read at once: enough for all processors, and few enough that the films stay small beside the document.
    private static let piecesAtATime = 16

    /// Calls `body` with each film in order, as it is made of its element or its object, or with the reason why the entry
    /// is not a film.
    func forEach<Film: Sendable, Failure: Error>(
        xml: (XMLElement, Int) -> Film,
        json: @Sendable (JSONNode, Int) throws(CatalogueError) -> Film,
        body: (Result<Film, CatalogueError>) throws(Failure) -> Void
    ) throws(Failure) {
        switch films {
        case .xml(let elements, let feed):
            for (index, element) in elements.enumerated() {
                try body(
                    Result { () throws(CatalogueError) in
                        xml(try feed?.film(element) ?? element, index + 1)
                    })
            }
        case .json(let entries):
            let pieces = (entries.count + Self.pieceCount - 1) / Self.pieceCount
            try Parallel.forEach(pieces, atATime: Self.piecesAtATime) { piece in
                let start = piece * Self.pieceCount
                return entries[start...].prefix(Self.pieceCount).enumerated().map { index, entry in
                    Result { () throws(CatalogueError) in
                        let position = start + index + 1
                        guard entry.kind == .object else {
                            throw .wrongShape(expected: "an object for film \(position)", line: nil)
                        }
                        return try json(entry, position)
                    }
                }
            } body: { films throws(Failure) in
                for film in films { try body(film) }
            }
        }
    }
}

extension MovieFields.Values {
    /// The members of an object. The first of two with one name counts; null counts as absent.
    init(_ object: JSONNode) {
        self.init()
        object.forEachMember { name, value in
            guard let member = FilmMember(named: name), self[member] == nil else { return }
            self[member] = MovieFields.Value(value, of: member)
        }
    }
}

extension MovieFields.Value {
    fileprivate init(_ value: JSONNode, of member: FilmMember) {
        let isNumber = member.isNumber || member == .id
        switch value.kind {
        case .number where isNumber: self = value.number.map(Self.number) ?? .other
        case .array where member.listElement != nil:
            let elements = value.elements
            let texts = elements.compactMap(\.string)
            self = texts.count == elements.count ? .texts(texts) : .other
        case .string where !member.isNumber && member.listElement == nil:
            self = value.string.map(Self.text) ?? .other
        default: self = .other
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

extension Catalogue {
    /// The sort orders of a list of films.
    public enum Sort: String, CaseIterable, Sendable {
        /// Highest first: by rating if there are votes, otherwise by score. Films without either come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, ignoring case and accents.
        case title
    }

    /// The films in a stable order: equal films are sorted by title, then by id.
    public func sorted(by order: Sort) -> [Movie] { numbers(by: order).map { movies[$0] } }

    /// The indices of the films, sorted.
    public func numbers(by order: Sort) -> [Int] {
        let keys = movies.map { (rank: rank(of: $0, by: order), title: FoldedText.sortKey($0.title)) }
        return movies.indices.sorted { first, second in
            if keys[first].rank != keys[second].rank { return keys[first].rank < keys[second].rank }
            if keys[first].title != keys[second].title { return keys[first].title < keys[second].title }
            return movies[first].id < movies[second].id
        }
    }

    /// The primary sort key; lowest first.
    private func rank(of movie: Movie, by order: Sort) -> Double {
        switch order {
        // Films without a score come after those with score 0.
        case .score: -(movie.rankingScore ?? -1)
        case .year: movie.year.map(Double.init) ?? .infinity
        case .title: 0
        }
    }
}

extension Catalogue {
    /// Adds the films of the following page.
    /// - Parameter known: the ids of the films that are there already. A film that moved between pages during the reading
    ///   keeps its first position.
    package mutating func append(_ page: Catalogue, known: inout Set<String>) {
        for movie in page.movies where known.insert(movie.id).inserted { movies.append(movie) }
        problems += page.problems
    }

    /// Replaces the film with the same id.
    package func replacing(_ movie: Movie) -> Catalogue {
        Catalogue(name: name, movies: movies.map { $0.id == movie.id ? movie : $0 }, problems: problems)
    }

    /// Makes the URLs of posters, films and pages absolute.
    public func resolvingAddresses(against base: URL) -> Catalogue {
        resolving(FilmMember.addresses, against: base)
    }

    /// Makes the URLs of the films' web pages and files absolute.
    public func resolvingLinks(against base: URL) -> Catalogue { resolving([.page, .media], against: base) }

    private func resolving(_ members: [FilmMember], against base: URL) -> Catalogue {
        let movies = movies.map { movie in
            var movie = movie
            for member in members {
                guard case .text(let address) = movie[member],
                    let whole = URL(string: address, relativeTo: base)
                else { continue }
                movie[member] = .text(whole.absoluteString)
            }
            return movie
        }
        return Catalogue(name: name, movies: movies, problems: problems)
    }

    /// Changes the texts that people read: the name, titles, directors, countries, genres and overviews.
    package func mapTexts(_ change: (String) -> String) -> Catalogue {
        Catalogue(
            name: name.map(change), movies: movies.map { $0.mapTexts(change) }, problems: problems)
    }
}

/// Why bytes are not a catalogue or a manifest. Lines count from 1. In JSON the line of a value is unknown; films have
/// positions instead.
public enum CatalogueError: Error, Sendable, Hashable {
    /// The document is empty or only white space.
    case empty
    /// More bytes or values than `limit`.
    case tooLarge(limit: Int, unit: String)
    /// The byte at this offset is not UTF-8.
    case notUTF8(offset: Int)
    /// The document declares another encoding than UTF-8.
    case unsupportedEncoding(name: String, line: Int)
    /// The content is in no known format.
    case unrecognized
    /// The JSON is malformed, near this line and column if known.
    case malformedJSON(reason: String, line: Int?, column: Int? = nil)
    /// The XML is malformed at, or shortly before, this column.
    case malformedXML(reason: String, line: Int, column: Int? = nil)
    /// A document type declaration: its entities can expand a few bytes to any size.
    case doctypeRefused(line: Int)
    /// The document is HTML.
    case webPage
    /// Well-formed, but not a catalogue or a manifest.
    case wrongShape(expected: String, line: Int?)
    /// A film lacks a required field.
    case missingField(movie: String, field: String, line: Int?)
    /// A field has a value of the wrong type.
    case wrongType(movie: String, field: String, expected: String, line: Int?)
    /// Two films with one id.
    case duplicateIdentifier(id: String, line: Int?)
    /// The file beside a film that has its facts cannot be read. The film has the name of its file instead.
    case unreadableFacts(file: String, reason: String)
    /// A folder of films cannot be read.
    case unreadableFolder(name: String, reason: String)
    /// Names in a folder of films that are not UTF-8; `first` is one of them.
    case unreadableNames(folder: String, first: String, count: Int)
    /// Links that lead out of a folder of films, and are not followed.
    case skippedLinks(count: Int)
    /// Folders in a folder of films that are deeper than `levels`, and are not read.
    case tooDeep(folders: Int, levels: Int)
    /// The server has more films than it sends.
    case incomplete(films: Int, total: Int)

    /// Whether the film is left out for this reason.
    package var leavesOut: Bool {
        switch self {
        case .unreadableFacts, .unreadableFolder, .unreadableNames, .skippedLinks, .tooDeep, .incomplete:
            false
        default: true
        }
    }

    /// Warnings for people: a line for each of the first problems, and one for the others.
    /// - Parameters:
    ///   - source: its name.
    ///   - named: how many have a line. Default: 5.
    ///   - advice: what names all, such as an option.
    package static func warnings(
        of problems: [CatalogueError], in source: String, named: Int = 5, advice: String
    ) -> [String] {
        var lines = problems.prefix(named).map {
            "\(source): \($0)" + ($0.leavesOut ? "; it is left out" : "")
        }
        let rest = problems.dropFirst(named)
        if !rest.isEmpty {
            let films = rest.count == 1 ? "1 more film is" : "\(rest.count) more films are"
            let more =
                rest.allSatisfy(\.leavesOut) ? "\(films) left out" : "and \(rest.count) more of the kind"
            lines.append("\(source): \(more); \(advice) names all")
        }
        return lines
    }
}

extension CatalogueError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do. Escape it for a terminal: it may quote the document.
    public var description: String {
        switch self {
        case .empty: "it is empty; it should hold films as JSON or XML"
        case .tooLarge(let limit, let unit): "it is too large: at most \(limit) \(unit) are read; split it"
        case .notUTF8(let offset): "byte \(offset) is not UTF-8; save it as UTF-8"
        case .unsupportedEncoding(let name, let line):
            at(line) + "the encoding \(name) is not supported; save it as UTF-8"
        case .unrecognized: "it is neither JSON nor XML; a catalogue begins with {, [ or <"
        case .malformedJSON(let reason, let line, let column):
            at(line, column: column) + "not JSON: \(reason)"
        case .malformedXML(let reason, let line, let column):
            at(line, column: column) + "not well-formed XML: \(reason)"
        case .doctypeRefused(let line): at(line) + "a DOCTYPE is not accepted; remove it"
        case .webPage: "it is a web page, not a list of films; check the address in a browser"
        case .wrongShape(let expected, let line): at(line) + "expected \(expected)"
        case .missingField(let movie, let field, let line):
            at(line) + "\(movie) has no \(field); every film needs one"
        case .wrongType(let movie, let field, let expected, let line):
            at(line) + "the \(field) of \(movie) must be \(expected)"
        case .duplicateIdentifier(let id, let line):
            at(line) + "the id \"\(id)\" is used twice; every film needs its own"
        case .unreadableFacts(let file, let reason):
            "\(file): \(reason); the film has the name of its file"
        case .unreadableFolder(let name, let reason):
            "\(name): the folder cannot be read: \(reason); its films are missing"
        case .unreadableNames(let folder, let first, let count):
            (folder.isEmpty ? "" : "\(folder): ")
                + (count == 1 ? "the name \"\(first)\" is" : "\(count) names such as \"\(first)\" are")
                + " not UTF-8; rename \(count == 1 ? "it" : "them") to see what is missing"
        case .skippedLinks(let count):
            (count == 1 ? "1 link leads" : "\(count) links lead")
                + " out of the folder and \(count == 1 ? "is" : "are") left out; --follow-links follows such links"
        case .tooDeep(let folders, let levels):
            (folders == 1 ? "1 folder is" : "\(folders) folders are")
                + " more than \(levels) levels deep, and not read; name a folder inside to see them"
        case .incomplete(let films, let total):
            "the server says that it has \(total) films, and sends \(films); the others are missing"
        }
    }

    private func at(_ line: Int?, column: Int? = nil) -> String {
        line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
    }
}
