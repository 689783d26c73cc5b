public import FoundationEssentials

/// What a cached value is found by: a URL in its canonical spelling, or a name that the caller gives in its place; the
/// request headers that make the answer differ; and a variant of the caller's own. Hashed once, when it is made; comparing
/// and looking up cost no more than four integers from then on.
///
/// The text it stands for is stored in every disk entry and compared on reading:
///
///     https://example.org/posters/1.jpg
///     header accept-language sha256:ad29...
///     variant w342
public struct CacheKey: Hashable, Sendable {
    /// The canonical text. Printable ASCII and line feeds; holds no user information of the URL and no value of a
    /// header, since each may be a secret.
    public let text: String

    /// The SHA-256 of `text`.
    package let digest: SHA256.Digest

    /// Makes the key of what `url` answers to a request with these headers.
    ///
    /// Scheme and host are lower-cased, the default port, the fragment and user information dropped, dot segments
    /// removed, percent-encoding normalised; the query is otherwise kept as written, but for what `ignored` names.
    /// - Parameters:
    ///   - url: any URL; a relative one is taken with its base.
    ///   - headers: only those that make the answer differ, in any order; names are compared without case.
    ///   - variant: any text of the caller's own; nil by default.
    ///   - ignored: items of the query that are left out; none by default.
    public init(
        url: URL, headers: [(name: String, value: String)] = [], variant: String? = nil,
        ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) {
        self.init(
            subject: CanonicalURL(url.absoluteString, ignoring: ignored).text, headers: headers,
            variant: variant)
    }

    /// Makes the key of what the caller names `id`, wherever it is. Its first line is `id poster-7`, which is no URL.
    /// - Parameters:
    ///   - id: any text.
    ///   - headers: as in the other initialiser.
    ///   - variant: as in the other initialiser.
    public init(id: String, headers: [(name: String, value: String)] = [], variant: String? = nil) {
        self.init(subject: "id " + Self.escaped(id), headers: headers, variant: variant)
    }

    private init(subject: String, headers: [(name: String, value: String)], variant: String?) {
        guard !headers.isEmpty || variant != nil else {
            self.init(text: subject)
            return
        }
        let lines = headers.map { header in
            // The hash and not the value: a cookie or an Authorization has no business in a file.
            "\nheader \(Self.escaped(header.name).lowercased()) sha256:\(SHA256.hash(of: header.value).hexadecimal)"
        }
        // Headers of one name keep their order, which has a meaning (RFC 9110 section 5.3); sorting is stable.
        let ordered = lines.sorted { $0.prefix { $0 != ":" } < $1.prefix { $0 != ":" } }
        let last = variant.map(Self.line(ofVariant:)) ?? ""
        self.init(text: subject + ordered.joined() + last)
    }

    private init(text: String) {
        self.text = text
        digest = SHA256.hash(of: text)
    }

    /// The key of a value derived from this key's own, such as the picture at one size. Costs one hash.
    /// - Parameter name: any text.
    public func variant(_ name: String) -> CacheKey { CacheKey(text: text + Self.line(ofVariant: name)) }

    private static func line(ofVariant name: String) -> String { "\nvariant " + escaped(name) }

    /// The URL in its canonical spelling, or the name in its place: the first line of `text`.
    package var url: Substring { text.prefix { $0 != "\n" } }

    /// Whether both stand for the same text, told by their digests.
    public static func == (one: CacheKey, other: CacheKey) -> Bool { one.digest == other.digest }

    /// Feeds one ready-made word: the hashing was done when the key was made.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.first) }

    /// One line of printable ASCII for any text, and different lines for different texts.
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
