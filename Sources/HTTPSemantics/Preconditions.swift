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
