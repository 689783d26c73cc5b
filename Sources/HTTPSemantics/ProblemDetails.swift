/// An error response for programs (RFC 9457).
///
///     {"type":"about:blank","title":"Conflict","status":409,"detail":"there is a film \"a\" already","film":"a"}
///
///     <problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>Conflict</title>…</problem>
package struct ProblemDetails: Sendable {
    /// One error in the request's content (RFC 9457 section 3.1, `errors`).
    package struct FieldError: Sendable, Hashable {
        /// A JSON pointer into the content, such as `/year`.
        package let pointer: String
        package let detail: String

        package init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

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
    package var errors: [FieldError]
    /// The extension members, in order. Their names must be valid in XML too.
    package var members: [(name: String, value: Value)] = []

    package init(
        _ status: HTTPStatus, _ detail: String, errors: [FieldError] = [],
        members: [(name: String, value: Value)] = []
    ) {
        self.status = status
        self.detail = detail
        self.errors = errors
        self.members = members
    }

    package var json: String {
        var text =
            "{\"type\":\"about:blank\",\"title\":\(Self.quoted(status.reason)),\"status\":\(status.rawValue)"
        text += ",\"detail\":\(Self.quoted(detail))"
        for (name, value) in members {
            switch value {
            case .text(let string): text += ",\(Self.quoted(name)):\(Self.quoted(string))"
            case .number(let number): text += ",\(Self.quoted(name)):\(number)"
            }
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                "{\"pointer\":\(Self.quoted(error.pointer)),\"detail\":\(Self.quoted(error.detail))}"
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
        text += "<type>about:blank</type><title>\(Self.escaped(status.reason))</title>"
        text += "<status>\(status.rawValue)</status><detail>\(Self.escaped(detail))</detail>"
        for (name, value) in members {
            switch value {
            case .text(let string): text += "<\(name)>\(Self.escaped(string))</\(name)>"
            case .number(let number): text += "<\(name)>\(number)</\(name)>"
            }
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                "<i><pointer>\(Self.escaped(error.pointer))</pointer><detail>\(Self.escaped(error.detail))</detail></i>"
            }
            text += "<errors>\(list.joined())</errors>"
        }
        return text + "</problem>"
    }

    /// Formats a JSON string (RFC 8259 section 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                quoted += "\\u00\(scalar.value < 0x10 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Escapes XML text. Characters that XML forbids (XML 1.0 section 2.2) become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case "\r": escaped += "&#13;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
