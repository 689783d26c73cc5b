import HTTPSemantics
package import MovieCatalogue

/// A message of SOAP 1.1 (W3C Note of 8 May 2000, section 4) with one element in its body:
///
///     <soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
///       <soap:Header><t:Trace xmlns:t="urn:example" soap:mustUnderstand="1">7</t:Trace></soap:Header>
///       <soap:Body><Film xmlns="urn:marquee:films"><id>nosferatu</id></Film></soap:Body>
///     </soap:Envelope>
package struct SoapEnvelope: Sendable {
    static let namespace = "http://schemas.xmlsoap.org/soap/envelope/"
    /// The namespace of `xsi:nil`.
    static let instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"
    /// The actor that means the next receiver (section 4.2.2).
    private static let nextActor = "http://schemas.xmlsoap.org/soap/actor/next"
    package static let contentType = "text/xml; charset=utf-8"
    static let mediaType = "text/xml"
    /// The media type of SOAP 1.2.
    private static let laterMediaType = "application/soap+xml"

    /// The element in the body.
    package let content: QualifiedElement

    /// Reads a message.
    /// - Throws: VersionMismatch for another envelope; MustUnderstand if a header block must be understood, since none
    ///   is; Client if the bytes are not a message.
    package init(parsing bytes: [UInt8]) throws(SoapFault) {
        let root: QualifiedElement
        do throws(CatalogueError) {
            root = try QualifiedElement(parsing: bytes)
        } catch {
            throw SoapFault(FilmRefusal(error))
        }
        guard root.name == "Envelope" else {
            throw .client("expected a SOAP envelope, not <\(root.name)>")
        }
        guard root.namespace == Self.namespace else { throw .versionMismatch }
        let parts = root.children.filter { $0.namespace == Self.namespace }
        if parts.first?.name == "Header" { try Self.checkHeader(parts[0]) }
        guard let body = parts.dropFirst(parts.first?.name == "Header" ? 1 : 0).first, body.name == "Body",
            body.children.count == 1
        else { throw .client("expected a Body with one element in it") }
        content = body.children[0]
    }

    private static func checkHeader(_ header: QualifiedElement) throws(SoapFault) {
        for block in header.children {
            let actor = block.attribute("actor", in: namespace) ?? ""
            guard actor.isEmpty || actor == nextActor,
                ["1", "true"].contains(block.attribute("mustUnderstand", in: namespace))
            else { continue }
            throw SoapFault(
                .mustUnderstand, "the header {\(block.namespace)}\(block.name) is not supported")
        }
    }

    /// Throws 415 if the head does not name SOAP. A message of SOAP 1.2 passes: the answer to its envelope is
    /// VersionMismatch (SOAP 1.2 part 1, appendix A).
    static func checkType(_ fields: HeaderFields) throws(FilmRefusal) {
        let values = fields.values(of: "content-type")
        guard values.count == 1, let type = ContentType(values[0]), type.isUTF8,
            [mediaType, laterMediaType].contains(type.mediaType)
        else {
            throw FilmRefusal(
                .unsupportedMediaType, "send SOAP 1.1 as \(contentType)", fields: ["Accept-Post": mediaType])
        }
        try FilmContent.checkCoding(fields)
    }

    /// A message with this XML in its body.
    package static func message(_ content: String) -> [UInt8] {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <soap:Envelope xmlns:soap="\(namespace)" xmlns:xsi="\(instanceNamespace)"><soap:Body>\(content)</soap:Body></soap:Envelope>

            """
        return Array(text.utf8)
    }
}

extension QualifiedElement {
    /// Whether the element is `xsi:nil`.
    var isNil: Bool {
        ["true", "1"].contains(attribute("nil", in: SoapEnvelope.instanceNamespace))
    }
}
