public import FoundationEssentials
public import ImageCodecs

/// What to load: a URL, or a closure that gives the bytes, and what belongs to it. The cache keys are computed once, here:
/// make a request once and keep it.
///
///     try ImageRequest("https://example.org/posters/1.jpg", targetSize: size, contentMode: .fill(.top))
///     ImageRequest(url: signedURL, id: "poster-7")
///     ImageRequest(id: "asset-7", data: { try await library.bytes(of: 7) })
public struct ImageRequest: Sendable, Hashable {
    /// How urgent a load is. The queue serves higher ones first and, within one, whoever came first.
    public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// From what can wait longest to what a person looks at.
        case veryLow, low, normal, high, veryHigh

        /// Whether `left` is less urgent than `right`.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Whether the caches or the network answer.
    public enum CachePolicy: Sendable, Hashable, CaseIterable {
        /// What HTTP says (RFC 9111): what a tier has while it is fresh; when it is stale the server is asked whether it
        /// still holds, and if it fails, what the tier has is given, marked stale.
        case useProtocol
        /// What a tier has, however old, else the network.
        case returnCacheElseLoad
        /// What a tier has, else `.notCached`.
        case cacheOnly
        /// The network; what it brings replaces what the tiers have.
        case reload
    }

    /// Gives the bytes of an image's file, in place of a URL.
    typealias DataClosure = @Sendable () async throws -> [UInt8]

    /// What is made once, with the request, and shared by its copies: a load copies its request at every turn.
    private final class Subject: Sendable {
        let url: URL
        let id: String?
        let data: DataClosure?
        let fields: HTTPFields
        let checksum: String?
        let key: CacheKey
        let transferKey: CacheKey
        let storageKey: CacheKey

        init(
            url: URL, id: String?, data: DataClosure? = nil, fields: HTTPFields, checksum: String?,
            variant: String?, ignored: IgnoredQuery
        ) {
            self.url = url
            self.id = id
            self.data = data
            self.fields = fields
            self.checksum = checksum?.lowercased()
            func makeKey(
                _ headers: [(name: String, value: String)], _ variant: String?, _ ignored: IgnoredQuery
            ) -> CacheKey {
                if let id { return CacheKey(id: id, headers: headers, variant: variant) }
                return CacheKey(url: url, headers: headers, variant: variant, ignoring: ignored)
            }
            let named = fields.fields.map { (name: $0.name, value: $0.value) }
            transferKey = makeKey(named, nil, IgnoredQuery())
            key = variant == nil && ignored.isEmpty ? transferKey : makeKey(named, variant, ignored)
            let telling = named.filter { $0.name.equalsIgnoringCase("authorization") }
            storageKey = telling.count == named.count ? key : makeKey(telling, variant, ignored)
        }
    }

    private let subject: Subject

    /// Where the image is: https, http, file or data. A user's name and password that stood in it are in ``fields``. Of
    /// a request with a closure it is `id:` and its id, for messages.
    public var url: URL { subject.url }
    /// The caller's own name for the image, by which all tiers and transfers know it in place of its URL; nil for none.
    public var id: String? { subject.id }
    /// What gives the bytes in place of the URL; nil where the URL does.
    var data: DataClosure? { subject.data }
    /// Header fields of the caller's own, such as `Authorization`. They may make the answer differ: requests with
    /// different ones share no transfer and nothing in memory, and what is on disk only as far as its Vary allows; with
    /// another Authorization not even that. Cache-Control in them is obeyed. A redirect to another origin does not get
    /// them.
    public var fields: HTTPFields { subject.fields }
    /// How urgent it is. Default `.normal`.
    public var priority: Priority
    /// Whether the caches or the network answer. Default `.useProtocol`.
    public var cachePolicy: CachePolicy
    /// Whether its host is asked although it is left alone after failures: a person asks for another try.
    var insists = false

    /// The pixels that are wanted, as ``contentMode`` says; the image is never enlarged. Nil, the default, for its own
    /// size.
    public var targetSize: ImageSize? {
        didSet { imageKey = Self.imageKey(key, targetSize, contentMode) }
    }
    /// How an image of another shape is made to ``targetSize``: it fits into it, the default, or fills it and is
    /// cropped. Means nothing without a ``targetSize``.
    public var contentMode: ContentMode {
        didSet { imageKey = Self.imageKey(key, targetSize, contentMode) }
    }
    /// The SHA-256 the bytes must have, 64 lower-case hexadecimal digits; nil for any. Callers who expect different ones
    /// share a transfer, and each has its own checked.
    public var checksum: String? { subject.checksum }

    /// What memory has the file under: URL or id, fields and the caller's own variant.
    public var key: CacheKey { subject.key }
    /// What the disk tier has it under: URL or id, Authorization and the caller's own variant. The other fields are compared
    /// where the answer's Vary names them.
    public var storageKey: CacheKey { subject.storageKey }
    /// What the decoded image is cached under: the file's key and the size.
    private(set) var imageKey: CacheKey
    /// What a transfer is shared by: URL or id, and fields.
    var transferKey: CacheKey { subject.transferKey }

    /// A request for `url`.
    /// - Parameters:
    ///   - url: where the image is: https, http, file or data.
    ///   - id: a name for an image whose address changes, such as a signed URL: cache entries and transfers go by it in
    ///     place of the URL. It names one image, whoever asks for it, for as long as anything is cached. Default: none.
    ///   - targetSize: the pixels that are wanted; nil for the image's own size.
    ///   - contentMode: how an image of another shape is made to that size.
    ///   - priority: how urgent it is.
    ///   - cachePolicy: whether the caches or the network answer.
    ///   - fields: header fields to send beside the library's own. Default: none.
    ///   - checksum: the SHA-256 the bytes must have, in hexadecimal; nil for any.
    ///   - variant: a word of the caller's own that keeps results apart which would otherwise share a cache entry.
    ///   - ignored: items of the query that the cache key leaves out; the request is sent with them. Default: none.
    public init(
        url: URL, id: String? = nil, targetSize: ImageSize? = nil, contentMode: ContentMode = .fit,
        priority: Priority = .normal, cachePolicy: CachePolicy = .useProtocol,
        fields: HTTPFields = HTTPFields(), checksum: String? = nil, variant: String? = nil,
        ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) {
        var fields = fields
        let bare = Self.movingCredentials(of: url, into: &fields)
        let subject = Subject(
            url: bare, id: id, fields: fields, checksum: checksum, variant: variant, ignored: ignored)
        self.init(subject, targetSize, contentMode, priority, cachePolicy)
    }

    /// A request for a URL as a person types it: `URL(typed:relativeTo:)` says how it is read.
    /// - Parameters:
    ///   - text: the URL, as a person types it.
    ///   - base: what a relative URL begins from; nil for none.
    ///   - id: a name for an image whose address changes; nil for none.
    ///   - targetSize: the pixels that are wanted; nil for the image's own size.
    ///   - contentMode: how an image of another shape is made to that size.
    ///   - priority: how urgent it is.
    ///   - cachePolicy: whether the caches or the network answer.
    ///   - fields: header fields to send beside the library's own.
    ///   - checksum: the SHA-256 the bytes must have, in hexadecimal; nil for any.
    ///   - variant: a word of the caller's own that separates cache entries.
    ///   - ignored: items of the query that the cache key leaves out.
    /// - Throws: `.invalidURL`, `.unsupportedScheme`.
    public init(
        _ text: String, relativeTo base: URL? = nil, id: String? = nil, targetSize: ImageSize? = nil,
        contentMode: ContentMode = .fit, priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, fields: HTTPFields = HTTPFields(), checksum: String? = nil,
        variant: String? = nil, ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) throws(ImageLoadingError) {
        self.init(
            url: try URL(typed: text, relativeTo: base), id: id, targetSize: targetSize,
            contentMode: contentMode, priority: priority, cachePolicy: cachePolicy, fields: fields,
            checksum: checksum, variant: variant, ignoring: ignored)
    }

    /// A request for the image whose file `data` gives.
    ///
    /// The closure is called in place of a transfer: when no tier has the bytes, or with `.reload`; in its turn by
    /// priority, once however many callers wait, on no particular actor. It is cancelled when the last of them leaves.
    /// What it gives is limited to ``ImageDownloader/Configuration/maximumBytes``, checked to be an image, and kept in
    /// memory and on disk under `id`, where it does not grow old. What it throws becomes `.dataFailed`, unless it is an
    /// ``ImageLoadingError``; one of those that a transfer is tried again for has the closure called again.
    /// - Parameters:
    ///   - id: names the image, as in the other initialisers. Another image needs another id.
    ///   - targetSize: the pixels that are wanted; nil for the image's own size.
    ///   - contentMode: how an image of another shape is made to that size.
    ///   - priority: how urgent it is.
    ///   - cachePolicy: whether the caches or the closure answer.
    ///   - checksum: the SHA-256 the bytes must have, in hexadecimal; nil for any.
    ///   - data: gives the bytes of the image's file, as `[UInt8]` or `Data`.
    public init<Bytes: Sequence<UInt8> & Sendable>(
        id: String, targetSize: ImageSize? = nil, contentMode: ContentMode = .fit,
        priority: Priority = .normal, cachePolicy: CachePolicy = .useProtocol, checksum: String? = nil,
        data: @escaping @Sendable () async throws -> Bytes
    ) {
        let subject = Subject(
            url: Self.url(ofID: id), id: id, data: { [UInt8](try await data()) }, fields: HTTPFields(),
            checksum: checksum, variant: nil, ignored: IgnoredQuery())
        self.init(subject, targetSize, contentMode, priority, cachePolicy)
    }

    private init(
        _ subject: Subject, _ targetSize: ImageSize?, _ contentMode: ContentMode, _ priority: Priority,
        _ cachePolicy: CachePolicy
    ) {
        self.subject = subject
        self.targetSize = targetSize
        self.contentMode = contentMode
        self.priority = priority
        self.cachePolicy = cachePolicy
        imageKey = Self.imageKey(subject.key, targetSize, contentMode)
    }

    /// `id:asset-7`, a scheme that is never fetched. An id of which no URL can be made is shown as a path.
    private static func url(ofID id: String) -> URL {
        URL(string: "id:" + URL.percentEncoded(id)) ?? URL(filePath: id)
    }

    private static func imageKey(_ key: CacheKey, _ size: ImageSize?, _ mode: ContentMode) -> CacheKey {
        guard let size else { return key }
        let name = "\(size.width)x\(size.height)"
        return switch mode {
        case .fit: key.variant(name)
        case .fill(let anchor): key.variant("\(name)-fill-\(anchor.rawValue)")
        }
    }

    /// Whether both ask for the same, in the same way.
    public static func == (one: Self, other: Self) -> Bool {
        one.priority == other.priority && one.cachePolicy == other.cachePolicy
            && one.imageKey == other.imageKey
            && (one.subject === other.subject
                || one.url == other.url && one.fields == other.fields && one.checksum == other.checksum)
    }

    /// Feeds the key, which nearly all that differs makes different.
    public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }

    /// Credentials in a URL would be logged and stored with it: they become an Authorization field (RFC 7617), unless
    /// the caller gives one.
    static func movingCredentials(of url: URL, into fields: inout HTTPFields) -> URL {
        // What has no `@` has neither name nor password, and is told sooner.
        guard url.absoluteString.utf8.contains(UInt8(ascii: "@")), url.user() != nil || url.password() != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        let user = components.user ?? ""
        let password = components.password ?? ""
        components.user = nil
        components.password = nil
        guard let bare = components.url else { return url }
        if url.scheme?.lowercased().hasPrefix("http") == true, fields["authorization"] == nil {
            fields["Authorization"] = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        }
        return bare
    }
}

extension ImageRequest {
    /// What the image is made to when it is decoded; nil for its own size.
    var sizing: ImageSizing? { targetSize.map { ImageSizing($0, mode: contentMode) } }

    /// What its own Cache-Control asks for.
    var directives: CacheControl { CacheControl(fields) }

    /// Whether what memory has may answer it without anybody being asked.
    func accepts(_ response: StoredResponse?, now: Int) -> Bool {
        guard cachePolicy == .useProtocol, let response else { return cachePolicy != .reload }
        return response.isFresh(at: now) && (fields.isEmpty || fields["cache-control"] == nil)
    }

    /// Whether it asks for a part only.
    var isPartial: Bool { !fields.isEmpty && fields["range"] != nil }

    /// Whether these are the bytes the request expects: any, unless it names a checksum.
    func accepts(_ bytes: ImageBytes) -> Bool { checksum == nil || checksum == bytes.checksum }

    /// Throws `.checksumMismatch` for bytes that the request does not expect.
    func check(_ bytes: ImageBytes) throws(ImageLoadingError) {
        guard let checksum else { return }
        let found = bytes.checksum
        if found != checksum {
            throw .checksumMismatch(url: url.displayText, expected: checksum, found: found)
        }
    }
}
