import FilmLibrary
import HTTPSemantics
import HTTPServer

extension FilmService {
    /// The default and the highest number of films on a page.
    static let pageLimit = 100
    private static let maximumPageLimit = 1000

    /// A page of the list: `/films?limit=20&sort=score&q=camion&after=CURSOR`. Unknown parameters are ignored.
    func list(_ call: FilmCall) throws -> HTTPResponse {
        // Read before the films: after a concurrent write, the tag is then too old, never too new.
        let revision = try library.revision
        if try call.checkConditions(revision) { return notModified(call, revision) }
        let query = try query(call)
        let page = try page(query)
        var response =
            call.format == .html
            ? try wall(page, query, call, revision) : try response(page.films, call, revision)
        if let next = page.next {
            response.fields.append(.init(name: "Link", value: Self.link(to: next, query)))
        }
        return response
    }

    private func page(_ query: FilmQuery) throws -> FilmPage {
        do throws(FilmLibraryError) {
            return try library.films(query)
        } catch {
            guard case .invalidCursor = error else { throw error }
            throw FilmRefusal(
                .badRequest, "the cursor is not from a Link of this list; begin again without it")
        }
    }

    /// The best films, in order.
    func top(_ count: Int, _ call: FilmCall) throws -> HTTPResponse {
        let revision = try library.revision
        if try call.checkConditions(revision) { return notModified(call, revision) }
        let films = try library.films(FilmQuery(sort: .score, limit: count)).films
        if call.format == .html { return try best(films, count, call, revision) }
        return try response(films, call, revision)
    }

    /// One film.
    func film(_ id: String, _ call: FilmCall) throws -> HTTPResponse {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        // A page also shows the library's own members.
        let revision = call.format == .html ? try library.revision : film.revision
        if try call.checkConditions(revision) { return notModified(call, revision) }
        return call.format == .html ? try page(film, call, revision) : response(film, call)
    }

    /// An answer with a film.
    func response(_ film: StoredFilm, _ call: FilmCall, status: HTTPStatus = .ok) -> HTTPResponse {
        call.response(
            FilmRendering(call).document(film), status: status,
            fields: ["ETag": call.entityTag(film.revision)])
    }

    private func response(_ films: [StoredFilm], _ call: FilmCall, _ revision: Int) throws -> HTTPResponse {
        call.response(
            FilmRendering(call).list(films, name: try library.name),
            fields: ["ETag": call.entityTag(revision)])
    }

    /// RFC 9110 section 15.4.5: the fields of the 200 answer that caches use.
    private func notModified(_ call: FilmCall, _ revision: Int) -> HTTPResponse {
        HTTPResponse(
            status: .notModified,
            fields: ["ETag": call.entityTag(revision), "Vary": "Accept", "Cache-Control": "no-cache"])
    }

    private func query(_ call: FilmCall) throws(FilmRefusal) -> FilmQuery {
        func value(_ name: String) throws(FilmRefusal) -> String? {
            let values = call.target.query.values(of: name)
            guard values.count <= 1 else {
                throw FilmRefusal(.badRequest, "\(name) must come once, not twice")
            }
            return values.first
        }
        var query = FilmQuery(limit: call.format == .html ? WallPage.films : Self.pageLimit)
        if let text = try value("limit") {
            guard text.utf8.allSatisfy(\.isDigit), let limit = Int(text), limit > 0 else {
                throw FilmRefusal(.badRequest, "limit must be a number from 1 to \(Self.maximumPageLimit)")
            }
            query.limit = min(limit, Self.maximumPageLimit)
        }
        if let text = try value("sort") {
            guard let sort = FilmQuery.Sort(rawValue: text) else {
                let names = FilmQuery.Sort.allCases.map(\.rawValue).joined(separator: ", ")
                throw FilmRefusal(.badRequest, "sort must be one of \(names)")
            }
            query.sort = sort
        }
        query.search = try value("q") ?? ""
        if let text = try value("after"), !text.isEmpty { query.after = text }
        if let text = try value("before"), !text.isEmpty { query.before = text }
        return query
    }

    /// The address of the next page, relative to this one (RFC 8288 section 3).
    private static func link(to next: String, _ query: FilmQuery) -> String {
        var address = "?limit=\(query.limit)&after=\(PercentEncoding.encoded(next))"
        if query.sort != .catalogue { address += "&sort=\(query.sort.rawValue)" }
        if !query.search.isEmpty { address += "&q=\(PercentEncoding.encoded(query.search))" }
        return "<\(address)>; rel=\"next\""
    }
}
