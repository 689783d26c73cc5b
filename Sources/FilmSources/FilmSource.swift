package import Films
package import FoundationEssentials
package import HTTPSemantics

/// A library of films that another program keeps on a server. A source knows what to request, and reads the answers. It
/// has no network of its own: `SourceAnswers` sends its requests, so that all go through one loader, with its cache, its
/// limits and its retries.
///
/// Another kind of server is a folder beside this file with a type that conforms, and its entry in `SourceKinds.kinds`.
/// A folder of films is no source: `FilmFolder` needs no requests.
package protocol FilmSource: Sendable {
    /// A name of this kind, as the help and messages show it.
    static var example: String { get }

    /// The source that a name means, such as `tmdb:popular`; nil if the name is of another kind.
    /// - Throws: what is wrong with a name of this kind.
    init?(name: String) throws(FilmSourceError)

    /// Its name for people. It has no credential.
    var name: String { get }

    /// Whose marks are at the server: the source's name, and the user's if it is named.
    var account: String { get }

    /// The server, which alone gets the user's credential for it.
    var server: URL { get }

    /// Whether the films are too many to read all: then pages are read as they are wanted.
    var isEndless: Bool { get }

    /// What must stand beside its films; nil for nothing.
    var attribution: String? { get }

    /// Adds the user's credential to a request for `server`. Nothing else ever sees the credential.
    func authorize(_ url: inout URL, _ fields: inout HeaderFields, with token: String)

    /// Reads the films, page by page. An error of `take` ends it.
    /// - Parameters:
    ///   - first: how many pages to leave out. Only an endless source leaves out any.
    ///   - take: called with each page before the next one is requested.
    func readPages(
        after first: Int, _ answers: any SourceAnswers, _ take: (SourcePage) async throws -> Void
    ) async throws

    /// A film with what only its own page has; nil if its list has everything.
    func complete(_ film: Movie, _ answers: any SourceAnswers) async throws -> Movie?

    /// Checks the server and the credential.
    /// - Returns: what answers, in one line, such as `Jellyfin 10.10.3`.
    /// - Throws: `FilmSourceError.refused` for a credential that the server does not take.
    func check(_ answers: any SourceAnswers) async throws -> String

    /// The source of the films that have these words; nil where the server has no search, or all films are read anyway.
    func searching(_ words: String) -> (any FilmSource)?

    /// The request that sets a mark of a film at the server, or removes it; nil where the server has no such mark.
    /// - Parameter film: its id.
    func request(toSet mark: FilmMark, _ isSet: Bool, of film: String) -> (method: RequestMethod, url: URL)?

    /// The address of the server's smallest picture that is at least `width` pixels wide, or of its largest; nil if the
    /// picture is not of such a server.
    static func poster(_ address: URL, atLeast width: Int) -> URL?

    /// Whether a picture never changes under its address, whatever the answer says.
    static func isImmutable(_ poster: URL) -> Bool
}

extension FilmSource {
    /// The address of something on the server.
    func url(_ path: String, _ items: [URLQueryItem] = []) -> URL {
        var parts = URLComponents(url: server, resolvingAgainstBaseURL: true)
        parts?.path += path
        if !items.isEmpty { parts?.queryItems = items }
        return parts?.url ?? server
    }

    package var account: String { name }
    package var attribution: String? { nil }
    package var isEndless: Bool { false }
    package func complete(_ film: Movie, _ answers: any SourceAnswers) async throws -> Movie? { nil }
    package func searching(_ words: String) -> (any FilmSource)? { nil }
    package func request(
        toSet mark: FilmMark, _ isSet: Bool, of film: String
    ) -> (method: RequestMethod, url: URL)? { nil }
    package static func isImmutable(_ poster: URL) -> Bool { false }
}

/// Sends the requests of a source.
package protocol SourceAnswers: Sendable {
    /// The answer to a GET, with status 200.
    /// - Throws: `FilmSourceError` for 401, 403 and 404; the loader's error otherwise.
    func answer(to url: URL) async throws -> SourceAnswer
}

/// The body of an answer.
package struct SourceAnswer: Sendable {
    package let bytes: [UInt8]
    /// When the server last confirmed it, in seconds since 1970; nil if that is unknown.
    package let confirmed: Int?

    package init(_ bytes: [UInt8], confirmed: Int? = nil) {
        (self.bytes, self.confirmed) = (bytes, confirmed)
    }
}

/// A page of films.
package struct SourcePage: Sendable {
    /// The films, and of each the ids that other libraries know it by.
    package var films: [SourceFilm] = []
    /// Why entries are left out.
    package var problems: [CatalogueError] = []
    /// When the server last confirmed the page, in seconds since 1970; nil if that is unknown.
    package var confirmed: Int?
    package var isLast = false

    /// The page as a catalogue.
    package func catalogue(name: String?) -> Catalogue {
        Catalogue(name: name, movies: films.map(\.movie), problems: problems)
    }
}

extension SourcePage {
    /// Reads the entries of a page in JSON, each an object.
    /// - Parameters:
    ///   - position: how many entries came before the page.
    ///   - film: makes a film of an entry and its position, from 1.
    init(
        _ entries: [JSONNode], after position: Int,
        _ film: (JSONNode, Int) throws(CatalogueError) -> SourceFilm
    ) {
        var ids: Set<String> = []
        for (index, entry) in entries.enumerated() {
            let position = position + index + 1
            do throws(CatalogueError) {
                guard entry.kind == .object else {
                    throw .wrongShape(expected: "an object for film \(position)", line: nil)
                }
                let film = try film(entry, position)
                if ids.insert(film.movie.id).inserted { films.append(film) }
            } catch {
                problems.append(error)
            }
        }
    }
}

/// A film of a source.
package struct SourceFilm: Sendable {
    package let movie: Movie
    /// Its ids in databases of films, by their names: `["imdb": "tt0013442"]`.
    package let ids: [String: String]
    /// The marks that the server has for the user; none where the server does not say whose they are.
    package private(set) var marks = FilmMarks()

    /// A film from values that another program wrote. An original title that is the title is left out.
    /// - Parameters:
    ///   - values: the members' values.
    ///   - marks: the marks that the server has. Default: none.
    ///   - position: the film's position in its list, from 1, for errors.
    init(
        _ values: MovieFields.Values, ids: [String: String] = [:], marks: FilmMarks = FilmMarks(),
        position: Int
    ) throws(CatalogueError) {
        var values = values
        if values[.originalTitle] == values[.title] { values[.originalTitle] = nil }
        movie = try values.movie(position: position)
        (self.ids, self.marks) = (ids, marks)
    }

    package init(_ movie: Movie, ids: [String: String]) { (self.movie, self.ids) = (movie, ids) }

    /// All members with their values, and the ids as the member `ids`.
    package var document: FilmDocument {
        var document = FilmDocument()
        for member in FilmMember.allCases {
            switch movie[member] {
            case .text(let text): document[member.name] = JSONText(text)
            case .whole(let number): document[member.name] = JSONText(number)
            case .number(let number): document[member.name] = JSONText(number)
            case .texts(let texts) where !texts.isEmpty:
                document[member.name] = JSONText(elements: texts.map { JSONText($0) })
            case .texts, nil: break
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

/// Why a source does not work, in one line that says what to do.
package enum FilmSourceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the source is malformed.
    case invalidName(String)
    /// The server refuses the credential, or wants one.
    case refused(server: String, hasCredential: Bool, advice: String)
    /// The server has no such list.
    case missing(url: String)

    package var description: String {
        switch self {
        case .invalidName(let text): text
        case .refused(let server, let hasCredential, let advice):
            "\(server) \(hasCredential ? "refuses the credential" : "wants a credential"); \(advice)"
        case .missing(let url): "\(url): the server has no such list; check the address"
        }
    }
}

/// The kinds of sources.
package enum SourceKinds {
    private static let kinds: [any FilmSource.Type] = [JellyfinSource.self, TMDBSource.self]

    /// A name of each kind.
    package static let examples = kinds.map { $0.example }

    /// The source that a name means; nil if the name is of no kind.
    package static func source(named name: String) throws(FilmSourceError) -> (any FilmSource)? {
        for kind in kinds { if let source = try kind.init(name: name) { return source } }
        // `plex+https://nas:32400`
        let kind = name.prefix { $0.isASCII && $0.isLetter }
        guard !kind.isEmpty, ["+http://", "+https://"].contains(where: name.dropFirst(kind.count).hasPrefix)
        else { return nil }
        throw .invalidName(
            "films of \(kind) cannot be read; there are \(examples.joined(separator: " and "))")
    }

    /// Whether a word is the name of a source, perhaps a wrong one.
    package static func areNamed(by word: String) -> Bool {
        do throws(FilmSourceError) {
            return try source(named: word) != nil
        } catch {
            return true
        }
    }

    /// The address of a poster at a size: that of the server's own picture of at least `width` pixels, where the server
    /// has several; otherwise as it is.
    package static func poster(_ address: URL, atLeast width: Int) -> URL {
        for kind in kinds { if let sized = kind.poster(address, atLeast: width) { return sized } }
        return address
    }

    /// Whether a poster never changes under its address, whatever the answer says.
    package static func isImmutable(_ poster: URL) -> Bool { kinds.contains { $0.isImmutable(poster) } }

    /// The widths of posters that are requested, in pixels. Few, so that few files are cached.
    static let widths = [92, 154, 185, 342, 500, 780]

    /// The smallest of the widths that is enough, or the largest.
    static func width(atLeast width: Int) -> Int { widths.first { $0 >= width } ?? widths[widths.count - 1] }
}
