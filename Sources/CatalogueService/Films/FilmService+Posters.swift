import FilmLibrary
import HTTPSemantics
import HTTPServer

extension FilmService {
    /// The stored poster, byte for byte, or a redirect to a poster elsewhere.
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
            // Checked before the bytes are read: most clients have the poster already.
            if let answer = conditionalAnswer(call, "\"\(tag)\"") { return answer }
            guard let poster = try library.poster(of: id) else { throw Self.noPoster(id) }
            return picture(poster, call)
        }
    }

    /// Stores a picture as the film's poster.
    func putPoster(of id: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        guard try library.film(id) != nil else { throw FilmRefusal.notFound(id) }
        let uploaded = try FilmPosterUpload.checked(
            body, decoding, keepsMetadata: configuration.keepsMetadata)
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

    /// Removes the poster, even one that is elsewhere.
    func removePoster(of id: String, _ call: FilmCall) throws -> HTTPResponse {
        let film = try library.removePoster(of: id) { existing in
            guard existing.poster != .none else { throw Self.noPoster(id) }
            try checkConditions(call, Self.tag(existing))
        }
        guard film != nil else { throw FilmRefusal.notFound(id) }
        return HTTPResponse(status: .noContent)
    }

    static func noPoster(_ id: String) -> FilmRefusal {
        FilmRefusal(.notFound, "the film \"\(id)\" has no stored poster")
    }

    private static func tag(_ film: StoredFilm) -> String? {
        if case .stored(_, _, let tag) = film.poster { "\"\(tag)\"" } else { nil }
    }

    private func checkConditions(_ call: FilmCall, _ tag: String?) throws(FilmRefusal) {
        let conditions = Preconditions(call.fields, isRead: false, entityTag: tag)
        if conditions.outcome != .proceed { throw .failedCondition(call.fields, isThere: tag != nil) }
    }

    /// The answer if the client has the picture already, or a condition fails.
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
        // The picture came from a client: browsers must not run a script hidden in it.
        response.fields["Content-Security-Policy"] = "default-src 'none'; sandbox"
        response.fields["Content-Type"] = poster.mediaType
        return response.part(for: call.head, conditions) {
            FilmRefusal(.rangeNotSatisfiable, "the poster has \(poster.bytes.count) bytes")
                .response(to: call.head)
        }
    }

    /// The address of a poster that is not in the library: on the web, or beside the catalogue. Nil for other schemes:
    /// the service must not send browsers there.
    private static func location(_ address: String, of id: String, _ toRoot: String) -> String? {
        // A header must not have spaces, line ends or characters outside ASCII.
        let visible = PercentEncoding.visible(address)
        if WebOrigin(address) != nil { return visible }
        let isHere = visible == "films/\(PercentEncoding.encoded(id))/poster"
        return FilmRendering.isRelative(address) && !isHere ? toRoot + visible : nil
    }
}
