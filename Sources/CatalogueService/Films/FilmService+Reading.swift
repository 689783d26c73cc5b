import FilmSources
import Films
import HTTPSemantics
import HTTPServer

extension FilmService {
    /// The default and the highest number of films on a page.
    static let pageLimit = 100
    static let maximumPageLimit = 1000
    /// The most bytes of stored text on a page, 4 MiB. More films come on the next one; a page has at least one film.
    private static let pageBytes = 4 << 20

    /// How much text may be rendered for an answer.
    enum Rendering {
        /// All of a page.
        case whole
        /// A part that takes microseconds, on a thread that serves many connections. Larger answers throw `NotQuick`.
        case quick

        /// In bytes of stored text; nil for no limit. JSON is joined from stored texts; XML and pages are written anew.
        func limit(_ format: FilmFormat) -> Int? {
            switch self {
            case .whole: nil
            case .quick: format == .json ? 256 << 10 : 8 << 10
            }
        }
    }

    /// The answer is too large for a quick rendering.
    struct NotQuick: Error {}

    /// A page of the list: `/films?limit=20&sort=score&q=camion&after=CURSOR`. Unknown parameters are ignored.
    func list(_ call: ServiceCall, _ rendering: Rendering) throws -> HTTPResponse {
        // Read before the films: after a concurrent write, the tag is then too old, never too new.
        let revision = try library.revision
        let query = try Self.query(pageLimit: call.format == .html ? WallPage.films : Self.pageLimit) {
            name in
            call.target.query.values(of: name)
        }
        // A search may read every film.
        if case .quick = rendering, !query.search.isEmpty { throw NotQuick() }
        let page = try page(query, rendering.limit(call.format))
        var response =
            call.format == .html
            ? try wall(page, query, call, revision) : try response(page.films, call, revision)
        if let next = page.next {
            response.fields.append(.init(name: "Link", value: Self.link(to: next, query)))
        }
        return response
    }

    func page(_ query: FilmQuery, _ quickLimit: Int? = nil) throws -> FilmQuery.Page {
        var query = query
        query.byteLimit = Self.pageBytes
        guard let found = try operations.films(query, ifAtMost: quickLimit) else { throw NotQuick() }
        return found
    }

    /// The best films, in order. Those that do not fit on a page are in the list by score, to which a link leads.
    func top(_ count: Int, _ call: ServiceCall, _ rendering: Rendering) throws -> HTTPResponse {
        let revision = try library.revision
        var query = FilmQuery(sort: .score, limit: count)
        let page = try page(query, rendering.limit(call.format))
        var response =
            call.format == .html
            ? try wall(page, query, best: count, call, revision) : try response(page.films, call, revision)
        query.limit = min(count - page.films.count, Self.maximumPageLimit)
        if let next = page.next, query.limit > 0 {
            let address = call.toRoot + "films"
            response.fields.append(.init(name: "Link", value: Self.link(to: next, query, in: address)))
        }
        return response
    }

    /// The description of the service.
    func description(_ call: ServiceCall) -> HTTPResponse {
        let description = ServiceDescription(
            isWritable: configuration.isWritable, isPrivate: configuration.isPrivate,
            sizes: pictures?.service.rules.sizes.sorted() ?? [], toRoot: call.toRoot)
        return call.coding.applied(
            to: HTTPResponse(
                status: .ok, fields: ["Content-Type": "application/json", "Cache-Control": "no-cache"],
                body: .bytes(Array(description.text.utf8))))
    }

    /// One film.
    func film(_ id: String, _ call: ServiceCall, _ rendering: Rendering) throws -> HTTPResponse {
        if let limit = rendering.limit(.json), try library.size(of: id) ?? 0 > limit { throw NotQuick() }
        let film = try library.existingFilm(id)
        // A page also shows the library's own members.
        return call.format == .html ? try page(film, call, try library.revision) : response(film, call)
    }

    /// An answer with a film.
    func response(_ film: StoredFilm, _ call: ServiceCall, status: HTTPStatus = .ok) -> HTTPResponse {
        call.response(
            FilmRendering(call).document(film), status: status,
            fields: ["ETag": call.entityTag(film.revision)])
    }

    private func response(_ films: [StoredFilm], _ call: ServiceCall, _ revision: Int) throws -> HTTPResponse
    {
        call.response(
            FilmRendering(call).list(films, name: try library.name),
            fields: ["ETag": call.entityTag(revision)])
    }

    /// The query of named values.
    /// - Parameter pageLimit: the films of a page without `limit`.
    static func query(pageLimit: Int, _ values: (String) -> [String]) throws(FilmRefusal) -> FilmQuery {
        func value(_ name: String) throws(FilmRefusal) -> String? {
            let values = values(name)
            guard values.count <= 1 else {
                throw FilmRefusal(.badRequest, "\(name) must come once, not twice")
            }
            return values.first
        }
        var query = FilmQuery(limit: pageLimit)
        if let text = try value("limit") {
            guard text.utf8.allSatisfy(\.isDigit), let limit = Int(text),
                (1...maximumPageLimit).contains(limit)
            else {
                throw FilmRefusal(.badRequest, "limit must be a number from 1 to \(maximumPageLimit)")
            }
            query.limit = limit
        }
        if let text = try value("sort") {
            guard let sort = FilmQuery.Sort(rawValue: text) else {
                let names = FilmQuery.Sort.allCases.map(\.rawValue).joined(separator: ", ")
                throw FilmRefusal(.badRequest, "sort must be one of \(names)")
            }
            query.sort = sort
        }
        query.search = try value("q") ?? ""
        if let problem = FilterWords(query.search).problem {
            throw FilmRefusal(.badRequest, "q: \(problem.member): \(problem.detail)")
        }
        if let text = try value("after"), !text.isEmpty { query.after = text }
        if let text = try value("before"), !text.isEmpty { query.before = text }
        return query
    }

    /// The address of the next page, relative to this one (RFC 8288 section 3).
    /// - Parameter list: the address of the list. Default: this page's own.
    private static func link(to next: String, _ query: FilmQuery, in list: String = "") -> String {
        var address = list + "?limit=\(query.limit)&after=\(PercentEncoding.encoded(next))"
        if query.sort != .catalogue { address += "&sort=\(query.sort.rawValue)" }
        if !query.search.isEmpty { address += "&q=\(PercentEncoding.encoded(query.search))" }
        return "<\(address)>; rel=\"next\""
    }
}
