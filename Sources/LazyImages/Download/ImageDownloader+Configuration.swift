import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
package import SystemSupport

extension ImageDownloader {
    /// Limits, and what is sent with every request.
    public struct Configuration: Sendable {
        /// Transfers at once to one host and port. Default 6.
        public var transfersPerHost = 6
        /// Transfers at once in all. Default 32.
        public var transfers = 32
        /// The largest body taken, from the network or of a loader's tiers, in bytes. Default 32 MiB.
        public var maximumBytes = 32 * 1024 * 1024
        /// Bytes of bodies in memory at once, over all transfers; what exceeds them goes to a file without a name in
        /// ``temporaryFolder``. Default 64 MiB.
        public var memoryForBodies = 64 * 1024 * 1024
        /// A folder for bodies that memory has no room for; nil if nothing may touch the disk. Default: the system's.
        public var temporaryFolder: String? = FileManager.default.temporaryDirectory.path
        /// A folder for the bodies of transfers that did not end, so that the next one, in a later process too, goes on where
        /// they stopped; nil, the default, to begin anew. A loader with a disk tier sets it to one there.
        ///
        /// What is kept, of bodies that can be resumed: status 200, a strong validator, and a server that takes ranges.
        ///
        /// | the transfer | kept |
        /// |---|---|
        /// | was cancelled, because its last caller left, or the process was killed | ``partialMinimum`` bytes or more; less where a part was resumed |
        /// | broke: connection lost, time out, body too short | 4096 bytes or more |
        /// | had all of its body when its last caller left | the whole image, in both tiers |
        /// | was refused: too large, no image | nothing |
        public var partialFolder: String?
        /// From how many bytes on a body is written to ``partialFolder`` as it comes, and so outlives a cancellation.
        /// Fewer are given up: a caller that leaves early may be scrolling past a thousand images. Default 1 MiB.
        public var partialMinimum = 1024 * 1024
        /// The most bytes that folder may have, 512 MiB by default.
        public var partialLimit = 512 * 1024 * 1024
        /// Redirects followed for one request. Default 10.
        public var maximumRedirects = 10
        /// How long each phase of a transfer may take; waiting for a slot does not count.
        public var timeouts = Timeouts()
        /// Which servers are spoken to.
        public var security = SecurityPolicy()
        /// Answers what servers ask of whom they let in; nil, the default, answers nothing. A caller's own `Authorization`
        /// goes before it.
        public var authenticator: (any Authenticator)?
        /// The formats that are asked for and recognised, and what decodes them. Formats that `ImageFormat` names are taken for
        /// images even if nothing here decodes them. Default: JPEG and PNG.
        public var decoders = ImageDecoders.standard
        /// Whether what is not an image is taken too. Default false.
        public var acceptsAnyContent = false
        /// Whether an answer of any status, empty or not, is taken as it is and not as an error: for a program that shows
        /// HTTP and not pictures. Default false.
        public var acceptsAnyStatus = false
        /// Whose requests the tiers answer (RFC 9111): one user's, the default, or everybody's. Loaders of different kinds
        /// must not share a disk tier.
        public var cacheKind = CacheKind.private
        /// When a transfer that failed is tried again.
        public var retry = RetryPolicy()
        /// What retries go by.
        package var timing = RetryTiming.system
        /// The calls of the system for the files of bodies.
        package var fileCalls = FileCalls()
        /// Sent as `User-Agent`.
        public var userAgent = "Marquee"
        /// Sent with every request to its own origin, beside the library's own fields and before the request's. Loaders
        /// that share a disk tier share what these bring: credentials belong into requests, or to ``authenticator``.
        /// Default: none.
        public var fields = HTTPFields()

        /// The defaults.
        public init() {}
    }
}

extension ImageDownloader.Configuration {
    /// The same, with nothing on disk.
    var withoutDisk: Self {
        var configuration = self
        configuration.temporaryFolder = nil
        configuration.partialFolder = nil
        return configuration
    }
}
