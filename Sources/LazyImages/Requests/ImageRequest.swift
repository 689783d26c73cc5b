public import FoundationEssentials
public import ImageCodecs

/// Names an image to load, by its address, and says how to load it. The initialiser computes the cache keys: make a
/// request once and keep it.
///
///     ImageRequest("https://example.org/posters/1.jpg", targetSize: size, contentMode: .fill(.top))
///     ImageRequest(.url(signedURL, id: "poster-7"), options: .init(priority: .high))
///     ImageRequest(.data(id: "asset-7") { try await library.bytes(of: 7) })
///
/// Two requests are equal if they name the same image, at the same size and with the same processors, to be loaded in
/// the same way. Two closures with the same id are the same image.
public struct ImageRequest: Sendable, Hashable {
    /// How urgent a load is. The queue serves higher priorities first, and equal ones in order of arrival.
    public enum Priority: Sendable, Hashable, Comparable, CaseIterable {
        /// In ascending order: `veryLow` can wait longest, `veryHigh` is for what a person looks at.
        case veryLow, low, normal, high, veryHigh

        /// 0 for `veryLow` to 4 for `veryHigh`, as flights and slots compare it.
        package var rank: Int {
            switch self {
            case .veryLow: 0
            case .low: 1
            case .normal: 2
            case .high: 3
            case .veryHigh: 4
            }
        }

        init?(rank: Int) {
            guard let priority = Self.allCases.first(where: { $0.rank == rank }) else { return nil }
            self = priority
        }
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

    /// The immutable part of a request, shared by its copies. A load copies its request often.
    private final class Identity: Sendable {
        let address: Address
        let url: URL
        let options: Options
        let fields: HeaderFields
        let key: CacheKey
        let fieldsKey: CacheKey
        let transferKey: CacheKey

        init(_ address: Address, _ options: Options) {
            self.address = address
            self.options = options
            var fields = options.fields
            let url =
                address.isData ? address.url : ImageRequest.movingCredentials(of: address.url, into: &fields)
            self.url = url
            self.fields = fields
            func makeKey(
                _ headers: [(name: String, value: String)], _ variant: String?, _ ignored: IgnoredQuery
            ) -> CacheKey {
                if let id = address.id { return CacheKey(id: id, headers: headers, variant: variant) }
                return CacheKey(url: url, headers: headers, variant: variant, ignoring: ignored)
            }
            let named = fields.fields.map { (name: $0.name, value: $0.value) }
            let (variant, ignored) = (options.variant, options.ignoredQuery)
            transferKey = makeKey(named, nil, IgnoredQuery())
            fieldsKey = variant == nil && ignored.isEmpty ? transferKey : makeKey(named, variant, ignored)
            let authorization = named.filter { $0.name.equalsIgnoringCase("authorization") }
            key = authorization.count == named.count ? fieldsKey : makeKey(authorization, variant, ignored)
        }
    }

    private var identity: Identity

    /// Where the image's file comes from.
    public var address: Address { identity.address }
    /// How to load the image. Setting it computes the cache keys again, unless only priority and cache policy change.
    public var options: Options {
        get {
            var options = identity.options
            (options.priority, options.cachePolicy) = (priority, cachePolicy)
            return options
        }
        set {
            (priority, cachePolicy) = (newValue.priority, newValue.cachePolicy)
            if newValue.differs(from: identity.options) { identity = Identity(address, newValue) }
            updateResultKey()
        }
    }
    /// The image's URL: https, http, file or data. A user name and password in it have moved to the fields. A request
    /// with a closure has `id:` and its id here, for messages, and no host.
    public var url: URL { identity.url }
    /// The header fields to send: the caller's, and credentials from the URL.
    package var fields: HeaderFields { identity.fields }
    /// The caller's name for the image: see ``Address``. Nil for none.
    var id: String? { address.id }
    /// Returns the bytes in place of a transfer; nil for a request with a URL.
    var data: DataClosure? { address.data }
    /// As in ``Options``, which has them for the caller: a load reads and changes these two often.
    package var priority: Priority
    package var cachePolicy: CachePolicy
    /// Whether to load even while the host's circuit breaker is open: a person asks for another try.
    var overridesCircuitBreaker = false

    /// The wanted size in pixels, applied as ``contentMode`` says; images are never enlarged. Default: nil, the image's
    /// own size.
    public var targetSize: ImageSize? { didSet { updateResultKey() } }
    /// How an image of another shape is scaled to ``targetSize``: it fits into it (the default), or fills it and is
    /// cropped. Has no effect without a ``targetSize``.
    public var contentMode: ContentMode { didSet { updateResultKey() } }
    /// Changes the decoded image: step by step, after it has its ``targetSize``. Without a `targetSize`, a first step
    /// that resizes is the size to decode to. Requests with equal steps share a load and an image in memory; the disk
    /// has the original file. Default: none.
    public var processors: [ImageProcessor] { didSet { updateResultKey() } }
    /// The format in which the disk tier keeps the result of size and processors too, beside the original file. The next
    /// load of the same content then decodes the result alone. Has no effect on an image as it is. Default: nil, the
    /// original only.
    public var storesResult: ResultFormat? { didSet { updateResultKey() } }
    /// As in ``Options``.
    var usesMemory: Bool { identity.options.usesMemory }
    var usesDisk: Bool { identity.options.usesDisk }
    var alternatives: [Address] { identity.options.alternatives }
    var timeLimit: Duration? { identity.options.timeLimit }
    var decoders: ImageDecoders? { identity.options.decoders }
    /// The SHA-256 that the bytes must have; nil for any.
    package var checksum: String? { identity.options.checksum }

    /// The key of the file, in memory and on disk: address, Authorization and the caller's variant. A lookup compares the
    /// other fields only if the answer's Vary names them.
    public var key: CacheKey { identity.key }
    /// The key of the decoded image in memory: the file's key, all fields, the size and the processors.
    public private(set) var resultKey: CacheKey
    /// The key by which transfers are shared: address and fields.
    package var transferKey: CacheKey { identity.transferKey }

    /// A request for the image at an address.
    /// - Parameters:
    ///   - address: where the image's file comes from. A literal is a URL.
    ///   - targetSize: the wanted size in pixels. Default: nil, the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size. Default: it fits into it.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - options: how to load the image.
    public init(
        _ address: Address, targetSize: ImageSize? = nil, contentMode: ContentMode = .fit,
        processors: [ImageProcessor] = [], options: Options = Options()
    ) {
        identity = Identity(address, options)
        self.targetSize = targetSize
        self.contentMode = contentMode
        self.processors = processors
        (priority, cachePolicy) = (options.priority, options.cachePolicy)
        resultKey = identity.fieldsKey
        updateResultKey()
    }

    /// Makes it the request of a person's retry: it uses the network, even if the failure is remembered or the host's
    /// circuit breaker is open. One that allows only the cache stays as it is.
    mutating func retry() {
        guard cachePolicy != .cacheOnly else { return }
        cachePolicy = .reload
        overridesCircuitBreaker = true
    }

    /// The request of another address for the same picture.
    init(_ address: Address, like request: ImageRequest, _ options: Options) {
        self.init(
            address, targetSize: request.targetSize, contentMode: request.contentMode,
            processors: request.processors, options: options)
        storesResult = request.storesResult
        overridesCircuitBreaker = request.overridesCircuitBreaker
    }

    private mutating func updateResultKey() {
        var name = pipeline.name
        if let decoders { name = (name ?? "") + "|by " + decoders.name }
        resultKey = name.map(identity.fieldsKey.variant) ?? identity.fieldsKey
    }

    /// Whether both name the same image, to be loaded in the same way.
    public static func == (one: Self, other: Self) -> Bool {
        one.priority == other.priority && one.cachePolicy == other.cachePolicy
            && one.resultKey == other.resultKey
            && (one.identity === other.identity
                || one.address == other.address
                    && !one.identity.options.differs(from: other.identity.options))
    }

    /// Hashes the image's key, which differs in nearly all requests that differ.
    public func hash(into hasher: inout Hasher) { hasher.combine(resultKey) }

    /// Moves credentials from the URL to an Authorization field (RFC 7617), unless the caller gives one. In the URL
    /// they would be logged and stored.
    static func movingCredentials(of url: URL, into fields: inout HeaderFields) -> URL {
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
