/// An error response for programs (RFC 9457).
///
///     {"type":"about:blank","title":"Conflict","status":409,"detail":"there is a film \"a\" already","film":"a"}
///
///     <problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>Conflict</title>…</problem>
package struct ProblemDetails: Sendable {
    /// The value of an extension member.
    package enum Value: Sendable, Hashable {
        case text(String)
        case number(Int)
    }

    package static let jsonType = "application/problem+json"
    package static let xmlType = "application/problem+xml"

    package let status: HTTPStatus
    /// One line: what is wrong and what to do.
    package let detail: String
    /// The errors in the request's content (RFC 9457 section 3.1), each with a JSON pointer to its place, such as `/year`.
    package var errors: [(pointer: String, detail: String)]
    /// The extension members, in order. Their names must be valid in XML too.
    package var members: [(name: String, value: Value)] = []

    package init(
        _ status: HTTPStatus, _ detail: String, errors: [(pointer: String, detail: String)] = [],
        members: [(name: String, value: Value)] = []
    ) {
        self.status = status
        self.detail = detail
        self.errors = errors
        self.members = members
    }

    package var json: String {
        var text =
            "{\"type\":\"about:blank\",\"title\":\(JSONString.quoted(status.reason)),\"status\":\(status.rawValue)"
        text += ",\"detail\":\(JSONString.quoted(detail))"
        for (name, value) in members {
            switch value {
            case .text(let string): text += ",\(JSONString.quoted(name)):\(JSONString.quoted(string))"
            case .number(let number): text += ",\(JSONString.quoted(name)):\(number)"
            }
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                "{\"pointer\":\(JSONString.quoted(error.pointer)),\"detail\":\(JSONString.quoted(error.detail))}"
            }
            text += ",\"errors\":[\(list.joined(separator: ","))]"
        }
        return text + "}\n"
    }

    /// RFC 9457 appendix B: the items of a list are elements named `i`.
    package var xml: String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(element)\n" }

    /// The element alone, to embed in another document.
    package var element: String {
        var text = "<problem xmlns=\"urn:ietf:rfc:7807\">"
        text += "<type>about:blank</type><title>\(XMLText.escaped(status.reason, inElement: true))</title>"
        text += "<status>\(status.rawValue)</status>"
        text += "<detail>\(XMLText.escaped(detail, inElement: true))</detail>"
        for (name, value) in members {
            switch value {
            case .text(let string): text += "<\(name)>\(XMLText.escaped(string, inElement: true))</\(name)>"
            case .number(let number): text += "<\(name)>\(number)</\(name)>"
            }
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                "<i><pointer>\(XMLText.escaped(error.pointer, inElement: true))</pointer>"
                    + "<detail>\(XMLText.escaped(error.detail, inElement: true))</detail></i>"
            }
            text += "<errors>\(list.joined())</errors>"
        }
        return text + "</problem>"
    }
}
