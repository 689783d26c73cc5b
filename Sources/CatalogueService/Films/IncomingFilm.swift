import Films
import HTTPSemantics
import HTTPServer

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
        case .json: self.init(try Self.json(body))
        case .xml: self.init(try Self.xml(body, isChange: isChange))
        case .form: try self.init(FilmForm(urlEncoded: body), isChange: isChange)
        case .multipart(let boundary):
            try self.init(
                FilmForm(multipart: body, boundary: boundary, isChange: isChange), isChange: isChange)
        }
    }

    /// A film that is read already.
    init(_ document: FilmDocument) { self.document = document }

    init(_ form: FilmForm, isChange: Bool) throws(FilmRefusal) {
        document = try form.document(isChange: isChange)
        upload = form.upload
    }

    /// A film object, or an object with the member `film`.
    static func json(_ bytes: [UInt8]) throws(FilmRefusal) -> FilmDocument {
        try FilmRefusal.reading { () throws(CatalogueError) in
            let document = try FilmDocument(json: try JSONText(parsing: bytes))
            guard document.members.count == 1, let film = document["film"], film.members != nil else {
                return document
            }
            return try FilmDocument(json: film)
        }
    }

    static func xml(_ bytes: [UInt8], isChange: Bool) throws(FilmRefusal) -> FilmDocument {
        try FilmRefusal.reading { () throws(CatalogueError) in
            try FilmDocument(xmlContent: bytes, emptyIsNull: isChange)
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
    /// Makes the poster's and other addresses relative to the root. A relative address in a request is relative to the
    /// request's path.
    mutating func readAddresses(of id: String, toRoot: String) {
        let rendering = FilmRendering(toRoot: toRoot)
        for name in FilmRendering.otherAddresses where !toRoot.isEmpty {
            guard let address = document[name]?.string, address.hasPrefix(toRoot) else { continue }
            document[name] = JSONText(String(address.dropFirst(toRoot.count)))
        }
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

    /// The same for a film whose id the request names: an id in the document must be equal.
    func addressed(to id: String, toRoot: String) throws(FilmRefusal) -> IncomingFilm {
        var incoming = self
        if let given = try incoming.takeID(), given != id {
            throw .invalid("id", "must be \"\(id)\" as in the path; an id never changes")
        }
        incoming.readAddresses(of: id, toRoot: toRoot)
        return incoming
    }
}

/// The content types of requests.
enum FilmContent: Sendable, Hashable {
    case json, xml, form
    case multipart(boundary: String)

    static let mediaTypes =
        "application/json, application/xml, application/x-www-form-urlencoded, multipart/form-data"
    private static let patchTypes = "application/merge-patch+json, " + mediaTypes

    /// The type of a film or a rating in a request.
    /// - Throws: 415 for other types.
    init(_ call: ServiceCall) throws(FilmRefusal) {
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
                throw FilmRefusal(.badRequest, "the form's Content-Type has no boundary")
            }
            self = .multipart(boundary: boundary)
        default: throw refusal
        }
    }

    /// Throws 415 if the body is compressed (RFC 9110 section 15.5.16).
    static func checkCoding(_ fields: HeaderFields) throws(FilmRefusal) {
        let codings = FieldList.members(of: fields.values(of: "content-encoding")).map { $0.lowercased() }
        guard codings.allSatisfy({ $0 == "identity" }) else {
            throw FilmRefusal(
                .unsupportedMediaType, "send the body without Content-Encoding",
                fields: ["Accept-Encoding": "identity"])
        }
    }

    /// The field that lists the accepted types of a method: Accept-Post (W3C LDP 7.1), Accept-Patch (RFC 5789 section
    /// 3.1), or Accept (RFC 9110 section 12.5.1).
    static func accepted(_ method: String) -> HeaderFields {
        switch method {
        case "POST": ["Accept-Post": mediaTypes]
        case "PATCH": ["Accept-Patch": patchTypes]
        default: ["Accept": mediaTypes]
        }
    }
}

/// A vote in a request:
///
///     {"value": 8.5}        <rating><value>8.5</value></rating>        value=8.5
struct IncomingRating: Sendable {
    /// 0 to 10.
    let value: Double

    init(_ body: [UInt8], _ content: FilmContent) throws(FilmRefusal) {
        let given: JSONText?
        switch content {
        case .json:
            let json = try FilmRefusal.reading { () throws(CatalogueError) in try JSONText(parsing: body) }
            let document = json.members == nil ? FilmDocument() : try IncomingFilm.json(body)
            given = document["value"] ?? document["rating"]?.members?.first { $0.name == "value" }?.value
        case .xml:
            given = try FilmRefusal.reading { () throws(CatalogueError) in
                try FilmDocument(xmlContent: body, root: "rating")["value"]
            }
        case .form, .multipart:
            let values = try FilmForm.fields(body).filter { $0.name == "value" }
            guard values.count <= 1 else { throw .invalid("value", "must come once, not twice") }
            given = values.first.map { JSONText($0.value) }
        }
        guard let given else { throw .invalid("value", "is missing; send a number from 0 to 10") }
        // Values in XML and forms are text.
        let number = given.number ?? (content == .json ? nil : given.string.flatMap { Double($0) })
        guard let number, Movie.scores.contains(number) else {
            throw .invalid("value", "must be a number from 0 to 10")
        }
        value = number
    }
}

/// A film in the fields of a form. Field names are plain or inside `film[]`. If one is inside, plain ones are ignored.
///
///     film[title]=Nosferatu&film[year]=1922&film[genres][]=Horror&film[genres][]=Silent
///     title=Nosferatu&year=1922&genres=Horror&genres=Silent
struct FilmForm {
    private(set) var fields: [FormFields.Field]
    /// A whole film in JSON or XML, in a part of its own. Fields are added to it.
    private var base: FilmDocument?
    private(set) var upload: [UInt8]?

    init(urlEncoded bytes: [UInt8]) throws(FilmRefusal) {
        // curl sends this type by default.
        if let first = bytes.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "<")
        {
            throw FilmRefusal(
                .badRequest,
                "the body is not a form; send JSON as application/json, or XML as application/xml"
            )
        }
        fields = try Self.fields(bytes)
    }

    /// The fields of a url-encoded form.
    static func fields(_ bytes: [UInt8]) throws(FilmRefusal) -> [FormFields.Field] {
        if bytes.isEmpty { throw FilmRefusal(CatalogueError.empty) }
        do throws(FormFields.Failure) {
            return try FormFields(parsing: bytes).fields
        } catch {
            switch error {
            case .badEncoding(let field):
                throw FilmRefusal(
                    .badRequest, "field \(field) of the form is not percent-encoded UTF-8",
                    members: [("field", .number(field))])
            case .tooManyFields(let limit):
                throw FilmRefusal(.contentTooLarge, "a form has at most \(limit) fields")
            }
        }
    }

    init(multipart bytes: [UInt8], boundary: String, isChange: Bool) throws(FilmRefusal) {
        let parts = try Self.parts(bytes, boundary: boundary)
        fields = []
        for part in parts {
            let isFile = part.filename != nil || part.contentType?.mediaType.hasPrefix("image/") == true
            if isFile, part.name == "poster" || part.name == "film[poster]" {
                // A browser sends an empty file if the person chose none.
                if part.body.isEmpty { continue }
                guard upload == nil else { throw .invalid("poster", "must come once, not twice") }
                upload = Array(part.body)
            } else if part.name == "film" {
                base = try Self.film(part, isChange: isChange)
            } else {
                guard let text = part.text else { throw .invalid(part.name, "must be text in UTF-8") }
                fields.append(.init(name: part.name, value: text))
            }
        }
    }

    private static func parts(_ bytes: [UInt8], boundary: String) throws(FilmRefusal) -> [MultipartForm.Part]
    {
        do throws(MultipartForm.Failure) {
            return try MultipartForm(parsing: bytes, boundary: boundary).parts
        } catch {
            switch error {
            case .badBoundary: throw FilmRefusal(.badRequest, "the boundary of the form is malformed")
            case .malformed(let reason, let offset):
                throw FilmRefusal(
                    .badRequest, "at byte \(offset): \(reason)", members: [("offset", .number(offset))])
            case .tooManyParts(let limit):
                throw FilmRefusal(.contentTooLarge, "a form has at most \(limit) parts")
            }
        }
    }

    private static func film(_ part: MultipartForm.Part, isChange: Bool) throws(FilmRefusal) -> FilmDocument {
        switch part.contentType?.mediaType {
        case "application/xml", "text/xml": try IncomingFilm.xml(Array(part.body), isChange: isChange)
        default: try IncomingFilm.json(Array(part.body))
        }
    }

    /// The film that the fields describe.
    func document(isChange: Bool) throws(FilmRefusal) -> FilmDocument {
        let isWrapped = fields.contains { $0.name.hasPrefix("film[") }
        var document = base ?? FilmDocument()
        var lists: [String: [JSONText]] = [:]
        var names: Set<String> = []
        for field in fields where !isWrapped || field.name.hasPrefix("film[") {
            guard let (name, isList) = Self.member(field.name) else {
                throw FilmRefusal(
                    .unprocessableContent, "the field \(field.name) is unknown; write film[NAME]")
            }
            let value = field.value
            if isList {
                lists[name, default: []] += value.isEmpty ? [] : [JSONText(value)]
                document[name] = JSONText(elements: lists[name] ?? [])
            } else {
                guard names.insert(name).inserted else { throw .invalid(name, "must come once, not twice") }
                document[name] = value.isEmpty ? (isChange ? .null : nil) : Self.value(value, of: name)
            }
        }
        return document
    }

    /// The member that a field names, and whether it is a list: `film[genres][]`.
    private static func member(_ field: String) -> (name: String, isList: Bool)? {
        var name = field[...]
        var isList = false
        if name.hasSuffix("[]") {
            name = name.dropLast(2)
            isList = true
        }
        if name.hasPrefix("film["), name.hasSuffix("]") { name = name.dropFirst(5).dropLast() }
        guard !name.isEmpty, !name.contains("["), !name.contains("]") else { return nil }
        return (String(name), isList || FilmMember(named: String(name))?.listElement != nil)
    }

    /// Form values are text. A value becomes a number if the member needs one and the text is one. Any other text stays
    /// text, and the check of the film refuses it.
    private static func value(_ text: String, of name: String) -> JSONText {
        // Ignored: a text that is not a number stays text.
        guard FilmMember(named: name)?.isNumber == true,
            let number = try? JSONText(parsing: Array(text.utf8)),
            number.number != nil
        else { return JSONText(text) }
        return number
    }
}
