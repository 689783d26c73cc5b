import FilmLibrary
import HTTPSemantics
import HTTPServer
import PictureServer

extension FilmService {
    /// The stored poster, byte for byte, or a redirect to a poster elsewhere, if its host is allowed.
    func poster(of id: String, _ call: FilmCall) throws -> HTTPResponse {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        switch film.poster {
        case .none: throw Self.noPoster(id)
        case .address(let address):
            guard let location = Self.location(address, of: id, call.target.toRoot) else {
                throw Self.noPoster(id)
            }
            try checkRedirect(to: location, call)
            return HTTPResponse(status: .found, fields: ["Location": location, "Cache-Control": "no-cache"])
        case .stored:
            guard let poster = try library.poster(of: id) else { throw Self.noPoster(id) }
            return Self.picture(poster)
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

    /// Throws if an address leads to a host that the operator has not allowed: clients who may write could send other
    /// people's browsers anywhere. An address relative to the service, or at its own host, is allowed.
    private func checkRedirect(to address: String, _ call: FilmCall) throws(FilmRefusal) {
        guard let origin = WebOrigin(address) else { return }
        // The gate has accepted the host.
        let own = call.fields["host"].flatMap { HostAndPort($0) }
        if let own, WebOrigin(scheme: origin.scheme, own) == origin { return }
        // Ignored: the refusal below names the host, and that is enough to allow it.
        if let pictures, let source = try? PictureSource(address),
            (try? pictures.service.rules.check(source)) != nil
        {
            return
        }
        let host = PictureRules.Source(origin)?.text ?? origin.host
        throw FilmRefusal(
            .forbidden,
            "the poster is at \(host), where this service sends nobody; "
                + "its operator allows that with --source \(host)")
    }

    private static func tag(_ film: StoredFilm) -> String? {
        if case .stored(_, _, let tag) = film.poster { "\"\(tag)\"" } else { nil }
    }

    private func checkConditions(_ call: FilmCall, _ tag: String?) throws(FilmRefusal) {
        let conditions = Preconditions(call.fields, isRead: false, entityTag: tag)
        if conditions.outcome != .proceed { throw .failedCondition(call.fields, isThere: tag != nil) }
    }

    private static func picture(_ poster: StoredPoster) -> HTTPResponse {
        HTTPResponse(
            status: .ok,
            fields: [
                "ETag": "\"\(poster.tag)\"", "Cache-Control": "no-cache", "Accept-Ranges": "bytes",
                // The picture came from a client: browsers must not run a script hidden in it.
                "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Type": poster.mediaType,
            ], body: .bytes(poster.bytes))
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
