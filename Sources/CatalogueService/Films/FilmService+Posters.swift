import FilmLibrary
import HTTPSemantics
import HTTPServer

extension FilmService {
    /// A poster from the library as the same bytes that came, or the way to one that is elsewhere.
    func poster(of id: String, _ call: FilmCall) throws -> HTTPResponse {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        switch film.poster {
        case .none: throw Self.noPoster(id)
        case .address(let address):
            guard let location = Self.location(address, of: id, call.target.toRoot) else {
                throw Self.noPoster(id)
            }
            return HTTPResponse(status: .found, fields: ["Location": location, "Cache-Control": "no-cache"])
        case .stored(_, _, let tag):
            // Before the bytes are read: most of those who ask have them.
            if let answer = conditionalAnswer(call, "\"\(tag)\"") { return answer }
            guard let poster = try library.poster(of: id) else { throw Self.noPoster(id) }
            return picture(poster, call)
        }
    }

    /// Stores a picture in the place of the poster that there was.
    func putPoster(of id: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        guard try library.film(id) != nil else { throw FilmRefusal.notFound(id) }
        let uploaded = try FilmPosterUpload.checked(body, decoding)
        var isNew = true
        let film = try library.setPoster(uploaded, of: id) { existing in
            isNew = Self.tag(existing) == nil
            try checkConditions(call, Self.tag(existing))
        }
        guard let film else { throw FilmRefusal.notFound(id) }
        var response = HTTPResponse(status: isNew ? .created : .noContent)
        if let tag = Self.tag(film) { response.fields["ETag"] = tag }
        return response
    }

    /// Removes the poster, also one that is elsewhere.
    func removePoster(of id: String, _ call: FilmCall) throws -> HTTPResponse {
        let film = try library.removePoster(of: id) { existing in
            guard existing.poster != .none else { throw Self.noPoster(id) }
            try checkConditions(call, Self.tag(existing))
        }
        guard film != nil else { throw FilmRefusal.notFound(id) }
        return HTTPResponse(status: .noContent)
    }

    static func noPoster(_ id: String) -> FilmRefusal {
        FilmRefusal(.notFound, "the film \"\(id)\" has no poster here")
    }

    private static func tag(_ film: StoredFilm) -> String? {
        if case .stored(_, _, let tag) = film.poster { "\"\(tag)\"" } else { nil }
    }

    private func checkConditions(_ call: FilmCall, _ tag: String?) throws(FilmRefusal) {
        let conditions = Preconditions(call.fields, isRead: false, entityTag: tag)
        if conditions.outcome != .proceed { throw .failedCondition(call.fields, isThere: tag != nil) }
    }

    /// The answer where the client has the picture already, or wants another.
    private func conditionalAnswer(_ call: FilmCall, _ tag: String) -> HTTPResponse? {
        switch Preconditions(call.fields, isRead: true, entityTag: tag).outcome {
        case .proceed: nil
        case .failed: FilmRefusal.failedCondition(call.fields, isThere: true).response(to: call.head)
        case .notModified:
            HTTPResponse(status: .notModified, fields: ["ETag": tag, "Cache-Control": "no-cache"])
        }
    }

    private func picture(_ poster: StoredPoster, _ call: FilmCall) -> HTTPResponse {
        let tag = "\"\(poster.tag)\""
        let conditions = Preconditions(call.fields, isRead: true, entityTag: tag)
        var response = HTTPResponse(
            status: .ok, fields: ["ETag": tag, "Cache-Control": "no-cache"], body: .bytes(poster.bytes))
        // It came from someone: no browser runs what may be hidden in it.
        response.fields["Content-Security-Policy"] = "default-src 'none'; sandbox"
        response.fields["Content-Type"] = poster.mediaType
        return response.part(for: call.head, conditions) {
            FilmRefusal(.rangeNotSatisfiable, "the poster has \(poster.bytes.count) bytes")
                .response(to: call.head)
        }
    }

    /// Where a poster is that is not in the library: at an address of the web, or beside the catalogue. Nil for other
    /// schemes: this service must not send browsers there.
    private static func location(_ address: String, of id: String, _ toRoot: String) -> String? {
        // Spaces, line ends and what is not ASCII have no place in a header.
        let visible = PercentEncoding.visible(address)
        if WebOrigin(address) != nil { return visible }
        let isHere = visible == "films/\(PercentEncoding.encoded(id))/poster"
        return FilmRendering.isRelative(address) && !isHere ? toRoot + visible : nil
    }
}
