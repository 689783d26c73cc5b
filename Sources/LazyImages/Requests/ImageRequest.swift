public import FoundationEssentials
public import ImageCodecs

/// Names an image to load, by a URL or by a closure that returns the bytes, and says how to load it. The initialiser
/// computes the cache keys: make a request once and keep it.
///
///     try ImageRequest("https://example.org/posters/1.jpg", targetSize: size, contentMode: .fill(.top))
///     ImageRequest(url: signedURL, id: "poster-7")
///     ImageRequest(id: "asset-7", data: { try await library.bytes(of: 7) })
public struct ImageRequest: Sendable, Hashable {
    /// How urgent a load is. The queue serves higher priorities first, and equal ones in order of arrival.
    public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// In ascending order: `veryLow` can wait longest, `veryHigh` is for what a person looks at.
        case veryLow, low, normal, high, veryHigh

        /// Whether `left` is less urgent than `right`.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Which sources may answer: the caches, the network, or both.
    public enum CachePolicy: Sendable, Hashable, CaseIterable {
        /// HTTP's rules (RFC 9111). A fresh file comes from a tier. A stale file is revalidated; if the server fails,
        /// the loader returns it all the same, marked stale.
        case useProtocol
        /// A tier's file, however old; else the network.
        case returnCacheElseLoad
        /// A tier's file, however old; else the error `.notCached`.
        case cacheOnly
        /// The network. Its answer replaces the tiers' file.
        case reload
    }

    /// The format of a stored result.
    public enum ResultFormat: Sendable, Hashable {
        /// Exactly the pixels.
        case png
        /// Smaller, with a quality of 1 to 100. A result with transparency becomes a PNG.
        case jpeg(quality: Int)
    }

    /// Returns the bytes of an image's file, in place of a transfer.
    typealias DataClosure = @Sendable () async throws -> [UInt8]

    /// The immutable part of a request, shared by its copies. A load copies its request often.
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
            let authorization = named.filter { $0.name.equalsIgnoringCase("authorization") }
            storageKey = authorization.count == named.count ? key : makeKey(authorization, variant, ignored)
        }
    }

    private let subject: Subject

    /// The image's URL: https, http, file or data. A user name and password in it have moved to ``fields``. A request
    /// with a closure has `id:` and its id here, for messages, and no host.
    public var url: URL { subject.url }
    /// The caller's name for the image. All tiers and transfers use it in place of the URL. Nil for none.
    public var id: String? { subject.id }
    /// Returns the bytes in place of a transfer; nil for a request with a URL.
    var data: DataClosure? { subject.data }
    /// The caller's header fields, such as `Authorization`. Requests with different fields share no transfer and no
    /// entry in memory. They share an entry on disk if its Vary allows that and their Authorization is the same. The
    /// loader obeys a Cache-Control among them. A redirect to another origin does not send them.
    public var fields: HTTPFields { subject.fields }
    /// How urgent the load is. Default: `.normal`.
    public var priority: Priority
    /// Which sources may answer: the caches, the network, or both. Default: `.useProtocol`.
    public var cachePolicy: CachePolicy
    /// Whether to load even while the host's circuit breaker is open: a person asks for another try.
    var overridesCircuitBreaker = false

    /// The wanted size in pixels, applied as ``contentMode`` says; images are never enlarged. Default: nil, the image's
    /// own size.
    public var targetSize: ImageSize? { didSet { updateImageKey() } }
    /// How an image of another shape is scaled to ``targetSize``: it fits into it (the default), or fills it and is
    /// cropped. Has no effect without a ``targetSize``.
    public var contentMode: ContentMode { didSet { updateImageKey() } }
    /// Changes the decoded image: step by step, after it has its ``targetSize``. Without a `targetSize`, a first step
    /// that resizes is the size to decode to. Requests with equal steps share a load and an image in memory; the disk
    /// has the original file. Default: none.
    public var processors: [ImageProcessor] { didSet { updateImageKey() } }
    /// The format in which the disk tier keeps the result of size and processors too, beside the original file. The next
    /// load of the same content then decodes the result alone. Has no effect on an image as it is. Default: nil, the
    /// original only.
    public var storesResult: ResultFormat? { didSet { updateImageKey() } }
    /// The SHA-256 that the bytes must have, 64 lower-case hexadecimal digits; nil for any. Requests with different
    /// checksums share a transfer, and each load checks its own.
    public var checksum: String? { subject.checksum }

    /// The key of the file in memory: URL or id, fields and the caller's variant.
    public var key: CacheKey { subject.key }
    /// The key of the file on disk: URL or id, Authorization and the caller's variant. A lookup compares the other
    /// fields only if the answer's Vary names them.
    public var storageKey: CacheKey { subject.storageKey }
    /// The key of the decoded image: the file's key, the size and the processors.
    private(set) var imageKey: CacheKey
    /// The key by which transfers are shared: URL or id, and fields.
    package var transferKey: CacheKey { subject.transferKey }

    /// A request for `url`.
    /// - Parameters:
    ///   - url: the image's URL: https, http, file or data.
    ///   - id: a name for an image whose address changes, such as a signed URL. Cache entries and transfers use it in
    ///     place of the URL, so it must always name the same image. Default: none.
    ///   - targetSize: the wanted size in pixels; nil for the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is.
    ///   - cachePolicy: which sources may answer.
    ///   - fields: header fields to send beside the library's own. Default: none.
    ///   - checksum: the SHA-256 that the bytes must have, in hexadecimal; nil for any.
    ///   - variant: any text. Requests with different variants share no cache entry. Default: none.
    ///   - ignored: query items that the cache key leaves out. The request still sends them. Default: none.
    public init(
        url: URL, id: String? = nil, targetSize: ImageSize? = nil, contentMode: ContentMode = .fit,
        processors: [ImageProcessor] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, fields: HTTPFields = HTTPFields(), checksum: String? = nil,
        variant: String? = nil, ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) {
        var fields = fields
        let bare = Self.movingCredentials(of: url, into: &fields)
        let subject = Subject(
            url: bare, id: id, fields: fields, checksum: checksum, variant: variant, ignored: ignored)
        self.init(subject, targetSize, contentMode, processors, priority, cachePolicy)
    }

    /// A request for a URL as a person types it, read by `URL(typed:relativeTo:)`.
    /// - Parameters:
    ///   - text: the URL, as a person types it.
    ///   - base: the base of a relative URL; nil for none.
    ///   - id: a name for an image whose address changes; nil for none.
    ///   - targetSize: the wanted size in pixels; nil for the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is.
    ///   - cachePolicy: which sources may answer.
    ///   - fields: header fields to send beside the library's own.
    ///   - checksum: the SHA-256 that the bytes must have, in hexadecimal; nil for any.
    ///   - variant: any text. Requests with different variants share no cache entry.
    ///   - ignored: query items that the cache key leaves out.
    /// - Throws: `.invalidURL`, `.unsupportedScheme`.
    public init(
        _ text: String, relativeTo base: URL? = nil, id: String? = nil, targetSize: ImageSize? = nil,
        contentMode: ContentMode = .fit, processors: [ImageProcessor] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, fields: HTTPFields = HTTPFields(), checksum: String? = nil,
        variant: String? = nil, ignoring ignored: IgnoredQuery = IgnoredQuery()
    ) throws(ImageLoadingError) {
        self.init(
            url: try URL(typed: text, relativeTo: base), id: id, targetSize: targetSize,
            contentMode: contentMode, processors: processors, priority: priority, cachePolicy: cachePolicy,
            fields: fields, checksum: checksum, variant: variant, ignoring: ignored)
    }

    /// A request for an image whose file the closure `data` returns.
    ///
    /// The loader calls the closure in place of a transfer: when no tier has the bytes, or with `.reload`. It waits in
    /// the queue by priority, runs on no particular actor, and runs once for all callers that wait. When the last
    /// caller leaves, its task is cancelled. The bytes are limited to ``ImageDownloader/Configuration/maximumBytes``,
    /// must be an image, and are kept in memory and on disk under `id`, where they stay fresh. An error becomes
    /// `.dataFailed`, unless it is an ``ImageLoadingError``. An error for which a transfer would be retried calls the
    /// closure again.
    /// - Parameters:
    ///   - id: the image's name, as in the other initialisers. Each image needs its own.
    ///   - targetSize: the wanted size in pixels; nil for the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is.
    ///   - cachePolicy: which sources may answer; the closure takes the place of the network.
    ///   - checksum: the SHA-256 that the bytes must have, in hexadecimal; nil for any.
    ///   - data: returns the bytes of the image's file, as `[UInt8]` or `Data`.
    public init<Bytes: Sequence<UInt8> & Sendable>(
        id: String, targetSize: ImageSize? = nil, contentMode: ContentMode = .fit,
        processors: [ImageProcessor] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, checksum: String? = nil,
        data: @escaping @Sendable () async throws -> Bytes
    ) {
        let subject = Subject(
            url: Self.url(ofID: id), id: id, data: { [UInt8](try await data()) }, fields: HTTPFields(),
            checksum: checksum, variant: nil, ignored: IgnoredQuery())
        self.init(subject, targetSize, contentMode, processors, priority, cachePolicy)
    }

    private init(
        _ subject: Subject, _ targetSize: ImageSize?, _ contentMode: ContentMode,
        _ processors: [ImageProcessor], _ priority: Priority, _ cachePolicy: CachePolicy
    ) {
        self.subject = subject
        self.targetSize = targetSize
        self.contentMode = contentMode
        self.processors = processors
        self.priority = priority
        self.cachePolicy = cachePolicy
        imageKey = subject.key
        updateImageKey()
    }

    /// `id:asset-7`, a scheme that is never fetched. An id that cannot be part of a URL is shown as a path.
    private static func url(ofID id: String) -> URL {
        var name = URL.percentEncoded(id)
        // Two slashes would begin a host (RFC 3986, section 3), and an id has none.
        if name.hasPrefix("//") { name = "%2F" + name.dropFirst() }
        return URL(string: "id:" + name) ?? URL(filePath: id)
    }

    private mutating func updateImageKey() { imageKey = pipeline.name.map(key.variant) ?? key }

    /// Whether both name the same image, at the same size and with the same processors, to be loaded in the same way.
    public static func == (one: Self, other: Self) -> Bool {
        one.priority == other.priority && one.cachePolicy == other.cachePolicy
            && one.imageKey == other.imageKey
            && (one.subject === other.subject
                || one.url == other.url && one.fields == other.fields && one.checksum == other.checksum)
    }

    /// Hashes the image's key, which differs in nearly all requests that differ.
    public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }

    /// Moves credentials from the URL to an Authorization field (RFC 7617), unless the caller gives one. In the URL
    /// they would be logged and stored.
    static func movingCredentials(of url: URL, into fields: inout HTTPFields) -> URL {
        // A URL without `@` has no credentials. This test is the cheapest.
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
    /// What to make of the file.
    var pipeline: ImagePipeline {
        ImagePipeline(targetSize, contentMode, processors, storing: storesResult)
    }

    /// Throws `.processingFailed` for a processor with a parameter that no image can have.
    func checkProcessors() throws(ImageLoadingError) {
        for processor in processors {
            do { try processor.check() } catch {
                throw .processingFailed(url: url.displayText, reason: error)
            }
        }
    }

    /// The directives of the request's own Cache-Control.
    var directives: CacheControl { CacheControl(fields) }

    /// Whether a file in memory may answer the request without a look at disk or network.
    func accepts(_ response: StoredResponse?, now: Int) -> Bool {
        guard cachePolicy == .useProtocol, let response else { return cachePolicy != .reload }
        return response.isFresh(at: now) && (fields.isEmpty || fields["cache-control"] == nil)
    }

    /// Whether it asks only for a range of the file.
    var isPartial: Bool { !fields.isEmpty && fields["range"] != nil }

    /// Whether the bytes match the request's checksum. Without a checksum all bytes do.
    func accepts(_ bytes: ImageBytes) -> Bool { checksum == nil || checksum == bytes.checksum }

    /// Throws `.checksumMismatch` for bytes that do not match the request's checksum.
    func check(_ bytes: ImageBytes) throws(ImageLoadingError) {
        guard let checksum else { return }
        let found = bytes.checksum
        if found != checksum {
            throw .checksumMismatch(url: url.displayText, expected: checksum, found: found)
        }
    }
}
