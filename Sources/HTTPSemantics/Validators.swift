/// What tells one state of a resource from another: ETag and Last-Modified (RFC 9110 section 8.8), and the conditions made
/// of them (section 13.1).
package struct Validators: Hashable, Sendable {
    /// As it came, quotes and `W/` included.
    package var entityTag: String?
    /// As it came.
    package var lastModified: String?

    /// Those of a response; nil if it has none.
    package init?(_ response: HTTPFields) {
        entityTag = response["etag"].flatMap { $0.isEmpty ? nil : $0 }
        lastModified = response["last-modified"].flatMap { HTTPDate.parse($0, now: 0) == nil ? nil : $0 }
        if entityTag == nil, lastModified == nil { return nil }
    }

    /// The fields that ask for the resource only if it is another than this one (RFC 9111 section 4.3.1).
    package var conditions: HTTPFields {
        var fields = HTTPFields()
        if let entityTag { fields["If-None-Match"] = entityTag }
        if let lastModified { fields["If-Modified-Since"] = lastModified }
        return fields
    }

    /// Whether a 304 with these fields speaks of the answer that these are the validators of (RFC 9111 section 4.3.4): it
    /// names no other entity tag.
    package func areConfirmed(by fields: HTTPFields) -> Bool {
        guard let entityTag, let other = fields["etag"] else { return true }
        return Self.opaque(entityTag) == Self.opaque(other)
    }

    /// The validator by which a part of an answer may be joined to the rest of it: a strong one, alone (RFC 9110 sections
    /// 8.8.2.2 and 13.1.5). A date is strong when the answer was made a minute after it: then nothing changed since that
    /// could have the same date.
    package static func strong(_ response: HTTPFields, now: Int) -> String? {
        if let tag = response["etag"], !tag.isEmpty {
            return tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
        }
        guard let modified = response["last-modified"], let time = HTTPDate.parse(modified, now: now),
            let date = response["date"].flatMap({ HTTPDate.parse($0, now: now) }), date - time >= 60
        else { return nil }
        return modified
    }

    /// Without what makes it weak: so they compare in If-None-Match (RFC 9110 section 8.8.3.2).
    package static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }

    /// The fields of a request that make it conditional or ask for a part.
    package static let conditional = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range",
    ]

    /// What the caller's own conditions make of an answer with these fields (RFC 9111 section 4.3.2): true for 304. The
    /// first of the two counts. An answer without Last-Modified counts as changed when it was made.
    package static func areMet(_ request: HTTPFields, by response: HTTPFields, now: Int) -> Bool {
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
