import HTTPSemantics
import MovieCatalogue

/// A film in a request.
struct IncomingFilm: Sendable {
    /// Members by name. In a change, null means that the member is removed.
    var document: FilmDocument
    /// The poster in a form.
    var upload: [UInt8]?
    /// Whether the request names the film's stored poster. That address is then removed from the document.
    private(set) var keepsPoster = false

    /// Reads a body.
    /// - isChange: whether the members are merged into a film. An empty value in a form or in XML, which have no null,
    ///   then means null.
    init(_ body: [UInt8], _ content: FilmContent, isChange: Bool) throws(FilmRefusal) {
        switch content {
        case .json: document = try Self.json(body)
        case .xml: document = try Self.xml(body, isChange: isChange)
        case .form: document = try FilmForm(urlEncoded: body).document(isChange: isChange)
        case .multipart(let boundary):
            let form = try FilmForm(multipart: body, boundary: boundary, isChange: isChange)
            document = try form.document(isChange: isChange)
            upload = form.upload
        }
    }

    init(_ form: FilmForm, isChange: Bool) throws(FilmRefusal) {
        document = try form.document(isChange: isChange)
        upload = form.upload
    }

    /// A film object, or an object with the member `film`.
    static func json(_ bytes: [UInt8]) throws(FilmRefusal) -> FilmDocument {
        do throws(CatalogueError) {
            let document = try FilmDocument(json: try JSONText(parsing: bytes))
            guard document.members.count == 1, let film = document["film"], film.members != nil else {
                return document
            }
            return try FilmDocument(json: film)
        } catch {
            throw FilmRefusal(error)
        }
    }

    static func xml(_ bytes: [UInt8], isChange: Bool) throws(FilmRefusal) -> FilmDocument {
        do throws(CatalogueError) {
            return try FilmDocument(xmlContent: bytes, emptyIsNull: isChange)
        } catch {
            throw FilmRefusal(error)
        }
    }

    /// Removes the id from the document and returns it. A number counts as text, as in catalogues.
    mutating func takeID() throws(FilmRefusal) -> String? {
        defer { document["id"] = nil }
        guard let value = document["id"], !value.isNull else { return nil }
        if let text = value.string { return text }
        guard let number = value.number, let whole = Int(exactly: number) else {
            throw .invalid("id", "must be text")
        }
        return String(whole)
    }
}

extension IncomingFilm {
    /// Makes the poster's address relative to the root. A relative address in a request is relative to the request's
    /// path.
    mutating func readPoster(of id: String, _ call: FilmCall) {
        let rendering = FilmRendering(call)
        guard let address = document["poster"]?.string else { return }
        if upload != nil {
            document["poster"] = nil
        } else if address == rendering.storedPosterAddress(of: id) {
            document["poster"] = nil
            keepsPoster = true
        } else if address.hasPrefix(rendering.toRoot) {
            document["poster"] = JSONText(String(address.dropFirst(rendering.toRoot.count)))
        }
    }
}
