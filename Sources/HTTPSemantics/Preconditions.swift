/// The conditions of a request, held against what is there (RFC 9110 section 13).
package struct Preconditions: Sendable {
    package enum Outcome: Hashable, Sendable {
        case proceed
        /// 304 to GET and HEAD.
        case notModified
        case failed
    }

    package let request: HTTPFields
    /// GET or HEAD: for other methods If-None-Match fails rather than saying that nothing changed.
    package let isRead: Bool
    /// The strong tag that the answer would have; nil where there is nothing.
    package let entityTag: String?
    /// The tags of the same state in other formats, which a write takes too.
    package let equivalentTags: [String]
    /// When it was last changed, in seconds since 1970; nil where that is not told.
    package let lastModified: Int?
    /// Seconds since 1970.
    package let now: Int

    package init(
        _ request: HTTPFields, isRead: Bool, entityTag: String?, equivalentTags: [String] = [],
        lastModified: Int? = nil, now: Int = 0
    ) {
        self.request = request
        self.isRead = isRead
        self.entityTag = entityTag
        self.equivalentTags = equivalentTags
        self.lastModified = lastModified
        self.now = now
    }

    /// In the order of section 13.2.2. A condition on dates counts only without one on tags.
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

    /// Whether a Range may be answered with a part (section 13.1.5): without If-Range, or when it names exactly this state by
    /// a strong tag, or by a date that a second has passed since.
    package var allowsRange: Bool {
        let values = request.values(of: "if-range")
        guard values.count == 1, let value = values.first else { return values.isEmpty }
        if value.hasPrefix("\"") || value.hasPrefix("W/") { return value == entityTag }
        guard let lastModified else { return false }
        return date("if-range") == lastModified && now > lastModified
    }

    /// Compared strongly (section 13.1.1): a weak tag never matches.
    private var isMatched: Bool {
        guard let entityTag else { return false }
        return tags("if-match").contains {
            $0 == "*" || $0 == entityTag || equivalentTags.contains(String($0))
        }
    }

    /// Compared weakly (section 13.1.2).
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
