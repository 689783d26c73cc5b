/// The query items of a URL that do not change its answer. A cache key leaves them out; the request still sends them. A
/// rule is the name of an item, or the beginning of names, followed by `*`.
///
///     IgnoredQuery(["utm_*", "session"])
///     IgnoredQuery.tracking.union(.signatures)
public struct IgnoredQuery: Sendable, Hashable {
    private var names: Set<String> = []
    private var beginnings: Set<String> = []

    /// The caller's rules. Default: none.
    /// - Parameter rules: names of items. A rule that ends with `*` matches all names that begin with the text before
    ///   it.
    public init(_ rules: [String] = []) {
        for rule in rules {
            if rule.hasSuffix("*") { beginnings.insert(String(rule.dropLast())) } else { names.insert(rule) }
        }
    }

    /// Tracking items: Google's `utm_*` and `gclid`, Meta's `fbclid`, Microsoft's `msclkid`.
    public static let tracking = IgnoredQuery(["utm_*", "gclid", "fbclid", "msclkid"])

    /// Signatures of URLs that expire: Amazon's `X-Amz-*` and CloudFront's, Google's `X-Goog-*`, Azure's. Callers with
    /// and without access to the image then share a key: use it only for images that everybody may see.
    public static let signatures = IgnoredQuery([
        "X-Amz-*", "X-Goog-*", "Expires", "Signature", "Key-Pair-Id", "Policy", "AWSAccessKeyId",
        "GoogleAccessId",
        "sig", "se", "sp", "sv", "sr", "st", "skoid", "sktid", "skt", "ske", "sks", "skv", "spr",
    ])

    /// The rules of both.
    /// - Parameter other: more rules.
    public func union(_ other: IgnoredQuery) -> IgnoredQuery {
        var both = self
        both.names.formUnion(other.names)
        both.beginnings.formUnion(other.beginnings)
        return both
    }

    /// Whether nothing is ignored.
    var isEmpty: Bool { names.isEmpty && beginnings.isEmpty }

    /// The query without the ignored items; nil if no item is left.
    func removing(from query: [UInt8]) -> [UInt8]? {
        guard !isEmpty else { return query }
        let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = items.filter { item in
            !ignores(String(decoding: item.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        }
        if kept.count == items.count { return query }
        return kept.isEmpty ? nil : Array(kept.joined(separator: [UInt8(ascii: "&")]))
    }

    private func ignores(_ name: String) -> Bool {
        names.contains(name) || beginnings.contains { name.hasPrefix($0) }
    }
}
