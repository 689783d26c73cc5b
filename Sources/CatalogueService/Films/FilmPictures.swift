import FilmSources
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import ImageCodecs
import LazyImages
package import PictureServer
import PictureService

/// Pictures of films' posters.
package struct FilmPictures: Sendable {
    let service: PictureServer
    /// The picture at an address beside the catalogue; nil if there is none.
    let local: @Sendable (String) -> PictureOriginal?

    package init(
        _ service: PictureServer, local: @escaping @Sendable (String) -> PictureOriginal? = { _ in nil }
    ) {
        self.service = service
        self.local = local
    }
}

extension FilmService {
    /// Answers a request for a film's poster at a size, without waiting for the picture.
    func admitPicture(_ recipe: String, of id: String, _ call: ServiceCall) throws -> Admission {
        guard let pictures else {
            throw FilmRefusal(.notFound, "posters are served in their original size only")
        }
        // Read before the film, as for all kept answers.
        let (state, key) = (try library.state, answerKey(call.head, call.access))
        let film = try library.existingFilm(id)
        guard let original = original(of: film, pictures) else { throw FilmError.noPoster(id: id) }
        let admission = pictures.service.admit(call.head, recipe, of: original, from: call.peer)
        // The picture of a poster in the library is the same until the library changes.
        if case .stored = film.poster, case .answer(let answer) = admission, answer.status == .ok,
            // Ignored: a recipe that cannot be read has no answer of 200. One that expires is checked each time.
            (try? PictureRecipe(recipe))?.expiry == nil
        {
            let counters = pictures.service.counters
            answers.keep(
                KeptAnswer(answer) { counters.count(.memoryHit) }, as: key, state)
        }
        return admission
    }

    /// Answers a request for a poster at a web address that may be fetched; nil for all other posters.
    func admitFetchedPoster(of id: String, _ call: ServiceCall) throws -> Admission? {
        let film = try library.existingFilm(id)
        guard let pictures, let original = original(of: film, pictures), let source = original.source,
            pictures.service.rules.offersOriginal(of: source)
        else { return nil }
        return pictures.service.admit(call.head, PictureRecipe.original, of: original, from: call.peer)
    }

    private func original(of film: StoredFilm, _ pictures: FilmPictures) -> PictureOriginal? {
        var original = untitled(film, pictures)
        original?.title = Self.title(of: film)
        return original
    }

    private static func title(of film: StoredFilm) -> String { film.document["title"]?.string ?? film.id }

    private func untitled(_ film: StoredFilm, _ pictures: FilmPictures) -> PictureOriginal? {
        let id = film.id
        switch film.poster {
        case .none: return nil
        case .stored(_, _, let tag):
            let operations = operations
            return PictureOriginal(name: "films/\(id)", tag: tag, cacheControl: "no-cache") {
                let poster = try operations.poster(of: id)
                guard poster.tag == tag else { throw FilmError.noPoster(id: id) }
                return poster.bytes
            }
        case .address(let address):
            if WebOrigin(address) != nil {
                // Ignored: from an unusable address no picture is made.
                return (try? PictureSource(PercentEncoding.visible(address))).map { PictureOriginal($0) }
            }
            return pictures.local(address)
        }
    }
}

extension FilmService {
    /// The stored poster, byte for byte, or a redirect to a poster elsewhere, if its host is allowed.
    func poster(of id: String, _ call: ServiceCall) throws -> HTTPResponse {
        let film = try library.existingFilm(id)
        switch film.poster {
        case .none: throw FilmError.noPoster(id: id)
        case .address(let address):
            guard let location = Self.location(address, of: id, call.toRoot) else {
                throw FilmError.noPoster(id: id)
            }
            try checkRedirect(to: location, call)
            return HTTPResponse(status: .found, fields: ["Location": location, "Cache-Control": "no-cache"])
        case .stored: return Self.picture(try operations.poster(of: id), of: film)
        }
    }

    /// Stores a picture as the film's poster.
    func putPoster(of id: String, _ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        let (film, isNew) = try operations.setPoster(of: id, body) { existing throws(FilmError) in
            try Self.checkConditions(call, existing)
        }
        var response = HTTPResponse(status: isNew ? .created : .noContent)
        if let tag = Self.tag(film) { response.fields["ETag"] = tag }
        return response
    }

    /// Removes the poster, even one that is elsewhere.
    func removePoster(of id: String, _ call: ServiceCall) throws -> HTTPResponse {
        try operations.removePoster(of: id) { existing throws(FilmError) in
            try Self.checkConditions(call, existing)
        }
        return HTTPResponse(status: .noContent)
    }

    /// Throws if the Content-Type is not of a picture. The format follows from the bytes.
    static func checkPosterType(_ fields: HeaderFields) throws(FilmRefusal) {
        try FilmContent.checkCoding(fields)
        let mediaTypes = ImageDecoders.standard.mediaTypes.joined(separator: ", ")
        for value in fields.values(of: "content-type") {
            guard let type = ContentType(value)?.mediaType,
                type.hasPrefix("image/") || type == "application/octet-stream"
            else {
                throw FilmRefusal(
                    .unsupportedMediaType, "send a picture with one of these as Content-Type: \(mediaTypes)",
                    fields: ["Accept": mediaTypes])
            }
        }
    }

    /// Throws if an address leads to a host that the operator has not allowed: clients who may write could send other
    /// people's browsers anywhere. An address relative to the service, or at its own host, is allowed.
    private func checkRedirect(to address: String, _ call: ServiceCall) throws(FilmRefusal) {
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
        let host = FetchSource(origin)?.text ?? origin.host
        throw FilmRefusal(
            .forbidden,
            "the poster is at \(host), where this service sends nobody; "
                + "its operator allows that with --source \(host)")
    }

    private static func tag(_ film: StoredFilm) -> String? {
        if case .stored(_, _, let tag) = film.poster { "\"\(tag)\"" } else { nil }
    }

    private static func checkConditions(_ call: ServiceCall, _ film: StoredFilm) throws(FilmError) {
        try ServiceCall.checkConditions(call.fields, tags: tag(film).map { [$0] })
    }

    private static func picture(_ poster: StoredPoster, of film: StoredFilm) -> HTTPResponse {
        var response = HTTPResponse(
            status: .ok,
            fields: [
                "ETag": "\"\(poster.tag)\"", "Cache-Control": "no-cache", "Accept-Ranges": "bytes",
                // The picture came from a client: browsers must not run a script hidden in it.
                "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Type": poster.mediaType,
            ], body: .bytes(poster.bytes))
        let format = ImageDecoders.standard.format(of: poster.bytes)
        response.fields["Content-Disposition"] = ContentDisposition.inline(
            title(of: film), ending: format?.fileExtension ?? "jpg")
        // The poster has not changed since its film has. Ignored: a film of an odd library has no such time.
        let changed = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(film.updatedAt)
        response.fields["Last-Modified"] = changed.map { HTTPDate.format(Int($0.timeIntervalSince1970)) }
        return response
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
