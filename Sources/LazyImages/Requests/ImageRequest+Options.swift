public import ImageCodecs

extension ImageRequest {
    /// How an image is loaded.
    public struct Options: Sendable, Hashable {
        /// How urgent the load is. Default: `.normal`.
        public var priority: Priority
        /// Which sources may answer: the caches, the network, or both. Default: `.useProtocol`.
        public var cachePolicy: CachePolicy
        /// Whether the memory tiers may answer, and keep the image. Default: true.
        public var usesMemory: Bool
        /// Whether the disk tier and the shared tier may answer, and keep the file. Default: true.
        public var usesDisk: Bool
        /// The longest time of one caller's load, with all waiting. After it the caller gets `.timedOut`; a load that others
        /// wait for continues. Default: nil, none.
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
        /// Any text. Requests with different variants share no cache entry. Default: nil, none.
        public var variant: String?
        /// Query items that the cache key leaves out. The request still sends them. Default: none.
        public var ignoredQuery: IgnoredQuery
        /// Where to load the image from if the load fails, in order. A cancelled load tries none. What is loaded is
        /// kept under the alternative's address. Used by ``ImageLoader``. Default: none.
        public var alternatives: [Address]

        /// Options with these values. ``Options`` has the defaults.
        public init(
            priority: Priority = .normal, cachePolicy: CachePolicy = .useProtocol, usesMemory: Bool = true,
            usesDisk: Bool = true, timeLimit: Duration? = nil, decoders: ImageDecoders? = nil,
            fields: HeaderFields = HeaderFields(), checksum: String? = nil, variant: String? = nil,
            ignoredQuery: IgnoredQuery = IgnoredQuery(), alternatives: [Address] = []
        ) {
            self.priority = priority
            self.cachePolicy = cachePolicy
            self.usesMemory = usesMemory
            self.usesDisk = usesDisk
            self.timeLimit = timeLimit
            self.decoders = decoders
            self.fields = fields
            self.checksum = checksum?.lowercased()
            self.variant = variant
            self.ignoredQuery = ignoredQuery
            self.alternatives = alternatives
        }

        /// Whether more than priority and cache policy differ.
        func differs(from other: Options) -> Bool {
            var other = other
            (other.priority, other.cachePolicy) = (priority, cachePolicy)
            return self != other
        }
    }
}
