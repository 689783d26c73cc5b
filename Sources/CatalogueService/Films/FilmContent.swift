import HTTPSemantics
import HTTPServer

/// The content types of requests.
enum FilmContent: Sendable, Hashable {
    case json, xml, form
    case multipart(boundary: String)

    static let mediaTypes =
        "application/json, application/xml, application/x-www-form-urlencoded, multipart/form-data"
    static let patchTypes = "application/merge-patch+json, " + mediaTypes

    /// The type of a film or a rating in a request.
    /// - Throws: 415 for other types.
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
