/// A format whose grammar can be checked for any document.
package enum DocumentGrammar: String, Sendable {
    case json = "JSON"
    case xml = "XML"

    /// The format of a media type without parameters: `application/json`, `application/problem+json`, `text/xml`. Nil
    /// for any other type, `image/svg+xml` too: SVG often has a DOCTYPE.
    package init?(mediaType: String) {
        switch mediaType.lowercased() {
        case "application/json": self = .json
        case "application/xml", "text/xml": self = .xml
        case let type where type.hasPrefix("application/") && type.hasSuffix("+json"): self = .json
        case let type where type.hasPrefix("application/") && type.hasSuffix("+xml"): self = .xml
        default: return nil
        }
    }

    /// Throws the first grammar error: `.empty`, `.notUTF8`, `.malformedJSON`, `.malformedXML`; for XML also
    /// `.unsupportedEncoding` and `.doctypeRefused`.
    package func check(_ bytes: [UInt8]) throws(CatalogueError) {
        let mark = Document.byteOrderMark
        let start = bytes.starts(with: mark) ? mark.count : 0
        guard bytes[start...].contains(where: { !$0.isWhitespace }) else { throw .empty }
        try Document.requireUTF8(bytes)
        switch self {
        case .json:
            var grammar = JSONGrammar(bytes, in: start..<bytes.count)
            _ = try grammar.only()
        case .xml:
            // The parser would take a NUL for UTF-16, which was not checked.
            guard !bytes.contains(0) else { throw .malformedXML(reason: "it contains a NUL byte", line: 1) }
            _ = try XMLReader.read(bytes[start...], maximumElements: .max, keepsContent: false)
        }
    }
}
