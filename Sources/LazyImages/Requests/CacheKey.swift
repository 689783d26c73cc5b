public import FoundationEssentials
package import Hashing

/// The key of a cached value: a canonical URL or the caller's id, the request headers that change the answer, and the
/// caller's variant. Hashed once, when it is made: comparing two keys then compares four integers.
///
/// Every disk entry stores the key's text, which a lookup compares:
///
///     https://example.org/posters/1.jpg
///     header accept-language sha256:ad29...
///     variant w342
public struct CacheKey: Hashable, Sendable {
    /// The canonical text, printable ASCII and line feeds. It has no user information and no header values: they may be
    /// secrets.
    public let text: String

    /// The SHA-256 of `text`.
    package let digest: SHA256.Digest

    /// The key of the answer of `url` to a request with these headers.
    ///
    /// Scheme and host become lower case. The default port, the fragment, user information and dot segments are
    /// removed. Percent-encoding is normalised. The query keeps all items but those that `ignored` names.
    /// - Parameters:
    ///   - url: any URL; a relative one is resolved against its base.
    ///   - headers: only those that change the answer, in any order. Names ignore case.
    ///   - variant: any text. Default: none.
    ///   - ignored: query items to leave out. Default: none.
    public init(
        url: URL, headers: [(name: String, value: String)] = [], variant: String? = nil,
        ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) {
        self.init(
            name: CanonicalURL.text(of: url.absoluteString, ignoring: ignored), headers: headers,
            variant: variant)
    }

    /// The key of an image that the caller names `id`. Its first line is `id poster-7`, which is not a URL.
    /// - Parameters:
    ///   - id: any text.
    ///   - headers: as in the other initialiser.
    ///   - variant: as in the other initialiser.
    public init(id: String, headers: [(name: String, value: String)] = [], variant: String? = nil) {
        self.init(name: "id " + Self.escaped(id), headers: headers, variant: variant)
    }

    private init(name: String, headers: [(name: String, value: String)], variant: String?) {
        guard !headers.isEmpty || variant != nil else {
            self.init(text: name)
            return
        }
        let lines = headers.map { header in
            // The hash, not the value: a file must not contain a cookie or an Authorization.
            "\nheader \(Self.escaped(header.name).lowercased()) sha256:\(SHA256.hash(of: header.value).hexadecimal)"
        }
        // Headers of one name keep their order, which matters (RFC 9110 section 5.3). Sorting is stable.
        let ordered = lines.sorted { $0.prefix { $0 != ":" } < $1.prefix { $0 != ":" } }
        let last = variant.map(Self.line(ofVariant:)) ?? ""
        self.init(text: name + ordered.joined() + last)
    }

    /// A key for a memory tier alone. Its text is empty: only entries on disk compare it.
    /// - Parameter parts: all that tells the value from others, in order, without line feeds. Nil counts as an empty text.
    package init(inMemory parts: [String?]) {
        var hash = SHA256()
        let separator: InlineArray<1, UInt8> = [UInt8(ascii: "\n")]
        for part in parts {
            if let part { hash.update(part.utf8Span.span) }
            hash.update(separator.span)
        }
        text = ""
        digest = hash.finish()
    }

    private init(text: String) {
        self.text = text
        digest = SHA256.hash(of: text)
    }

    /// The key of a value derived from this one, such as the image at one size. Costs one hash.
    /// - Parameter name: any text.
    package func variant(_ name: String) -> CacheKey { CacheKey(text: text + Self.line(ofVariant: name)) }

    private static func line(ofVariant name: String) -> String { "\nvariant " + escaped(name) }

    /// Whether the key names a URL, and not a caller's id.
    package var isOfURL: Bool { !text.hasPrefix("id ") }

    /// The first line of `text`: the canonical URL, or `id` and the caller's id.
    package var url: Substring { text.prefix { $0 != "\n" } }

    /// Whether the digests are equal.
    public static func == (one: CacheKey, other: CacheKey) -> Bool { one.digest == other.digest }

    /// Hashes one word of the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.first) }

    /// Encodes any text as one line of printable ASCII. Different texts have different lines.
    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { !isPlain($0) }) else { return text }
        var result = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte < 0x7f && byte != UInt8(ascii: "%")
    }
}

extension CacheKey {
    /// The host of the URL, without the port; empty without a host. Read from the text: making a URL would take longer
    /// than the rest of a lookup.
    package var host: String { Self.host(ofURL: url) }

    /// The host in the text of a URL, in lower case, without user and port; empty without a host.
    package static func host(ofURL url: Substring) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let server =
            authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        guard server.hasPrefix("["), let end = server.firstIndex(of: "]") else {
            return server.prefix { $0 != ":" }.lowercased()
        }
        return server[...end].lowercased()
    }
}
