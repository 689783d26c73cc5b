public import FoundationEssentials
public import ImageCodecs

/// Names an image to load, by its address, and says how to load it. The initialiser computes the cache keys: make a
/// request once and keep it.
///
///     ImageRequest("https://example.org/posters/1.jpg", targetSize: size, contentMode: .fill(.top))
///     ImageRequest(url: signedURL, id: "poster-7", priority: .high)
///     ImageRequest(id: "asset-7") { try await library.bytes(of: 7) }
///
/// Two requests are equal if they name the same image, at the same size and with the same processors, to be loaded in
/// the same way. Two closures with the same id are the same image.
public struct ImageRequest: Sendable, Hashable {
    /// How urgent a load is. The queue serves higher priorities first, and equal ones in order of arrival.
    public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// In ascending order: `veryLow` can wait longest, `veryHigh` is for what a person looks at.
        case veryLow, low, normal, high, veryHigh

        /// 0 for `veryLow` to 4 for `veryHigh`, as flights and slots compare it.
        package var rank: Int { rawValue }

        /// Whether a priority is lower than another.
        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
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
        /// Smaller, with a quality of 1 to 100; the load fails with another one. A result with transparency becomes a PNG.
        case jpeg(quality: Int)
        /// In one of the formats above, and without the original, whose freshness and validators are kept. The image's
        /// header is the result's then. Each size that is not stored needs a transfer of its own. The original is kept too
        /// if it is on disk already, if it is damaged or cannot be stored as a result, or if a revalidation in the
        /// background brings a new one.
        indirect case only(ResultFormat)

        /// The format of the file.
        var encoding: ResultFormat { if case .only(let format) = self { format.encoding } else { self } }
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

    /// How to load the image. Setting it computes the cache keys again.
    public var options: Options {
        get { identity.options }
        set {
            identity = Identity(identity.address, newValue)
            updateResultKey()
        }
    }
    /// The image's URL: https, http, file or data. A user name and password in it have moved to the fields. A request
    /// with a closure has `id:` and its id here, for messages, and no host.
    public var url: URL { identity.url }
    /// The header fields to send: the caller's, and credentials from the URL.
    package var fields: HeaderFields { identity.fields }
    /// The caller's name for the image. All tiers and transfers use it in place of the URL. Nil for none.
    public var id: String? { identity.address.id }
    /// Returns the bytes in place of a transfer; nil for a request with a URL.
    var data: DataClosure? { identity.address.data }
    /// How urgent the load is. Default: `.normal`.
    public var priority: Priority
    /// Which sources may answer: the caches, the network, or both. Default: `.useProtocol`.
    public var cachePolicy: CachePolicy
    /// Whether to load even while the host's circuit breaker is open: a person asks for another try.
    var overridesCircuitBreaker = false
    /// Whether the load takes its stored result in place of the file: only loads of images do.
    var acceptsResult = false

    /// The wanted size in pixels, applied as ``contentMode`` says; images are never enlarged. Default: nil, the image's
    /// own size.
    public var targetSize: ImageSize? { didSet { updateResultKey() } }
    /// How an image of another shape is scaled to ``targetSize``: it fits into it (the default), or fills it and is
    /// cropped. Has no effect without a ``targetSize``.
    public var contentMode: ImageContentMode { didSet { updateResultKey() } }
    /// Changes the decoded image: step by step, after it has its ``targetSize``. Without a `targetSize`, a first step
    /// that resizes is the size to decode to. Requests with equal steps share a load and an image in memory; the disk
    /// has the original file. Default: none.
    public var processors: [any ImageProcessing] { didSet { updateResultKey() } }
    /// The format in which the disk tier keeps the result of size and processors, beside the original file or, with
    /// `.only`, in its place. The next load of the same content then decodes the result alone. Has no effect on an image as
    /// it is. Default: nil, the original only.
    public var storesResult: ResultFormat? { didSet { updateResultKey() } }
    /// As in ``Options``.
    var usesMemory: Bool { identity.options.usesMemory }
    var usesDisk: Bool { identity.options.usesDisk }
    var alternatives: [ImageRequest] { identity.options.alternatives }
    var timeLimit: Duration? { identity.options.timeLimit }
    var decoders: ImageDecoders? { identity.options.decoders }
    var acceptsDamage: Bool { identity.options.acceptsDamage }
    /// The SHA-256 that the bytes must have; nil for any.
    package var checksum: String? { identity.options.checksum }

    /// The key of the file, in memory and on disk: address, Authorization and the caller's variant. A lookup compares the
    /// other fields only if the answer's Vary names them.
    public var key: CacheKey { identity.key }
    /// The key of the decoded image in memory: the file's key, all fields, the size and the processors.
    public private(set) var resultKey: CacheKey
    /// The key by which transfers are shared: address and fields.
    package var transferKey: CacheKey { identity.transferKey }

    /// A request for the image at a URL.
    /// - Parameters:
    ///   - url: an https, http, file or data URL.
    ///   - id: a name for an image whose URL changes, such as a signed one. Cache entries and transfers use it in place
    ///     of the URL, so it must always name the same image. Default: nil, none.
    ///   - targetSize: the wanted size in pixels. Default: nil, the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size. Default: it fits into it.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is. Default: `.normal`.
    ///   - cachePolicy: which sources may answer. Default: `.useProtocol`.
    ///   - options: how to load the image.
    public init(
        url: URL, id: String? = nil, targetSize: ImageSize? = nil, contentMode: ImageContentMode = .fit,
        processors: [any ImageProcessing] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, options: Options = Options()
    ) {
        self.init(
            Address(url: url, id: id), targetSize, contentMode, processors, priority, cachePolicy, options)
    }

    /// A request for the image at a URL, as `init(url:id:targetSize:contentMode:processors:options:)`.
    /// - Parameters:
    ///   - url: an https, http, file or data URL.
    ///   - targetSize: the wanted size in pixels. Default: nil, the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size. Default: it fits into it.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is. Default: `.normal`.
    ///   - cachePolicy: which sources may answer. Default: `.useProtocol`.
    ///   - options: how to load the image.
    public init(
        _ url: URL, targetSize: ImageSize? = nil, contentMode: ImageContentMode = .fit,
        processors: [any ImageProcessing] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, options: Options = Options()
    ) {
        self.init(
            Address(url: url, id: nil), targetSize, contentMode, processors, priority, cachePolicy, options)
    }

    /// A request for the image at a URL as a person types it. Characters that a URL must not contain are
    /// percent-encoded, what is encoded stays, and white space around the text is dropped. The load of text that cannot
    /// be read fails with `.invalidURL` or `.unsupportedScheme`.
    /// - Parameters:
    ///   - text: an https, http, file or data URL.
    ///   - base: the base of a relative URL. Default: nil, none.
    ///   - id: a name for an image whose URL changes, as in `init(url:id:targetSize:contentMode:processors:options:)`.
    ///   - targetSize: the wanted size in pixels. Default: nil, the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size. Default: it fits into it.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is. Default: `.normal`.
    ///   - cachePolicy: which sources may answer. Default: `.useProtocol`.
    ///   - options: how to load the image.
    public init(
        _ text: String, relativeTo base: URL? = nil, id: String? = nil, targetSize: ImageSize? = nil,
        contentMode: ImageContentMode = .fit, processors: [any ImageProcessing] = [],
        priority: Priority = .normal, cachePolicy: CachePolicy = .useProtocol, options: Options = Options()
    ) {
        self.init(
            Address(text, relativeTo: base, id: id), targetSize, contentMode, processors, priority,
            cachePolicy, options)
    }

    /// A request for the image whose file a closure returns.
    ///
    /// The loader calls it in place of a transfer: when no tier has the bytes, or with `.reload`. It waits in the queue
    /// by priority, runs on no particular actor, and runs once for all callers that wait. When the last caller leaves,
    /// its task is cancelled. The bytes are limited to ``ImageDownloader/Configuration/maximumBytes``, must be an image,
    /// and are kept in memory and on disk under `id`, where they stay fresh. An error becomes `.dataFailed`, unless it is
    /// an ``ImageLoadingError``. An error for which a transfer would be retried calls the closure again.
    /// - Parameters:
    ///   - id: the image's name. Each image needs its own.
    ///   - targetSize: the wanted size in pixels. Default: nil, the image's own size.
    ///   - contentMode: how an image of another shape is scaled to that size. Default: it fits into it.
    ///   - processors: change the decoded image, in their order. Default: none.
    ///   - priority: how urgent the load is. Default: `.normal`.
    ///   - cachePolicy: which sources may answer. Default: `.useProtocol`.
    ///   - options: how to load the image.
    ///   - data: returns the bytes, as `[UInt8]` or `Data`.
    public init<Bytes: Sequence<UInt8> & Sendable>(
        id: String, targetSize: ImageSize? = nil, contentMode: ImageContentMode = .fit,
        processors: [any ImageProcessing] = [], priority: Priority = .normal,
        cachePolicy: CachePolicy = .useProtocol, options: Options = Options(),
        data: @escaping @Sendable () async throws -> Bytes
    ) {
        let address = Address(id: id, data: DataClosure { [UInt8](try await data()) })
        self.init(address, targetSize, contentMode, processors, priority, cachePolicy, options)
    }

    private init(
        _ address: Address, _ targetSize: ImageSize?, _ contentMode: ImageContentMode,
        _ processors: [any ImageProcessing], _ priority: Priority, _ cachePolicy: CachePolicy,
        _ options: Options
    ) {
        identity = Identity(address, options)
        self.targetSize = targetSize
        self.contentMode = contentMode
        self.processors = processors
        (self.priority, self.cachePolicy) = (priority, cachePolicy)
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

    /// The same picture from an alternative's address, loaded as that says.
    func at(_ alternative: ImageRequest) -> ImageRequest {
        var options = alternative.options
        options.alternatives = []
        var request = ImageRequest(
            alternative.identity.address, targetSize, contentMode, processors, alternative.priority,
            alternative.cachePolicy, options)
        request.storesResult = storesResult
        request.overridesCircuitBreaker = overridesCircuitBreaker
        return request
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
                || one.identity.address == other.identity.address
                    && one.identity.options == other.identity.options)
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
        ImagePipeline(
            targetSize, contentMode, processors.map { ImageProcessor($0) }, storing: storesResult)
    }

    /// Whether the disk tier keeps the original file.
    var keepsOriginal: Bool {
        guard acceptsResult, case .only = storesResult else { return true }
        return pipeline.resultFormat == nil
    }

    /// The same for a load without an image: it keeps the original.
    var forFile: ImageRequest {
        var request = self
        request.acceptsResult = false
        return request
    }

    /// Throws `.processingFailed` for a parameter that no image can have.
    func checkParameters() throws(ImageLoadingError) {
        do throws(ImageProcessingError) {
            for processor in processors { try ImageProcessor(processor).check() }
            if case .jpeg(let quality) = storesResult?.encoding, !(1...100).contains(quality) {
                throw .invalidParameter(processor: "storesResult", reason: "the quality must be 1 to 100")
            }
        } catch {
            throw .processingFailed(url: url.displayText, reason: error)
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

    /// Whether a file with this SHA-256 matches the request's checksum. Without a checksum all files do.
    func accepts(_ content: @autoclosure () -> String) -> Bool { checksum.map { $0 == content() } ?? true }

    /// Whether an image with this damage answers the request.
    func accepts(_ damage: ImageDecodingError?) -> Bool { damage == nil || acceptsDamage }

    /// Throws `.checksumMismatch` for a file that does not match the request's checksum.
    func check(_ content: @autoclosure () -> String) throws(ImageLoadingError) {
        guard let checksum else { return }
        let found = content()
        if found != checksum {
            throw .checksumMismatch(url: url.displayText, expected: checksum, found: found)
        }
    }
}

extension ImageRequest {
    /// Where an image's file comes from. Addresses are equal if they have the same URL and id, or closures with the same
    /// id.
    fileprivate struct Address: Sendable, Hashable {
        /// The URL as the caller gave it. Of a closure: `id:` and its id, a scheme that is never fetched.
        let url: URL
        let id: String?
        let data: DataClosure?

        init(url: URL, id: String?) { (self.url, self.id, data) = (url, id, nil) }

        init(id: String, data: DataClosure) {
            var name = URL.percentEncoded(id)
            // Two slashes would begin a host (RFC 3986, section 3), and an id has none.
            if name.hasPrefix("//") { name = "%2F" + name.dropFirst() }
            // An id that cannot be part of a URL is shown as a path.
            url = URL(string: "id:" + name) ?? URL(filePath: id)
            (self.id, self.data) = (id, data)
        }

        init(_ text: String, relativeTo base: URL?, id: String?) {
            do {
                self.init(url: try URL(typed: text, relativeTo: base), id: id)
            } catch {
                let failure = error
                self.init(id: id ?? text, data: DataClosure { () async throws in throw failure })
            }
        }

        var isData: Bool { data != nil }
    }

    /// Returns the bytes of an image's file, in place of a transfer. All closures are equal: their ids tell them apart.
    struct DataClosure: Sendable, Hashable {
        let bytes: @Sendable () async throws -> [UInt8]

        static func == (one: Self, other: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

extension ImageRequest: CustomStringConvertible {
    /// The URL without credentials, the target size and the processors, on one line.
    public var description: String {
        ([url.displayText] + [targetSize?.description].compactMap(\.self) + processors.map(\.identifier))
            .joined(separator: ", ")
    }
}

extension ImageRequest: ExpressibleByStringInterpolation {
    /// The URL in a literal.
    /// - Parameter text: the URL.
    public init(stringLiteral text: String) {
        self.init(Address(text, relativeTo: nil, id: nil), nil, .fit, [], .normal, .useProtocol, Options())
    }
}

extension ImageRequest {
    /// How an image is loaded.
    public struct Options: Sendable, Hashable {
        /// Whether the memory tiers may answer, and keep the image. Default: true.
        public var usesMemory: Bool
        /// Whether the disk tier and the shared tier may answer, and keep the file. Default: true.
        public var usesDisk: Bool
        /// The longest time of one caller's load, with all waiting. After it the caller gets `.timedOut`; a load that others
        /// wait for continues. With ``alternatives`` it is the longest time until this request's own file is there; then
        /// the first alternative is tried, for as long as its own options say. Default: nil, none.
        public var timeLimit: Duration?
        /// Decode the file in place of the loader's decoders, which still recognise it. Decoders of other types make
        /// another image. Default: nil, the loader's.
        public var decoders: ImageDecoders?
        /// Header fields to send beside the library's own, such as `Authorization`. Requests with different fields share
        /// no transfer and no decoded image. They share a file, in memory and on disk, if its Vary allows that and their
        /// Authorization is the same. The loader obeys a Cache-Control among them. A redirect to another origin does not
        /// send them. Default: none.
        public var fields: HeaderFields
        /// The SHA-256 that the bytes must have, 64 lower-case hexadecimal digits. Requests with different checksums share
        /// a transfer, and each load checks its own. Default: nil, any.
        public var checksum: String?
        /// Whether a damaged image is shown as far as it goes, with its ``LoadedImage/damage``. If false, it is the error
        /// `.undecodable`. Default: true.
        public var acceptsDamage: Bool
        /// Any text. Requests with different variants share no cache entry. Default: nil, none.
        public var variant: String?
        /// Query items that the cache key leaves out. The request still sends them. Default: none.
        public var ignoredQuery: IgnoredQuery
        /// Where to load the image from if the load fails, in order, each with its own options. Their sizes and
        /// processors are not used. A cancelled load tries none. What is loaded is kept under the alternative's address.
        /// Used by ``ImageLoader``. Default: none.
        public var alternatives: [ImageRequest]

        /// Options with these values. ``Options`` has the defaults.
        public init(
            usesMemory: Bool = true, usesDisk: Bool = true, timeLimit: Duration? = nil,
            decoders: ImageDecoders? = nil, fields: HeaderFields = HeaderFields(), checksum: String? = nil,
            acceptsDamage: Bool = true, variant: String? = nil,
            ignoredQuery: IgnoredQuery = IgnoredQuery(), alternatives: [ImageRequest] = []
        ) {
            self.usesMemory = usesMemory
            self.usesDisk = usesDisk
            self.timeLimit = timeLimit
            self.decoders = decoders
            self.fields = fields
            self.checksum = checksum?.lowercased()
            self.acceptsDamage = acceptsDamage
            self.variant = variant
            self.ignoredQuery = ignoredQuery
            self.alternatives = alternatives
        }
    }
}

/// What a load makes of an image's file: it decodes it to a size, and then takes some steps.
struct ImagePipeline: Sendable {
    /// The size to decode to; nil for the image's own size.
    let sizing: ImageSizing?
    /// The steps after that.
    let steps: [ImageProcessor]
    /// The format in which the disk tier keeps the result; nil for not there.
    let resultFormat: ImageRequest.ResultFormat?
    /// Whether it keeps only that.
    private let isOnlyResult: Bool

    /// Without a target size, a first step that resizes is the size to decode to. The result is stored only if it is
    /// not the image as it is.
    init(
        _ targetSize: ImageSize?, _ contentMode: ImageContentMode, _ processors: [ImageProcessor],
        storing format: ImageRequest.ResultFormat?
    ) {
        if let targetSize {
            sizing = ImageSizing(targetSize, mode: contentMode)
            steps = processors
        } else {
            sizing = processors.first?.sizing
            steps = sizing == nil ? processors : Array(processors.dropFirst())
        }
        let stored = sizing == nil && steps.isEmpty ? nil : format
        resultFormat = stored?.encoding
        isOnlyResult = stored != resultFormat
    }

    /// Gives the image as it is.
    static let none = ImagePipeline(nil, .fit, [], storing: nil)

    /// The name in the cache key of the image in memory; nil for the image as it is.
    var name: String? { isOnlyResult ? resultName.map { $0 + "|only" } : resultName }

    /// The name of the result. Pipelines with equal names give equal results. Each step's name has its length before it,
    /// so that no name can look like two.
    private var resultName: String? {
        let size = sizing?.name
        guard !steps.isEmpty || resultFormat != nil else { return size }
        var name = size ?? ""
        for step in steps { name += "|\(step.identifier.utf8.count):\(step.identifier)" }
        if let resultFormat { name += "|\(resultFormat)" }
        return name
    }

    /// The version of the steps. It grows whenever a step gives other pixels: stored results are then made anew.
    private static let version = 1

    /// The key of the result of a file on disk; nil if it is not stored there. It names the file by its content: a
    /// changed file never gives an old result.
    /// - Parameter content: the SHA-256 of the file.
    func resultKey(ofContent content: String) -> CacheKey? {
        guard resultFormat != nil, let name = resultName else { return nil }
        return CacheKey(id: "result \(Self.version) \(content) \(name)")
    }
}
