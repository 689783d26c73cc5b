import HTTPSemantics

/// The canonical spelling of a URL: one for all spellings that RFC 3986 section 6 calls equivalent, in printable ASCII.
///
///     HTTP://User@Example.ORG:80/a/./b/../%7Ec%2f.jpg?q=%7e#top  ->  http://example.org/a/~c%2F.jpg?q=~
///
/// Every text has a canonical spelling; there is no failure.
enum CanonicalURL {
    /// The canonical spelling.
    static func text(of url: String, ignoring ignored: IgnoredQuery = IgnoredQuery()) -> String {
        ignored.isEmpty && isPlain(url) ? url : normalised(url, ignoring: ignored)
    }

    /// The canonical spelling of any URL, made piece by piece.
    static func normalised(_ url: String, ignoring ignored: IgnoredQuery = IgnoredQuery()) -> String {
        let parts = Parts(Array(url.utf8))
        var result: [UInt8] = []
        if let scheme = parts.scheme { result += scheme.map(lowercase) + [colon] }
        if let authority = parts.authority {
            result += [slash, slash] + canonicalAuthority(authority, scheme: result.dropLast())
        }
        let path = normalisedPercent(parts.path)
        if path.isEmpty, parts.authority != nil {
            result.append(slash)
        } else {
            result += path.first == slash ? removingDotSegments(path) : path
        }
        if let query = parts.query, let kept = ignored.removing(from: normalisedPercent(query)) {
            result += [questionMark] + kept
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension CanonicalURL {
    /// A quick test whether a web URL is canonical already: a lower-case scheme and host, a valid port other than the
    /// default, an absolute path without dot segments, and no user information, percent-encoding or fragment.
    /// `URL(typed:)` changes nothing in it either.
    ///
    /// False for some canonical URLs too: for a path with a hidden file, for example.
    static func isPlain(_ url: String) -> Bool {
        let url = url.utf8Span.span
        guard let host = plainHostStart(url) else { return false }
        var index = host
        while index < url.count, isPlainHost(url[index]) { index &+= 1 }
        guard index > host, index < url.count else { return false }
        if url[index] == colon {
            let first = index &+ 1
            var port = 0
            index = first
            while index < url.count, index < first &+ 5, url[index] >= zero, url[index] <= nine {
                port = port &* 10 &+ Int(url[index] &- zero)
                index &+= 1
            }
            guard index > first, index < url.count, url[first] != zero, port <= 65_535,
                port != 80, port != 443
            else { return false }
        }
        guard url[index] == slash else { return false }
        var isQuery = false
        while index < url.count {
            let byte = url[index]
            guard isPlain(byte) else { return false }
            if byte == questionMark { isQuery = true }
            if byte == dot, !isQuery, url[index &- 1] == slash { return false }
            index &+= 1
        }
        return true
    }

    /// Where the host begins; nil unless the scheme is http or https.
    private static func plainHostStart(_ url: Span<UInt8>) -> Int? {
        guard url.count > 8, url[0] == UInt8(ascii: "h"), url[1] == UInt8(ascii: "t"),
            url[2] == UInt8(ascii: "t"), url[3] == UInt8(ascii: "p")
        else { return nil }
        let mark = url[4] == UInt8(ascii: "s") ? 5 : 4
        return url[mark] == colon && url[mark &+ 1] == slash && url[mark &+ 2] == slash ? mark &+ 3 : nil
    }

    private static func isPlainHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), zero...nine, dot, UInt8(ascii: "-"): true
        default: false
        }
    }

    /// RFC 3986 appendix A: the characters of a path and of a query, without percent-encoding.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// The split of RFC 3986 appendix B, without the fragment.
private struct Parts {
    var scheme: ArraySlice<UInt8>?
    var authority: ArraySlice<UInt8>?
    let path: ArraySlice<UInt8>
    var query: ArraySlice<UInt8>?

    init(_ url: [UInt8]) {
        var rest = url.prefix { $0 != hash }
        if let end = rest.firstIndex(where: { $0 == colon || $0 == slash || $0 == questionMark }),
            rest[end] == colon, end > rest.startIndex
        {
            scheme = rest[..<end]
            rest = rest[(end + 1)...]
        }
        if let mark = rest.firstIndex(of: questionMark) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if rest.starts(with: [slash, slash]) {
            rest = rest.dropFirst(2)
            authority = rest.prefix { $0 != slash }
            rest = rest.dropFirst(authority?.count ?? 0)
        }
        path = rest
    }
}

/// Sections 6.2.2.1 and 6.2.3: no user information, a lower-case host, no default port.
private func canonicalAuthority(_ authority: ArraySlice<UInt8>, scheme: ArraySlice<UInt8>) -> [UInt8] {
    let server = authority.lastIndex(of: at).map { authority[($0 + 1)...] } ?? authority
    // The colon of a port comes after the bracket that ends an IPv6 address.
    let addressEnd = server.lastIndex(of: closingBracket) ?? server.startIndex
    let portMark = server[addressEnd...].lastIndex(of: colon) ?? server.endIndex
    let host = normalisedPercent(server[..<portMark], lowercasing: true)
    let port = server[portMark...].dropFirst().drop { $0 == zero }
    return port.isEmpty || port.elementsEqual(defaultPort(of: scheme))
        ? host : host + [colon] + normalisedPercent(port)
}

private func defaultPort(of scheme: ArraySlice<UInt8>) -> String.UTF8View {
    if scheme.elementsEqual("http".utf8) { return "80".utf8 }
    if scheme.elementsEqual("https".utf8) { return "443".utf8 }
    return "".utf8
}

/// Section 6.2.2.2: decodes what need not be encoded, and makes hexadecimal digits upper case. Encodes what a URL must
/// not contain (controls, spaces, bytes above ASCII), so that no URL can add a line to a key.
private func normalisedPercent(_ text: ArraySlice<UInt8>, lowercasing: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
        var byte = text[index]
        var isEncoded = byte <= space || byte >= delete
        if byte == percent, index + 2 < text.endIndex,
            let high = text[index + 1].hexadecimalValue, let low = text[index + 2].hexadecimalValue
        {
            byte = high << 4 | low
            isEncoded = !PercentEncoding.isUnreserved(byte)
            index += 2
        }
        if isEncoded {
            PercentEncoding.append(byte, to: &result)
        } else {
            result.append(lowercasing ? lowercase(byte) : byte)
        }
        index += 1
    }
    return result
}

/// Section 5.2.4 for a path that begins with a slash.
private func removingDotSegments(_ path: [UInt8]) -> [UInt8] {
    let mayHaveSome = path.indices.dropFirst().contains { path[$0] == dot && path[$0 - 1] == slash }
    guard mayHaveSome else { return path }
    var kept: [ArraySlice<UInt8>] = []
    let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
        let isLast = index == segments.count - 1
        if segment.elementsEqual([dot]) {
            if isLast { kept.append([]) }
        } else if segment.elementsEqual([dot, dot]) {
            _ = kept.popLast()
            if isLast { kept.append([]) }
        } else {
            kept.append(segment)
        }
    }
    return kept.isEmpty ? [slash] : kept.flatMap { [slash] + $0 }
}

private func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

private let hash = UInt8(ascii: "#")
private let colon = UInt8(ascii: ":")
private let slash = UInt8(ascii: "/")
private let questionMark = UInt8(ascii: "?")
private let at = UInt8(ascii: "@")
private let closingBracket = UInt8(ascii: "]")
private let percent = UInt8(ascii: "%")
private let dot = UInt8(ascii: ".")
private let zero = UInt8(ascii: "0")
private let nine = UInt8(ascii: "9")
private let space = UInt8(ascii: " ")
private let delete: UInt8 = 0x7f

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
