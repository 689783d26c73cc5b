package import Coalescing
import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
package import SystemSupport

extension ImageDownloader {
    /// The settings of a downloader.
    public struct Configuration: Sendable {
        /// The most transfers at once to one host and port. Default: 6.
        public var transfersPerHost = 6
        /// The most transfers at once in all. Default: 32.
        public var transfers = 32
        /// The largest accepted file in bytes, from the network or from a tier. Default: 32 MiB.
        public var maximumBytes = 32 * 1024 * 1024
        /// The most bytes of bodies in memory, for all transfers. Further bytes go to files without a name in
        /// ``temporaryFolder``. Default: 64 MiB.
        public var memoryForBodies = 64 * 1024 * 1024
        /// The folder for bodies that exceed ``memoryForBodies``; nil if nothing may touch the disk. Default: the
        /// system's temporary folder.
        public var temporaryFolder: String? = FileManager.default.temporaryDirectory.path
        /// The folder for partial bodies of transfers that did not finish. The next transfer resumes them, also in a
        /// later process. Default: nil, none; a loader with a disk tier sets it to a folder there.
        ///
        /// A body can be resumed if its status is 200, it has a strong validator, and the server does not refuse
        /// ranges. The folder keeps these parts of such a body:
        ///
        /// | the transfer | kept |
        /// |---|---|
        /// | was cancelled, because its last caller left, or the process was killed | ``partialMinimum`` bytes or more; less if a partial body was resumed |
        /// | failed: connection lost, timed out, body truncated | 4096 bytes or more |
        /// | had its whole body when its last caller left | the whole image, in both tiers |
        /// | was refused: too large, not an image | nothing |
        public var partialFolder: String?
        /// A larger body is written to ``partialFolder`` while it arrives, and so outlives a cancellation. A smaller
        /// one does not: a cancelled caller may be scrolling fast. In bytes. Default: 1 MiB.
        public var partialMinimum = 1024 * 1024
        /// The most bytes in ``partialFolder``. Default: 512 MiB.
        package var partialLimit = 512 * 1024 * 1024
        /// The most redirects of one request. Default: 10.
        public var maximumRedirects = 10
        /// How long each phase of a transfer may take; waiting for a slot does not count.
        public var timeouts = Timeouts()
        /// The rules for connections and redirects.
        public var security = SecurityPolicy()
        /// Provides credentials; not called for a request with its own `Authorization`. Default: nil, none.
        public var authenticator: (any Authenticator)?
        /// The decoders, whose formats are requested and recognised. Files in other formats of `ImageFormat` are
        /// accepted as images too. Default: JPEG, PNG, WebP, GIF and BMP.
        public var decoders: ImageDecoders
        /// Whether files that are not images are accepted. Default: false.
        public var acceptsAnyContent = false
        /// Whether answers with any status, and empty ones, are accepted and not errors: for a program that shows HTTP
        /// answers. Default: false.
        public var acceptsAnyStatus = false
        /// Private (for one user) or shared (RFC 9111). Loaders of different kinds must not share a disk tier. Default:
        /// private.
        public var cacheKind = CacheKind.private
        /// When failed transfers are retried, and when a host's circuit breaker opens.
        public var retry = RetryPolicy()
        /// The program's own rules for retries. Default: nil, those of ``retry``.
        public var retryStrategy: (any RetryStrategy)?
        /// May change each request before it is sent, such as to sign it: after all fields are set, for every attempt, also
        /// of an upload. It holds the slot meanwhile, and may not change the origin. An error ends the load: an
        /// ``ImageLoadingError`` as it is, another one as `.dataFailed`. Default: nil, nothing.
        public var beforeSending: (@Sendable (inout TransportRequest) async throws -> Void)?
        /// Receives every event of a transfer, for logs and metrics: on any thread, and must return soon. Default: nil,
        /// nobody.
        public var onTransferEvent: (@Sendable (TransferEvent) -> Void)?
        /// The longest time that a file on disk or in the shared tier is used after it came or was confirmed, whatever HTTP's
        /// rules and the cache policy allow. An older one is fetched again. ``MemoryCache`` has a limit of its own. Default:
        /// nil, none.
        public var maximumAge: Duration?
        /// The clock of retries.
        package var timing = RetryTiming.system
        /// The slots of several downloaders, so that a host sees its limit once. Default: nil, a downloader's own.
        package var slots: SlotQueue?
        /// The system calls for the files of bodies.
        package var fileCalls = FileCalls()
        /// Sent as `User-Agent`.
        public var userAgent = "Marquee"
        /// Sent with every request to its own origin. The request's fields replace equal ones. Do not put credentials
        /// here: loaders that share a disk tier would share the answers. Use ``authenticator`` or the request's fields.
        /// Default: none.
        public var fields = HeaderFields()

        /// The default settings.
        /// - Parameter decoders: the decoders. Default: JPEG, PNG, WebP, GIF and BMP.
        public init(decoders: ImageDecoders = .standard) { self.decoders = decoders }
    }
}

extension ImageDownloader.Configuration {
    /// New slots with the limits of the configuration.
    package func makeSlots() -> SlotQueue {
        SlotQueue(
            perHost: transfersPerHost, total: transfers,
            breaker: HostCircuitBreaker(failures: retry.failuresOfHost, pause: retry.pauseOfHost),
            now: timing.now)
    }

    /// A copy that uses no folders.
    var withoutDisk: Self {
        var configuration = self
        configuration.temporaryFolder = nil
        configuration.partialFolder = nil
        return configuration
    }
}
