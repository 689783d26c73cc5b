/// The Link fields of a response (RFC 8288):
///
///     Link: <?limit=20&after=bmVtbw>; rel="next", </films>; rel="first up"; title="All, of them"
///
/// Reading a field stops at malformed text; the links before it count.
package enum LinkField {
    /// The target of the first link with this relation, as written: relative to the URL of the response.
    package static func target(_ relation: String, in fields: HeaderFields) -> String? {
        for value in fields.values(of: "link") {
            for (target, relations) in links(in: value) where relations.contains(relation) { return target }
        }
        return nil
    }

    /// The targets and relations of one field. Relations are case-insensitive (RFC 8288 section 2.1.1).
    private static func links(in value: String) -> [(target: String, relations: [String])] {
        var links: [(target: String, relations: [String])] = []
        for piece in split(value, at: ",") {
            let trimmed = piece.drop { $0 == " " || $0 == "\t" }
            guard trimmed.first == "<", let end = trimmed.firstIndex(of: ">") else { break }
            let target = String(trimmed[trimmed.index(after: trimmed.startIndex)..<end])
            // The first `rel` counts (section 3.3).
            let relation = split(String(trimmed[trimmed.index(after: end)...]), at: ";").lazy
                .compactMap { parameter("rel", in: $0) }.first
            links.append(
                (target, (relation ?? "").lowercased().split(separator: " ").map(String.init)))
        }
        return links
    }

    /// The value of the parameter `name`; nil for another parameter.
    private static func parameter(_ name: String, in text: Substring) -> String? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, String(parts[0]).trimmed.equalsIgnoringCase(name) else { return nil }
        let value = String(parts[1]).trimmed
        guard value.hasPrefix("\""), value.hasSuffix("\""), value.count > 1 else { return value }
        return String(value.dropFirst().dropLast())
    }

    /// The pieces between separators outside `<…>` and quotes.
    private static func split(_ text: String, at separator: Character) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isTarget = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                isEscaped = character == "\\"
                isQuoted = character != "\""
            } else if isTarget {
                isTarget = character != ">"
            } else if character == "\"" {
                isQuoted = true
            } else if character == "<" {
                isTarget = true
            } else if character == separator {
                pieces.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        pieces.append(text[start...])
        return pieces
    }
}

extension String {
    /// Removes surrounding spaces and tabs.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...last])
    }
}
