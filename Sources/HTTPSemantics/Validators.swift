/// The validators of a response, ETag and Last-Modified (RFC 9110 section 8.8), and the conditional requests made with
/// them (section 13.1).
package struct Validators: Hashable, Sendable {
    /// As received, with quotes and `W/`.
    package var entityTag: String?
    /// As received.
    package var lastModified: String?

    /// Reads the validators of a response; nil if it has none.
    package init?(_ response: HeaderFields) {
        entityTag = Self.entityTag(response)
        lastModified = response["last-modified"].flatMap { HTTPDate.parse($0, now: 0) == nil ? nil : $0 }
        if entityTag == nil, lastModified == nil { return nil }
    }

    /// The entity tag, unless it is empty or could not be sent back.
    private static func entityTag(_ response: HeaderFields) -> String? {
        response["etag"].flatMap { tag in
            tag.isEmpty || HeaderFields.fault(name: "etag", value: tag) != nil ? nil : tag
        }
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
        if let tag = entityTag(response) {
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

/// Evaluates the preconditions of a request (RFC 9110 section 13).
package struct Preconditions: Sendable {
    package enum Outcome: Hashable, Sendable {
        case proceed
        /// Send 304; only for GET and HEAD.
        case notModified
        case failed
    }

    package let request: HeaderFields
    /// Whether the method is GET or HEAD: for other methods a false If-None-Match means 412, not 304.
    package let isRead: Bool
    /// The strong entity tag of the representation; nil if there is none.
    package let entityTag: String?
    /// The entity tags of the same state in other formats; writes accept them too.
    package let equivalentTags: [String]
    /// The modification time, in seconds since 1970; nil if unknown.
    package let lastModified: Int?
    /// Seconds since 1970.
    package let now: Int

    package init(
        _ request: HeaderFields, isRead: Bool, entityTag: String?, equivalentTags: [String] = [],
        lastModified: Int? = nil, now: Int = 0
    ) {
        self.request = request
        self.isRead = isRead
        self.entityTag = entityTag
        self.equivalentTags = equivalentTags
        self.lastModified = lastModified
        self.now = now
    }

    /// Evaluates in the order of section 13.2.2. A date counts only if there is no condition on entity tags.
    package var outcome: Outcome {
        if !request.values(of: "if-match").isEmpty {
            if !isMatched { return .failed }
        } else if let date = date("if-unmodified-since"), let lastModified, lastModified > date {
            return .failed
        }
        if !request.values(of: "if-none-match").isEmpty {
            return isNoneMatched ? (isRead ? .notModified : .failed) : .proceed
        }
        if isRead, let date = date("if-modified-since"), let lastModified, lastModified <= date {
            return .notModified
        }
        return .proceed
    }

    /// Whether a Range may be answered with a part (section 13.1.5): if there is no If-Range, or it matches by a strong
    /// entity tag, or by a date at least a second in the past.
    package var allowsRange: Bool {
        let values = request.values(of: "if-range")
        guard values.count == 1, let value = values.first else { return values.isEmpty }
        if value.hasPrefix("\"") || value.hasPrefix("W/") { return value == entityTag }
        guard let lastModified else { return false }
        return date("if-range") == lastModified && now > lastModified
    }

    /// Strong comparison (section 13.1.1): a weak tag never matches.
    private var isMatched: Bool {
        guard let entityTag else { return false }
        return tags("if-match").contains {
            $0 == "*" || $0 == entityTag || equivalentTags.contains(String($0))
        }
    }

    /// Weak comparison (section 13.1.2).
    private var isNoneMatched: Bool {
        guard let entityTag else { return false }
        return tags("if-none-match").contains { tag in
            let opaque = Validators.opaque(String(tag))
            return tag == "*" || opaque == entityTag || !isRead && equivalentTags.contains(String(opaque))
        }
    }

    private func tags(_ name: String) -> [Substring] { FieldList.members(of: request.values(of: name)) }

    private func date(_ name: String) -> Int? {
        let values = request.values(of: name)
        return values.count == 1 ? HTTPDate.parse(values[0], now: now) : nil
    }
}
