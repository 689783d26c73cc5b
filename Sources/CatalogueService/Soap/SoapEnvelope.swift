package import Films
package import HTTPSemantics
import HTTPServer

/// A message of SOAP 1.1 (W3C Note of 8 May 2000, section 4) with one element in its body:
///
///     <soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
///       <soap:Header><t:Trace xmlns:t="urn:example" soap:mustUnderstand="1">7</t:Trace></soap:Header>
///       <soap:Body><Film xmlns="urn:marquee:films"><id>nosferatu</id></Film></soap:Body>
///     </soap:Envelope>
package struct SoapEnvelope: Sendable {
    static let namespace = "http://schemas.xmlsoap.org/soap/envelope/"
    /// The namespace of `xsi:nil`.
    fileprivate static let instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"
    /// The actor that means the next receiver (section 4.2.2).
    private static let nextActor = "http://schemas.xmlsoap.org/soap/actor/next"
    package static let contentType = "text/xml; charset=utf-8"
    static let mediaType = "text/xml"
    /// The media type of SOAP 1.2.
    private static let laterMediaType = "application/soap+xml"

    /// The element in the body.
    package let content: XMLElement

    /// Reads a message.
    /// - Throws: VersionMismatch for another envelope; MustUnderstand if a header block must be understood, since none
    ///   is; Client if the bytes are not a message.
    package init(parsing bytes: [UInt8]) throws(SoapFault) {
        let root: XMLElement
        do throws(CatalogueError) {
            root = try XMLElement(parsing: bytes)
        } catch {
            throw SoapFault(FilmRefusal(error))
        }
        guard root.localName == "Envelope" else {
            throw .client("expected a SOAP envelope, not <\(root.localName)>")
        }
        guard root.namespace == Self.namespace else { throw .versionMismatch }
        let parts = root.children.filter { $0.namespace == Self.namespace }
        if parts.first?.localName == "Header" { try Self.checkHeader(parts[0]) }
        guard let body = parts.dropFirst(parts.first?.localName == "Header" ? 1 : 0).first,
            body.localName == "Body",
            body.children.count == 1
        else { throw .client("expected a Body with one element in it") }
        content = body.children[0]
    }

    private static func checkHeader(_ header: XMLElement) throws(SoapFault) {
        for block in header.children {
            let actor = block.attribute("actor", in: namespace) ?? ""
            guard actor.isEmpty || actor == nextActor,
                ["1", "true"].contains(block.attribute("mustUnderstand", in: namespace))
            else { continue }
            throw SoapFault(
                code: .mustUnderstand,
                text: "the header {\(block.namespace)}\(block.localName) is not supported", problem: nil)
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

extension XMLElement {
    /// Whether the element is `xsi:nil`.
    var isNil: Bool {
        ["true", "1"].contains(attribute("nil", in: SoapEnvelope.instanceNamespace))
    }
}

/// Why an operation failed (SOAP 1.1, section 4.4). The detail is the same problem that REST clients get (RFC 9457):
///
///     <soap:Fault><faultcode>soap:Client</faultcode><faultstring>the year must be a number</faultstring>
///       <detail><problem xmlns="urn:ietf:rfc:7807">…<status>422</status>…<errors><i><pointer>/year</pointer>…</problem></detail>
///     </soap:Fault>
package struct SoapFault: Error, Sendable {
    package enum Code: String, Sendable {
        case client = "Client"
        case server = "Server"
        case versionMismatch = "VersionMismatch"
        case mustUnderstand = "MustUnderstand"
    }

    package let code: Code
    /// One line: what is wrong and what to do.
    package let text: String
    /// Nil if the body did not cause the fault.
    package let problem: ProblemDetails?
}

extension SoapFault {
    init(_ refusal: FilmRefusal) {
        let problem = refusal.problem
        self.init(
            code: problem.status.rawValue < 500 ? .client : .server, text: problem.detail, problem: problem)
    }

    /// A fault of the client's message.
    static func client(_ text: String) -> SoapFault { SoapFault(FilmRefusal(.badRequest, text)) }

    static let versionMismatch = SoapFault(
        code: .versionMismatch,
        text: "only SOAP 1.1 is supported; send an envelope of the namespace \(SoapEnvelope.namespace)",
        problem: nil)

    /// Faults have the status 500 (section 6.2).
    var response: HTTPResponse {
        let detail = problem.map { "<detail>\($0.element)</detail>" } ?? ""
        let message = SoapEnvelope.message(
            "<soap:Fault><faultcode>soap:\(code.rawValue)</faultcode>"
                + "<faultstring>\(XMLText.escaped(text))</faultstring>\(detail)</soap:Fault>")
        return HTTPResponse(
            status: .internalServerError,
            fields: ["Content-Type": SoapEnvelope.contentType, "Cache-Control": "no-store"],
            body: .bytes(message))
    }

    /// Reads the fault in a body; nil for any other body.
    package init?(_ element: XMLElement) {
        guard element.localName == "Fault", element.namespace == SoapEnvelope.namespace else { return nil }
        // These children have no namespace (section 4.4).
        func text(_ name: String) -> String { element.child(name)?.text ?? "" }
        let code = text("faultcode").split(separator: ":").last.flatMap { Code(rawValue: String($0)) }
        let problem = element.child("detail")?.children.first { $0.localName == "problem" }
        self.init(
            code: code ?? .server, text: text("faultstring"), problem: problem.flatMap(Self.problem))
    }

    private static func problem(_ element: XMLElement) -> ProblemDetails? {
        guard let status = element.child("status").flatMap({ Int($0.text) }) else { return nil }
        let errors = (element.child("errors")?.children ?? []).map { error in
            (pointer: error.child("pointer")?.text ?? "", detail: error.child("detail")?.text ?? "")
        }
        return ProblemDetails(
            HTTPStatus(rawValue: status), element.child("detail")?.text ?? "", errors: errors)
    }
}
