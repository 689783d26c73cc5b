import FilmSources
import HTTPSemantics
import HTTPServer

/// Changes over REST.
extension FilmService {
    /// Adds a film. The library chooses a missing id.
    func create(_ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        let incoming = try IncomingFilm(body, try FilmContent(call), isChange: false)
        let film = try add(incoming, toRoot: call.toRoot)
        var response = response(film, call, status: .created)
        // Relative, so that it is right behind a proxy too (RFC 9110 section 10.2.2).
        response.fields["Location"] = call.toRoot + "films/" + PercentEncoding.encoded(film.id)
        return response
    }

    /// - Parameter toRoot: the relative path from the request's folder to the root.
    func add(_ incoming: IncomingFilm, toRoot: String) throws -> StoredFilm {
        var incoming = incoming
        let id = try incoming.takeID()
        if let id { incoming.readAddresses(of: id, toRoot: toRoot) }
        return try operations.add(incoming.document, id: id, poster: incoming.upload)
    }

    /// Replaces a film, or adds it under this id.
    func replace(_ id: String, _ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        let incoming = try IncomingFilm(body, try FilmContent(call), isChange: false)
            .addressed(to: id, toRoot: call.toRoot)
        let (film, isNew) = try operations.replace(
            id, with: incoming.document, poster: incoming.upload, keepsPoster: incoming.keepsPoster,
            if: call.checkConditions(on:))
        return response(film, call, status: isNew ? .created : .ok)
    }

    /// Merges members into a film (RFC 7396), in one transaction with the checks of the conditions.
    func change(_ id: String, _ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        let incoming = try IncomingFilm(body, try FilmContent(call), isChange: true)
            .addressed(to: id, toRoot: call.toRoot)
        let film = try operations.change(
            id, incoming.document, poster: incoming.upload, if: call.checkConditions(on:))
        return response(film, call)
    }

    func remove(_ id: String, _ call: ServiceCall) throws -> HTTPResponse {
        try operations.remove(id, if: call.checkConditions(on:))
        return HTTPResponse(status: .noContent)
    }
}

extension FilmService {
    /// One vote, and the film's score of all votes.
    func rating(of id: String, by rater: String, _ call: ServiceCall) throws -> HTTPResponse {
        let (value, film) = try operations.rating(of: id, by: rater)
        return call.response(FilmRendering(call).rating(value, of: film))
    }

    /// Sets a vote. Repeating it changes nothing.
    func rate(_ id: String, by rater: String, _ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        let value = try IncomingRating(body, try FilmContent(call)).value
        let (film, isNew) = try operations.rate(id, by: rater, value)
        return call.response(
            FilmRendering(call).rating(value, of: film), status: isNew ? .created : .ok)
    }

    /// Removes a vote.
    func unrate(_ id: String, by rater: String, _ call: ServiceCall) throws -> HTTPResponse {
        try operations.unrate(id, by: rater)
        return HTTPResponse(status: .noContent)
    }
}
