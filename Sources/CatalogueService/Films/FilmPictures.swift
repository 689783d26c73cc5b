import FilmLibrary
import HTTPSemantics
import HTTPServer
import ImageCodecs
package import PictureServer
import PictureService
import SystemSupport

/// Pictures of films' posters.
package struct FilmPictures: Sendable {
    let service: PictureServer
    /// The picture at an address beside the catalogue; nil if there is none.
    let local: @Sendable (String) -> StoredOriginal?

    package init(
        _ service: PictureServer, local: @escaping @Sendable (String) -> StoredOriginal? = { _ in nil }
    ) {
        self.service = service
        self.local = local
    }
}

extension FilmService {
    /// Answers a request for a film's poster at a size, without waiting for the picture.
    func admitPicture(_ recipe: String, of id: String, _ call: FilmCall) throws -> Admission {
        guard let pictures else {
            throw FilmRefusal(.notFound, "posters are served in their original size only")
        }
        // Read before the film, as for all kept answers.
        let (state, key) = (try library.state, answerKey(call.head, call.access))
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let original = original(of: film, pictures) else { throw Self.noPoster(id) }
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
    func admitFetchedPoster(of id: String, _ call: FilmCall) throws -> Admission? {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let pictures, case .address(let source, _)? = original(of: film, pictures),
            pictures.service.rules.offersOriginal(of: source)
        else { return nil }
        return pictures.service.admit(
            call.head, PictureRecipe.original, of: .address(source, isSigned: false), from: call.peer)
    }

    private func original(of film: StoredFilm, _ pictures: FilmPictures) -> PictureOriginal? {
        let id = film.id
        switch film.poster {
        case .none: return nil
        case .stored(_, _, let tag):
            let library = library
            return .stored(
                StoredOriginal(name: "films/\(id)", tag: tag, cacheControl: "no-cache") {
                    guard let poster = try library.poster(of: id), poster.tag == tag else {
                        throw FilmRefusal.notFound(id)
                    }
                    return poster.bytes
                })
        case .address(let address):
            if WebOrigin(address) != nil {
                // Ignored: from an unusable address no picture is made.
                return (try? PictureSource(PercentEncoding.visible(address))).map {
                    .address($0, isSigned: false)
                }
            }
            return pictures.local(address).map { .stored($0) }
        }
    }
}

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

/// A picture uploaded as a film's poster: JPEG, PNG, WebP, GIF or BMP according to its bytes, decoded completely before
/// it is stored, and stored without the metadata of cameras and editors.
enum FilmPosterUpload {
    static let maximumBytes = 32 << 20
    /// The most pixels. They take 200 MB decoded, and up to three times that while they are checked.
    private static let maximumPixels = 50_000_000
    static let mediaTypes = ImageDecoders.standard.mediaTypes.joined(separator: ", ")

    /// Throws if the Content-Type is not of a picture. The format follows from the bytes.
    static func checkType(_ fields: HeaderFields) throws(FilmRefusal) {
        try FilmContent.checkCoding(fields)
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

    /// The picture to store.
    /// - Throws: 422 with the reason if it cannot be decoded.
    /// - Parameters:
    ///   - turn: the lock held while decoding, so that one picture is decoded at a time.
    ///   - keepsMetadata: whether the bytes are stored as they came.
    static func checked(
        _ bytes: [UInt8], _ turn: borrowing Lock<Void>, keepsMetadata: Bool
    ) throws(FilmRefusal) -> PosterBytes {
        guard bytes.count <= maximumBytes else {
            throw FilmRefusal(.contentTooLarge, "a poster has at most \(maximumBytes) bytes")
        }
        do throws(ImageDecodingError) {
            guard let format = ImageDecoders.standard.format(of: bytes) else { throw .unrecognized }
            let limits = DecodingLimits(inputBytes: maximumBytes, pixels: maximumPixels)
            let bitmap = try turn.withLock { _ throws(ImageDecodingError) in
                try ImageDecoders.standard.decode(bytes, limits: limits)
            }
            guard bitmap.isComplete else { throw .truncated(offset: bytes.count) }
            return PosterBytes(
                mediaType: format.mediaType, bytes: keepsMetadata ? bytes : try ImageMetadata.strip(bytes))
        } catch {
            throw .invalid("poster", "cannot be used: \(error)")
        }
    }
}
