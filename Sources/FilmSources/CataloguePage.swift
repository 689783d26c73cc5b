package import Films
import FoundationEssentials
package import LazyImages
import SystemSupport

/// A page of films.
package struct CataloguePage: Sendable {
    private enum Content: Sendable {
        /// A document with films.
        case document([UInt8])
        /// The films, read already.
        case films([SourceFilm])
    }

    private let content: Content
    /// The title of the list, if that is known without the document.
    private var name: String?
    /// The base URL of the addresses.
    package let base: BaseURL
    /// Why entries are left out.
    package var problems: [CatalogueError] = []
    /// When the server last confirmed the page, in seconds since 1970; nil if that is unknown.
    package var confirmed: Int?
    /// Whether no page follows.
    package var isLast = true
    /// Whether it is the last one that is read, although others follow.
    package var isCut = false

    /// Called with each page. An error that it throws ends the reading.
    /// - Returns: whether the next page is wanted.
    package typealias Taker = @Sendable (CataloguePage) async throws -> Bool

    /// A page in a document.
    package init(_ bytes: [UInt8], base: BaseURL, confirmed: Int? = nil, isLast: Bool = true) {
        (content, self.base, self.confirmed, self.isLast) = (.document(bytes), base, confirmed, isLast)
    }

    package init(_ films: [SourceFilm], name: String? = nil, base: BaseURL) {
        (content, self.name, self.base) = (.films(films), name, base)
    }

    /// Reads the entries of a page. Of films with the same id it takes the first.
    /// - Parameters:
    ///   - position: how many entries came before the page. Default: none.
    ///   - film: makes a film of an entry and its position, from 1.
    init<Entry>(
        _ entries: [Entry], after position: Int = 0, base: BaseURL,
        _ film: (Entry, Int) throws(CatalogueError) -> SourceFilm
    ) {
        var films: [SourceFilm] = []
        var ids: Set<String> = []
        for (index, entry) in entries.enumerated() {
            do throws(CatalogueError) {
                let film = try film(entry, position + index + 1)
                if ids.insert(film.movie.id).inserted { films.append(film) }
            } catch {
                problems.append(error)
            }
        }
        (content, self.base) = (.films(films), base)
    }

    /// The films, with what is known of each beside its members; none of a document.
    package var films: [SourceFilm] { if case .films(let films) = content { films } else { [] } }

    /// The document; for films that were read already a catalogue of them in JSON, with all that is known of each.
    package var bytes: [UInt8] {
        switch content {
        case .document(let bytes): return bytes
        case .films(let films):
            var document = FilmDocument()
            document["name"] = name.map { JSONText($0) }
            let texts = films.map { $0.document.json() }.joined(separator: ",")
            let start = document.json().dropLast() + (name == nil ? "" : ",")
            return Array("\(start)\"movies\":[\(texts)]}".utf8)
        }
    }

    /// The films. Their web pages and files are shown as they are, so a relative address would lead nowhere.
    package var catalogue: Catalogue {
        get throws(CatalogueError) {
            guard case .document(let bytes) = content else {
                return Catalogue(name: name, movies: films.map(\.movie), problems: problems)
            }
            let catalogue = try Catalogue(parsing: bytes)
            guard base.url.scheme?.lowercased().hasPrefix("http") == true,
                let base = URL(string: base.url.displayText)
            else { return catalogue }
            return catalogue.resolvingLinks(against: base)
        }
    }
}

/// A film of a source.
package struct SourceFilm: Sendable {
    package internal(set) var movie: Movie
    /// Its ids in databases of films, by their names: `["imdb": "tt0013442"]`.
    package let ids: [String: String]
    /// The marks that the server has for the user; none where the server does not say whose they are.
    package internal(set) var marks = FilmMarks()

    /// A film from values that another program wrote. An original title that is the title is left out.
    /// - Parameters:
    ///   - values: the members' values.
    ///   - marks: the marks that the server has. Default: none.
    ///   - position: the film's position in its list, from 1, for errors.
    ///   - line: the line where it begins, from 1, if known.
    init(
        _ values: MovieFields.Values, ids: [String: String] = [:], marks: FilmMarks = FilmMarks(),
        position: Int, line: Int? = nil
    ) throws(CatalogueError) {
        var values = values
        if values[.originalTitle] == values[.title] { values[.originalTitle] = nil }
        movie = try values.movie(position: position, line: line)
        (self.ids, self.marks) = (ids, marks)
    }

    package init(_ movie: Movie, ids: [String: String] = [:], marks: FilmMarks = FilmMarks()) {
        (self.movie, self.ids, self.marks) = (movie, ids, marks)
    }

    /// All members with their values, and the ids as the member `ids`.
    package var document: FilmDocument {
        var document = FilmDocument()
        for member in FilmMember.allCases {
            switch movie[member] {
            case .text(let text): document[member.name] = JSONText(text)
            case .whole(let number): document[member.name] = JSONText(number)
            case .number(let number): document[member.name] = JSONText(number)
            case .texts(let texts):
                document[member.name] = JSONText(elements: texts.map { JSONText($0) })
            case nil: break
            }
        }
        if !ids.isEmpty {
            let members = ids.sorted { $0.key < $1.key }
            document["ids"] = JSONText(
                members: members.map { JSONText.Member(name: $0.key, value: JSONText($0.value)) })
        }
        return document
    }
}

extension BaseURL {
    /// An address of a folder's film as other programs take it, from anywhere: whole. The addresses of a list are as they
    /// are written there.
    package func media(_ address: String) -> String {
        guard url.isFileURL, url.hasDirectoryPath else { return address }
        return URL(string: address, relativeTo: url)?.absoluteString ?? address
    }
}

/// A film that a word names.
package struct FoundFilm: Sendable {
    package var movie: Movie
    /// The base URL of its addresses.
    package let base: BaseURL
    /// Whether it is a cached one, because the server does not answer.
    package var isCached = false

    package init(_ movie: Movie, base: BaseURL) { (self.movie, self.base) = (movie, base) }
}

/// The films of a provider.
package struct OpenCatalogue: Sendable {
    package var catalogue: Catalogue
    /// The base URL of the films' addresses.
    package let base: BaseURL
    /// The marks that the films' server has for the user, by the film's id.
    package private(set) var served: [String: FilmMarks] = [:]
    /// The ids that databases of films have for a film of a source, by the film's own.
    package private(set) var ids: [String: [String: String]] = [:]
    /// Whether the server has more films than were read.
    package var hasMore = false
    /// When the server last confirmed the films, in seconds since 1970; nil if that is unknown.
    package var confirmed: Int?
    /// Why these are cached films: the server did not answer. Nil if they are current.
    package var outage: ImageLoadingError?
    /// Whether all pages are here.
    package private(set) var isWhole = false
    /// The ids of the films, once there is a second page.
    private var known: Set<String> = []

    /// The films of the first page.
    package init(_ page: CataloguePage) throws(CatalogueError) {
        (catalogue, base, confirmed) = (try page.catalogue, page.base, page.confirmed)
        note(page)
    }

    /// Adds the films of the next page. A film that moved between pages during the reading keeps its first position.
    package mutating func append(_ page: CataloguePage) throws(CatalogueError) {
        let films = try page.catalogue
        // Addresses are relative to their own page.
        let isBeside = page.base.url.deletingLastPathComponent() == base.url.deletingLastPathComponent()
        if known.isEmpty { known = Set(catalogue.movies.map(\.id)) }
        catalogue.append(isBeside ? films : films.resolvingAddresses(against: page.base.url), known: &known)
        // The catalogue is as old as its oldest page.
        confirmed = [confirmed, page.confirmed].compactMap(\.self).min()
        note(page)
    }

    private mutating func note(_ page: CataloguePage) {
        hasMore = page.isCut
        isWhole = page.isLast || page.isCut
        for film in page.films {
            if film.marks != FilmMarks() { served[film.movie.id] = served[film.movie.id] ?? film.marks }
            if !film.ids.isEmpty { ids[film.movie.id] = ids[film.movie.id] ?? film.ids }
        }
    }
}

/// The films of the pages that have arrived. Each page is parsed once.
package final class ArrivedFilms: Sendable {
    private let films: Lock<OpenCatalogue?>

    /// - Parameter films: those before which the pages come. Default: none.
    package init(after films: OpenCatalogue? = nil) { self.films = Lock(films) }

    /// Adds the films of a page.
    package func take(_ page: CataloguePage) throws(CatalogueError) {
        try films.withLock { films throws(CatalogueError) in
            if films == nil { films = try OpenCatalogue(page) } else { try films?.append(page) }
        }
    }

    /// The films so far; nil before the first page. Ask rarely: each answer is copied when the next page comes.
    package var open: OpenCatalogue? { films.withLock { $0 } }
    /// Their number.
    package var count: Int { films.withLock { $0?.catalogue.movies.count ?? 0 } }
    /// Whether all pages are here.
    package var isWhole: Bool { films.withLock { $0?.isWhole ?? false } }
}

/// Values that another program wrote. Nil sets nothing.
extension MovieFields.Values {
    mutating func set(_ member: FilmMember, _ text: String?) {
        if let text { self[member] = .text(text) }
    }

    /// Sets a number. One that is out of range, as a year of 0 or a score of 15.5, is left out.
    mutating func set(_ member: FilmMember, _ number: Double?) {
        if let number, member.kind.contains(number) { self[member] = .number(number) }
    }

    mutating func set(_ member: FilmMember, _ number: Int?) { set(member, number.map { Double($0) }) }

    mutating func set(_ member: FilmMember, _ texts: [String]) { self[member] = .texts(texts) }

    /// Sets texts as one line, if there are any.
    mutating func set(_ member: FilmMember, line texts: [String]) {
        if !texts.isEmpty { self[member] = .text(texts.joined(separator: ", ")) }
    }

    /// Sets a score, which other programs write with more digits than people read.
    mutating func set(_ member: FilmMember, tenths number: Double?) {
        set(member, number.map { ($0 * 10).rounded() / 10 })
    }
}
