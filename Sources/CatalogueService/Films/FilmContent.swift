import FilmLibrary
import HTTPSemantics
import HTTPServer
import MovieCatalogue

/// The kinds of content that requests bring.
enum FilmContent: Sendable, Hashable {
    case json, xml, form
    case multipart(boundary: String)

    static let mediaTypes =
        "application/json, application/xml, application/x-www-form-urlencoded, multipart/form-data"
    static let patchTypes = "application/merge-patch+json, " + mediaTypes

    /// The kind of a film or a rating in a request; throws 415 for others.
    init(_ call: FilmCall) throws(FilmRefusal) {
        let refusal = FilmRefusal(
            .unsupportedMediaType,
            "send one of \(call.method == "PATCH" ? Self.patchTypes : Self.mediaTypes)",
            fields: Self.accepted(call.method))
        let values = call.fields.values(of: "content-type")
        guard values.count == 1, let type = ContentType(values[0]), type.isUTF8 else { throw refusal }
        try Self.checkCoding(call.fields)
        switch type.mediaType {
        case "application/json": self = .json
        case "application/merge-patch+json" where call.method == "PATCH": self = .json
        case "application/xml", "text/xml": self = .xml
        case "application/x-www-form-urlencoded": self = .form
        case "multipart/form-data":
            guard let boundary = type.parameters["boundary"] else {
                throw FilmRefusal(.badRequest, "the Content-Type of a form names no boundary")
            }
            self = .multipart(boundary: boundary)
        default: throw refusal
        }
    }

    /// Throws for a body that is compressed (RFC 9110 section 15.5.16).
    static func checkCoding(_ fields: HTTPFields) throws(FilmRefusal) {
        let codings = FieldList.members(of: fields.values(of: "content-encoding")).map { $0.lowercased() }
        guard codings.allSatisfy({ $0 == "identity" }) else {
            throw FilmRefusal(
                .unsupportedMediaType, "send the body without Content-Encoding",
                fields: ["Accept-Encoding": "identity"])
        }
    }

    /// The field that tells what a method takes: Accept-Post (W3C LDP 7.1), Accept-Patch (RFC 5789 section 3.1), or Accept (RFC
    /// 9110 section 12.5.1).
    static func accepted(_ method: String) -> HTTPFields {
        switch method {
        case "POST": ["Accept-Post": mediaTypes]
        case "PATCH": ["Accept-Patch": patchTypes]
        default: ["Accept": mediaTypes]
        }
    }
}

/// A film as a request brings it.
struct IncomingFilm: Sendable {
    /// Members by name. In a change, null stands for one that is to go.
    var document: FilmDocument
    /// The poster that came with a form.
    var upload: [UInt8]?
    /// Whether the film has the address of the poster that the library stores for it. The document has it no more then.
    private(set) var keepsPoster = false

    /// Reads a body.
    /// - Parameter isChange: whether the members are merged into a film. Then an empty value in a form or in XML, which have
    ///   no null, stands for null.
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
        // Only the library sets these. A film that was got from here has them.
        for member in FilmLibrary.ownMembers where member != "id" { document[member] = nil }
    }

    /// An object, alone or as the member `film` of one.
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

    /// Takes the id out of the document. A number counts as its digits, as in catalogues.
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
    /// Reads the address of the poster: a relative one is relative to the request, and is kept relative to the root.
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

extension FilmRefusal {
    /// What is wrong with a body: 400 where it breaks its format's grammar, 422 where it is no film.
    init(_ error: CatalogueError) {
        switch error {
        case .malformedJSON(_, let line, let column):
            var members: [(name: String, value: ProblemDetails.Value)] = []
            if let line { members.append(("line", .number(line))) }
            if let column { members.append(("column", .number(column))) }
            self.init(.badRequest, error.description, members: members)
        case .malformedXML(_, let line), .doctypeRefused(let line), .unsupportedEncoding(_, let line):
            self.init(.badRequest, error.description, members: [("line", .number(line))])
        case .empty: self.init(.badRequest, "the body is empty")
        case .unrecognised: self.init(.badRequest, "the body has a NUL in it, which no text has")
        case .notUTF8: self.init(.badRequest, error.description)
        case .tooLarge: self.init(.contentTooLarge, error.description)
        case .missingField, .wrongType, .wrongShape, .duplicateIdentifier:
            self.init(.unprocessableContent, error.description)
        }
    }

    /// 422 with all that is wrong with a film; nil where nothing is.
    init?(problems: [FieldProblem]) {
        guard let first = problems.first else { return nil }
        let more = problems.count == 1 ? "" : ", and \(problems.count - 1) more"
        self = .invalid(first.member, first.detail + more)
        problem.errors = problems.map { FilmRefusal.invalid($0.member, $0.detail).problem.errors }.flatMap {
            $0
        }
    }
}
