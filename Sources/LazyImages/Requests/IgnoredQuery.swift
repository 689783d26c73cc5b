/// Which items of a URL's query do not matter to what it answers, so that they are left out of a cache key: what a rule names,
/// and nothing by itself. Items whose names a rule ends with `*` begin so; others match whole. The request that is sent
/// keeps them all.
///
///     IgnoredQuery(["utm_*", "session"])
///     IgnoredQuery.tracking.union(.signatures)
public struct IgnoredQuery: Sendable, Hashable {
    private var names: Set<String> = []
    private var beginnings: Set<String> = []

    /// Rules of a caller's own; none by default, which ignores nothing.
    /// - Parameter rules: names of items; one that ends with `*` names all that begin so.
    public init(_ rules: [String] = []) {
        for rule in rules {
            if rule.hasSuffix("*") { beginnings.insert(String(rule.dropLast())) } else { names.insert(rule) }
        }
    }

    /// Where a visitor came from: Google's `utm_*` and `gclid`, Meta's `fbclid`, Microsoft's `msclkid`.
    public static let tracking = IgnoredQuery(["utm_*", "gclid", "fbclid", "msclkid"])

    /// Signatures of URLs that are valid for a time: Amazon's `X-Amz-*` and CloudFront's, Google's `X-Goog-*`, Azure's.
    /// Callers with and without a right to the image then share a key: for images that are the same to all.
    public static let signatures = IgnoredQuery([
        "X-Amz-*", "X-Goog-*", "Expires", "Signature", "Key-Pair-Id", "Policy", "AWSAccessKeyId",
        "GoogleAccessId",
        "sig", "se", "sp", "sv", "sr", "st", "skoid", "sktid", "skt", "ske", "sks", "skv", "spr",
    ])

    /// What either ignores.
    /// - Parameter other: more rules.
    public func union(_ other: IgnoredQuery) -> IgnoredQuery {
        var both = self
        both.names.formUnion(other.names)
        both.beginnings.formUnion(other.beginnings)
        return both
    }

    /// Whether nothing is ignored.
    var isEmpty: Bool { names.isEmpty && beginnings.isEmpty }

    /// A query without the items that do not matter; nil if nothing is left of it. As it was if nothing is ignored.
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
