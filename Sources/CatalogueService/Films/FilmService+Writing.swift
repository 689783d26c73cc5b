import FilmLibrary
import HTTPSemantics
import HTTPServer
import MovieCatalogue

extension FilmService {
    /// Adds a film. The library chooses a missing id.
    func create(_ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        let film = try add(try IncomingFilm(body, try FilmContent(call), isChange: false), call)
        var response = response(film, call, status: .created)
        // Relative, so that it is right behind a proxy too (RFC 9110 section 10.2.2).
        response.fields.append(
            .init(name: "Location", value: call.target.toRoot + "films/" + PercentEncoding.encoded(film.id)))
        return response
    }

    func add(_ incoming: IncomingFilm, _ call: FilmCall) throws -> StoredFilm {
        var incoming = incoming
        let id = try incoming.takeID()
        if let id {
            try checkID(id)
            incoming.readPoster(of: id, call)
        }
        try check(incoming.document)
        let poster = try upload(incoming)
        return try inserted(incoming.document, id, poster, call)
    }

    private func inserted(
        _ document: FilmDocument, _ id: String?, _ poster: PosterBytes?, _ call: FilmCall
    ) throws -> StoredFilm {
        do {
            return try library.insert(document, id: id, poster: poster)
        } catch {
            guard case .idTaken(let id)? = error as? FilmLibraryError else { throw error }
            let path = call.target.toRoot + "films/" + PercentEncoding.encoded(id)
            throw FilmRefusal(
                .conflict, "the film \"\(id)\" exists already, at \(path)",
                members: [("id", .text(id)), ("path", .text(path))])
        }
    }

    /// Replaces a film, or adds it under this id.
    func replace(_ id: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        try checkID(id)
        let incoming = try incoming(body, of: id, call, isChange: false)
        try check(incoming.document)
        let poster =
            try upload(incoming).map(PosterChange.store) ?? (incoming.keepsPoster ? .keep : .asDocument)
        let (film, isNew) = try library.replace(id, with: incoming.document, poster: poster) { existing in
            try call.checkConditions(existing?.revision)
        }
        return response(film, call, status: isNew ? .created : .ok)
    }

    /// Merges members into a film (RFC 7396), in one transaction with the checks of the conditions.
    func change(_ id: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        let incoming = try incoming(body, of: id, call, isChange: true)
        return response(try change(id, incoming) { try call.checkConditions($0.revision) }, call)
    }

    /// - Parameter condition: throws if the film must not be changed.
    func change(
        _ id: String, _ incoming: IncomingFilm, condition: (StoredFilm) throws -> Void
    ) throws -> StoredFilm {
        let isRemoved = incoming.document["poster"]?.isNull == true
        let poster = try upload(incoming).map(PosterChange.store) ?? (isRemoved ? .asDocument : .keep)
        let patch = JSONText(members: incoming.document.members)
        let film = try library.update(id, poster: poster) { existing in
            try condition(existing)
            var document = existing.document
            try document.merge(patch)
            try check(document)
            return document
        }
        guard let film else { throw FilmRefusal.notFound(id) }
        return film
    }

    func remove(_ id: String, _ call: FilmCall) throws -> HTTPResponse {
        let isRemoved = try library.remove(id) { film in try call.checkConditions(film.revision) }
        guard isRemoved else { throw FilmRefusal.notFound(id) }
        return HTTPResponse(status: .noContent)
    }

    private func incoming(
        _ body: [UInt8], of id: String, _ call: FilmCall, isChange: Bool
    ) throws(FilmRefusal) -> IncomingFilm {
        var incoming = try IncomingFilm(body, try FilmContent(call), isChange: isChange)
        if let given = try incoming.takeID(), given != id {
            throw .invalid("id", "must be \"\(id)\" as in the path; an id never changes")
        }
        incoming.readPoster(of: id, call)
        return incoming
    }

    private func upload(_ incoming: IncomingFilm) throws(FilmRefusal) -> PosterBytes? {
        guard let bytes = incoming.upload else { return nil }
        return try FilmPosterUpload.checked(
            bytes, decoding, keepsMetadata: configuration.keepsMetadata)
    }

    private func checkID(_ id: String) throws(FilmRefusal) {
        if let fault = FilmID.fault(id) { throw .invalid("id", "must be \(fault)") }
    }

    private func check(_ document: FilmDocument) throws(FilmRefusal) {
        if let refusal = FilmRefusal(problems: document.problems) { throw refusal }
    }
}

extension FilmService {
    /// One vote, and the film's score of all votes.
    func rating(of id: String, by rater: String, _ call: FilmCall) throws -> HTTPResponse {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let value = try library.rating(of: id, by: rater) else { throw Self.noRating(id, rater) }
        return rating(value, film, call)
    }

    /// Sets a vote. Repeating it changes nothing.
    func rate(_ id: String, by rater: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        let value = try IncomingRating(body, try FilmContent(call)).value
        let isNew = try library.rating(of: id, by: rater) == nil
        guard let film = try library.rate(id, rater: rater, value: value) else {
            throw FilmRefusal.notFound(id)
        }
        return rating(value, film, call, status: isNew ? .created : .ok)
    }

    /// Removes a vote.
    func unrate(_ id: String, by rater: String, _ call: FilmCall) throws -> HTTPResponse {
        guard try library.film(id) != nil else { throw FilmRefusal.notFound(id) }
        guard try library.rating(of: id, by: rater) != nil else { throw Self.noRating(id, rater) }
        _ = try library.unrate(id, rater: rater)
        return HTTPResponse(status: .noContent)
    }

    private static func noRating(_ id: String, _ rater: String) -> FilmRefusal {
        FilmRefusal(.notFound, "\"\(rater)\" has not rated the film \"\(id)\"")
    }

    private func rating(
        _ value: Double, _ film: StoredFilm, _ call: FilmCall, status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var members = [("value", JSONText(value))]
        if let rating = film.rating { members.append(("rating", JSONText(rating))) }
        members.append(("votes", JSONText(film.votes)))
        let text =
            switch call.format {
            case .json, .html:
                JSONText(members: members.map { JSONText.Member(name: $0.0, value: $0.1) }).text + "\n"
            case .xml:
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rating>"
                    + members.map { "<\($0.0)>\($0.1.text)</\($0.0)>" }.joined() + "</rating>\n"
            }
        return call.response(Array(text.utf8), status: status)
    }
}
