/// The Cache-Control directives of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246) or a request (section
/// 5.2.1).
///
///     max-age=600, no-cache="set-cookie", stale-if-error=86400
///
/// The first of repeated directives counts. A malformed number of seconds counts as 0, which makes the response stale
/// (section 4.2.1); one too large for 31 bits counts as the largest (section 1.2.2). Directives for shared caches
/// (s-maxage, proxy-revalidate) are not read here; see `CacheKind`.
package struct CacheControl: Hashable, Sendable {
    /// The response must not be stored.
    package var noStore = false
    /// The response must not be reused without validation.
    package var noCache = false
    /// Names of fields, in lower case, that must not be reused without validation.
    package var noCacheFields: [String] = []
    /// The response must not be reused stale without validation.
    package var mustRevalidate = false
    /// The response does not change while fresh: not even a reload validates it.
    package var isImmutable = false
    /// The response may be stored whatever its status, and is cacheable heuristically.
    package var isPublic = false
    /// A private cache may store the response whatever its status.
    package var isPrivate = false
    /// A cache that understands the status may store the response in spite of no-store.
    package var mustUnderstand = false
    /// In a response: its freshness lifetime. In a request: the greatest acceptable age. In seconds.
    package var maxAge: Int?
    /// How long a stale response may be used while it is revalidated, in seconds.
    package var staleWhileRevalidate: Int?
    /// How long a stale response may be used when the server fails, in seconds.
    package var staleIfError: Int?
    /// In a request: how much longer the response must stay fresh, in seconds.
    package var minFresh: Int?
    /// In a request: the greatest acceptable staleness, in seconds; `maximumSeconds` if any is acceptable.
    package var maxStale: Int?
    /// In a request: answer from the cache or with 504, without the network.
    package var onlyIfCached = false

    /// The largest number of seconds that counts (RFC 9111 section 1.2.2).
    package static let maximumSeconds = 1 << 31

    /// Reads every Cache-Control field.
    package init(_ fields: HeaderFields) {
        let values = fields.values(of: "cache-control")
        guard !values.isEmpty else { return }
        var seen: Set<String> = []
        for member in FieldList.members(of: values) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].lowercased()
            guard seen.insert(name).inserted else { continue }
            set(name, to: parts.count > 1 ? parts[1] : nil)
        }
    }

    private mutating func set(_ name: String, to value: Substring?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            let list = value.map { FieldList.unquoted($0) ?? String($0) } ?? ""
            noCacheFields = FieldList.members(of: list).map { $0.lowercased() }
            noCache = noCacheFields.isEmpty
        case "must-revalidate": mustRevalidate = true
        case "immutable": isImmutable = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "must-understand": mustUnderstand = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = value.flatMap(Self.seconds) ?? 0
        case "stale-while-revalidate": staleWhileRevalidate = value.flatMap(Self.seconds) ?? 0
        case "stale-if-error": staleIfError = value.flatMap(Self.seconds) ?? 0
        case "min-fresh": minFresh = value.flatMap(Self.seconds)
        case "max-stale": maxStale = value.map { Self.seconds($0) ?? 0 } ?? Self.maximumSeconds
        default: break
        }
    }

    /// Reads a number of seconds (RFC 9111 section 1.2.2), quoted or not; nil for anything else.
    package static func seconds(_ text: Substring) -> Int? {
        let unquoted = FieldList.unquoted(text)
        let digits = unquoted.map { Substring($0) } ?? text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return min(Int(digits) ?? maximumSeconds, maximumSeconds)
    }
}
