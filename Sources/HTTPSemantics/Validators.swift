/// The validators of a response, ETag and Last-Modified (RFC 9110 section 8.8), and the conditional requests made with
/// them (section 13.1).
package struct Validators: Hashable, Sendable {
    /// As received, with quotes and `W/`.
    package var entityTag: String?
    /// As received.
    package var lastModified: String?

    /// Reads the validators of a response; nil if it has none.
    package init?(_ response: HeaderFields) {
        entityTag = response["etag"].flatMap { $0.isEmpty ? nil : $0 }
        lastModified = response["last-modified"].flatMap { HTTPDate.parse($0, now: 0) == nil ? nil : $0 }
        if entityTag == nil, lastModified == nil { return nil }
    }

    /// The header fields that make a request conditional on a change (RFC 9111 section 4.3.1).
    package var conditions: HeaderFields {
        var fields = HeaderFields()
        if let entityTag { fields["If-None-Match"] = entityTag }
        if let lastModified { fields["If-Modified-Since"] = lastModified }
        return fields
    }

    /// Whether a 304 with these fields confirms the response with these validators (RFC 9111 section 4.3.4): it has no
    /// other entity tag.
    package func areConfirmed(by fields: HeaderFields) -> Bool {
        guard let entityTag, let other = fields["etag"] else { return true }
        return Self.opaque(entityTag) == Self.opaque(other)
    }

    /// The strong validator for joining parts of a response (RFC 9110 sections 8.8.2.2 and 13.1.5). A Last-Modified
    /// date is strong if the response was made at least a minute later: no later change can have the same date.
    package static func strong(_ response: HeaderFields, now: Int) -> String? {
        if let tag = response["etag"], !tag.isEmpty {
            return tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
        }
        guard let modified = response["last-modified"], let time = HTTPDate.parse(modified, now: now),
            let date = response["date"].flatMap({ HTTPDate.parse($0, now: now) }), date - time >= 60
        else { return nil }
        return modified
    }

    /// The tag without `W/`, for weak comparison (RFC 9110 section 8.8.3.2).
    package static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }

    /// The request fields that make a request conditional or restrict its range.
    package static let conditional = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range",
    ]

    /// Whether a response answers the caller's own conditions with 304 (RFC 9111 section 4.3.2). If-None-Match
    /// overrides If-Modified-Since; without Last-Modified the Date counts.
    package static func isNotModified(_ request: HeaderFields, by response: HeaderFields, now: Int) -> Bool {
        let wanted = FieldList.members(of: request.values(of: "if-none-match"))
        if !wanted.isEmpty {
            guard let tag = response["etag"] else { return wanted.contains("*") }
            return wanted.contains { $0 == "*" || opaque(String($0)) == opaque(tag) }
        }
        guard let since = request["if-modified-since"].flatMap({ HTTPDate.parse($0, now: now) }),
            let changed = (response["last-modified"] ?? response["date"]).flatMap({
                HTTPDate.parse($0, now: now)
            })
        else { return false }
        return changed <= since
    }
}
