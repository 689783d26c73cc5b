import HTTPSemantics
import HTTPServer
import ImageCodecs

/// How an answer's text is coded (RFC 9110 section 8.4): as it is, or by gzip if the client takes that.
enum ContentCoding: Sendable, Hashable {
    case identity, gzip

    /// From this size on text is compressed.
    private static let leastBytes = 1 << 10

    /// The coding that a client prefers (section 12.5.3). Without the field it gets the text as it is.
    static func negotiated(_ fields: HeaderFields) -> ContentCoding {
        let values = fields.values(of: "accept-encoding")
        if values.isEmpty { return .identity }
        var qualities: [Substring: Double] = [:]
        for member in FieldList.members(of: values.map { $0.lowercased() }) {
            let parts = member.split(separator: ";", maxSplits: 1)
            guard let name = parts.first.map({ FieldList.trimmed($0) }) else { continue }
            let weight = parts.count > 1 ? FieldList.trimmed(parts[1]) : "q=1"
            qualities[name] = weight.hasPrefix("q=") ? Double(weight.dropFirst(2)) ?? 0 : 0
        }
        let gzip = qualities["gzip"] ?? qualities["x-gzip"] ?? qualities["*"] ?? 0
        // Unless it is named, the text as it is comes last.
        return gzip > 0 && gzip >= qualities["identity"] ?? 0 ? .gzip : .identity
    }

    /// The entity tag of a text in this coding. Each coding has its own (section 8.8.3.3).
    func entityTag(_ tag: String) -> String {
        switch self {
        case .identity: tag
        case .gzip: tag.dropLast() + ".gzip\""
        }
    }

    /// The tag in the other codings too, for conditions of writes.
    static func entityTags(_ tag: String) -> [String] { [tag, ContentCoding.gzip.entityTag(tag)] }

    /// An answer of text in this coding. It says that the coding depends on the request.
    func applied(to response: HTTPResponse) -> HTTPResponse {
        guard case .bytes(let bytes) = response.body, response.fields["content-encoding"] == nil else {
            return response
        }
        var response = response
        let vary = response.fields["vary"].map { $0 + ", Accept-Encoding" } ?? "Accept-Encoding"
        response.fields["Vary"] = vary
        guard self == .gzip, bytes.count >= Self.leastBytes else { return response }
        response.body = .bytes(Deflate.compress(bytes.span, as: .gzip))
        response.fields["Content-Encoding"] = "gzip"
        return response
    }
}
