package import HTTPSemantics
import HTTPServer
package import MovieCatalogue

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

    init(_ code: Code, _ text: String, _ problem: ProblemDetails? = nil) {
        self.code = code
        self.text = text
        self.problem = problem
    }

    init(_ refusal: FilmRefusal) {
        let problem = refusal.problem
        self.init(problem.status.rawValue < 500 ? .client : .server, problem.detail, problem)
    }

    /// A fault of the client's message.
    static func client(_ text: String) -> SoapFault { SoapFault(FilmRefusal(.badRequest, text)) }

    static let versionMismatch = SoapFault(
        .versionMismatch,
        "only SOAP 1.1 is supported; send an envelope of the namespace \(SoapEnvelope.namespace)")

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
    package init?(_ element: QualifiedElement) {
        guard element.name == "Fault", element.namespace == SoapEnvelope.namespace else { return nil }
        // These children have no namespace (section 4.4).
        func text(_ name: String) -> String { element.child(name)?.text ?? "" }
        let code = text("faultcode").split(separator: ":").last.flatMap { Code(rawValue: String($0)) }
        let problem = element.child("detail")?.children.first { $0.name == "problem" }
        self.init(code ?? .server, text("faultstring"), problem.flatMap(Self.problem))
    }

    private static func problem(_ element: QualifiedElement) -> ProblemDetails? {
        guard let status = element.child("status").flatMap({ Int($0.text) }) else { return nil }
        let errors = (element.child("errors")?.children ?? []).map { error in
            ProblemDetails.FieldError(
                pointer: error.child("pointer")?.text ?? "", detail: error.child("detail")?.text ?? "")
        }
        return ProblemDetails(
            HTTPStatus(rawValue: status), element.child("detail")?.text ?? "", errors: errors)
    }
}
