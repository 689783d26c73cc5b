/// What Cache-Control says, in a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246) or in a request (section 5.2.1).
///
///     max-age=600, no-cache="set-cookie", stale-if-error=86400
///
/// A directive that comes again counts the first time. A number of seconds that is none counts as 0, which makes the
/// answer stale (section 4.2.1); one too large for 31 bits as the largest (section 1.2.2). What speaks to shared caches only
/// (s-maxage, proxy-revalidate) is not read.
package struct CacheControl: Hashable, Sendable {
    /// Nothing may be stored.
    package var noStore = false
    /// Nothing may be used that was not validated.
    package var noCache = false
    /// The names of fields, lower case, that alone may not be used so.
    package var noCacheFields: [String] = []
    /// What is stale may never be used without having been validated.
    package var mustRevalidate = false
    /// What is fresh does not change, so that even a reload need not validate it.
    package var isImmutable = false
    /// May be stored whatever its status, and counts as fresh for a while.
    package var isPublic = false
    /// May be stored by a cache like this one, which has one user, whatever its status.
    package var isPrivate = false
    /// The answer may be stored, in spite of no-store, by whoever knows what its status means.
    package var mustUnderstand = false
    /// A response: how long it is fresh. A request: how old an answer may be. In seconds.
    package var maxAge: Int?
    /// How long after it went stale it may still be used while it is validated, in seconds.
    package var staleWhileRevalidate: Int?
    /// How long after it went stale it may still be used when the server fails, in seconds.
    package var staleIfError: Int?
    /// A request: for how long the answer must still be fresh, in seconds.
    package var minFresh: Int?
    /// A request: how stale the answer may be, in seconds; the largest number for any.
    package var maxStale: Int?
    /// A request: the network is not to be asked.
    package var onlyIfCached = false

    /// The most seconds that count (RFC 9111 section 1.2.2).
    package static let maximumSeconds = 1 << 31

    /// Reads every Cache-Control field.
    package init(_ fields: HTTPFields) {
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

    /// A number of seconds (RFC 9111 section 1.2.2), in quotes or not; nil for anything else.
    package static func seconds(_ text: Substring) -> Int? {
        let unquoted = FieldList.unquoted(text)
        let digits = unquoted.map { Substring($0) } ?? text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return min(Int(digits) ?? maximumSeconds, maximumSeconds)
    }
}
