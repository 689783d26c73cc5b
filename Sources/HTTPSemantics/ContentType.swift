/// A media type with its parameters, as in Content-Type (RFC 9110 section 8.3.1):
///
///     multipart/form-data; boundary="a b"
///     application/json;charset=utf-8
package struct ContentType: Sendable, Hashable {
    /// Type and subtype in lower case, such as `application/json`.
    package let mediaType: String
    /// Names in lower case; values as received, without quotes.
    package let parameters: [String: String]

    /// Reads a field; nil if it is malformed or repeats a parameter, since two readers could then disagree.
    package init?(_ text: String) {
        var pieces = ParameterList.pieces(of: text)[...]
        guard let first = pieces.popFirst() else { return nil }
        let sides = first.split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) })
        else {
            return nil
        }
        guard let parameters = ParameterList.parameters(pieces) else { return nil }
        mediaType = first.lowercased()
        self.parameters = parameters
    }

    /// Whether text of this type is UTF-8: by its charset, or because it has none.
    package var isUTF8: Bool {
        guard let charset = parameters["charset"]?.lowercased() else { return true }
        return ["utf-8", "utf8", "us-ascii"].contains(charset)
    }
}

/// The parameters of a field (RFC 9110 section 5.6.6). A semicolon in a quoted string does not separate.
package enum ParameterList {
    /// The pieces between semicolons, without surrounding white space; the first is the value itself. Skips empty
    /// pieces.
    package static func pieces(of text: String) -> [Substring] {
        FieldList.pieces(of: text, at: UInt8(ascii: ";"))
    }

    /// The parameters by name, in lower case; nil if one is malformed or repeated.
    package static func parameters(_ pieces: some Sequence<Substring>) -> [String: String]? {
        var parameters: [String: String] = [:]
        for piece in pieces {
            guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = piece[..<equals]
            let value = piece[piece.utf8.index(after: equals)...]
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
            let key = name.lowercased()
            guard parameters[key] == nil else { return nil }
            if let text = FieldList.unquoted(value) {
                parameters[key] = text
            } else {
                guard !value.isEmpty, value.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
                parameters[key] = String(value)
            }
        }
        return parameters
    }
}
