/// The Link fields of a response (RFC 8288):
///
///     Link: <?limit=20&after=bmVtbw>; rel="next", </films>; rel="first up"; title="All, of them"
///
/// Reading a field stops at malformed text; the links before it count.
package enum LinkField {
    /// The target of the first link with this relation, as written: relative to the URL of the response.
    package static func target(_ relation: String, in fields: HeaderFields) -> String? {
        for value in fields.values(of: "link") {
            for piece in FieldList.pieces(of: value, at: UInt8(ascii: ","), hasTargets: true) {
                guard piece.first == "<", let end = piece.firstIndex(of: ">") else { break }
                // The first `rel` counts (section 3.3). Relations are case-insensitive (section 2.1.1).
                let relations = ParameterList.pieces(of: String(piece[piece.index(after: end)...])).lazy
                    .compactMap { parameter("rel", in: $0) }.first
                if relations?.lowercased().split(separator: " ").contains(relation[...]) == true {
                    return String(piece[..<end].dropFirst())
                }
            }
        }
        return nil
    }

    /// The value of the parameter `name`; nil for another parameter.
    private static func parameter(_ name: String, in text: Substring) -> String? {
        guard let equals = text.firstIndex(of: "="),
            String(FieldList.trimmed(text[..<equals])).equalsIgnoringCase(name)
        else { return nil }
        let value = FieldList.trimmed(text[text.index(after: equals)...])
        return FieldList.unquoted(value) ?? String(value)
    }
}
