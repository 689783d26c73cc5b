import HTTPSemantics
import MovieCatalogue

/// A film in the fields of a form. Field names are plain or inside `film[]`. If one is inside, plain ones are ignored.
///
///     film[title]=Nosferatu&film[year]=1922&film[genres][]=Horror&film[genres][]=Silent
///     title=Nosferatu&year=1922&genres=Horror&genres=Silent
struct FilmForm {
    private(set) var fields: [FormFields.Field]
    /// A whole film in JSON or XML, in a part of its own. Fields are added to it.
    private var base: FilmDocument?
    private(set) var upload: [UInt8]?

    private static let numbers: Set<String> = ["year", "minutes", "score"]

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
        return (String(name), isList || name == "genres")
    }

    /// Form values are text. A value becomes a number if the member needs one and the text is one. Any other text stays
    /// text, and the check of the film refuses it.
    private static func value(_ text: String, of name: String) -> JSONText {
        // Losing the error is right: a text that is not a number stays text.
        guard numbers.contains(name), let number = try? JSONText(parsing: Array(text.utf8)),
            number.number != nil
        else { return JSONText(text) }
        return number
    }
}
