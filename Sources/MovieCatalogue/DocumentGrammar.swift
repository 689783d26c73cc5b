/// A format whose grammar a document can be checked against, whatever it is about.
package enum DocumentGrammar: String, Sendable {
    case json = "JSON"
    case xml = "XML"

    /// The format of a media type, without its parameters: `application/json`, `application/problem+json`, `text/xml`; nil
    /// for any other type. Pictures in XML have a DOCTYPE more often than not, and are none.
    package init?(mediaType: String) {
        switch mediaType.lowercased() {
        case "application/json": self = .json
        case "application/xml", "text/xml": self = .xml
        case let type where type.hasPrefix("application/") && type.hasSuffix("+json"): self = .json
        case let type where type.hasPrefix("application/") && type.hasSuffix("+xml"): self = .xml
        default: return nil
        }
    }

    /// Throws what breaks the grammar, and where: `.empty`, `.notUTF8`, `.malformedJSON`, `.malformedXML`; of XML also
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
            // The parser takes a NUL for a sign of UTF-16, which nothing here has checked.
            guard !bytes.contains(0) else { throw .malformedXML(reason: "there is a NUL in it", line: 1) }
            _ = try XMLReader.read(bytes[start...], maximumElements: .max, keepsContent: false)
        }
    }
}
