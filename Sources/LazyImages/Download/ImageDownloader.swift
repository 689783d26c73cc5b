package import Coalescing
import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
package import SystemSupport

/// Downloads images. All callers with the same URL and fields share one transfer. A transfer follows redirects, retries
/// after failures, and stores the file in the tiers before it finishes.
///
///     let downloader = ImageDownloader()
///     let file = try await downloader.download(ImageRequest("https://example.org/posters/1.jpg"))
///
/// Transfers get their slots by priority, then in order of arrival. The configuration limits how many run at once, in
/// all and for each host. An answer that is not an image, is empty, truncated or too large is an error with URL and
/// reason.
///
/// When the last caller leaves, the transfer is cancelled. ``Configuration/partialFolder`` says what is kept then, and
/// after a failure.
///
/// The actor is the face of a table of flights and a queue for slots, each with a lock. A caller joins, leaves and
/// changes its priority without waiting, as `onCancel` and `ImageTask` must; an actor could not offer that.
public actor ImageDownloader {
    /// The network activity of this downloader.
    public nonisolated let activity: NetworkActivity

    /// The transfers by key.
    nonisolated let flights = FlightTable<CacheKey, LoadedFile, ImageLoadingError, LoadEvent>()
    /// The transfers in the background.
    private nonisolated let background = Lock<[ObjectIdentifier: DownloadFlight]>([:])
    nonisolated let tiers: FileTiers
    nonisolated let context: FetchContext
    nonisolated let budget: BodyBudget
    nonisolated let partials: PartialStore?
    /// Read and write the files of bodies.
    nonisolated let threads = BlockingThreads(count: 2, name: "LazyImages.body")

    /// A downloader of its own, without caches.
    /// - Parameters:
    ///   - configuration: the settings.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    public init(configuration: Configuration = Configuration(), transport: any Transport = CurlTransport()) {
        self.init(
            transport: transport,
            tiers: FileTiers(memory: nil, disk: nil, clock: .system, configuration: configuration))
    }

    /// - Parameters:
    ///   - transport: makes the HTTP requests.
    ///   - tiers: where transfers store their files.
    init(transport: any Transport, tiers: FileTiers) {
        let configuration = tiers.configuration
        self.tiers = tiers
        context = FetchContext(configuration, transport)
        activity = context.activity
        budget = BodyBudget(limit: configuration.memoryForBodies)
        partials = configuration.partialFolder.map {
            PartialStore(
                path: $0, limit: configuration.partialLimit, minimum: configuration.partialMinimum,
                kind: configuration.cacheKind, calls: configuration.fileCalls, disk: tiers.disk)
        }
    }

    /// Downloads a file, whatever the caches have. Equal requests share one transfer. The downloader of a loader stores
    /// the file in the loader's tiers. Cancelling the calling task makes only this caller leave.
    /// - Parameter request: the image to download, with an https or http URL or a closure. Its cache policy has no
    ///   effect.
    /// - Returns: the file, whose bytes are a whole image.
    /// - Throws: the reason why there is no file; `.httpStatus` for an answer without one; `.cancelled` if the calling
    ///   task is cancelled.
    public func download(_ request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile {
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        let file = try await join(DownloadRequest(request, replacing: nil), request.priority.rank).value
        if let status = file.status, status != 200, file.head == nil {
            throw .httpStatus(url: file.url.displayText, status: status)
        }
        try request.check(file.content)
        return file
    }

    /// The faults of the partial bodies' folder.
    package nonisolated var partialCounters: PartialCounters { partials?.counters ?? PartialCounters() }

    /// How many transfers there are, including those that wait for a slot.
    package nonisolated var transferCount: Int { flights.running.count }

    /// How many transfers and uploads wait for a slot.
    package nonisolated var waitingCount: Int { context.slots.waitingCount }

    // MARK: Callers

    /// Joins a transfer, or begins it.
    /// - Parameters:
    ///   - listener: receives the events of the transfer.
    ///   - look: the caller's look in the tiers; nil for one that begins with the transfer.
    nonisolated func join(
        _ wanted: DownloadRequest, _ priority: Int, listener: LoadListener? = nil,
        since look: Look? = nil
    ) -> DownloadFlight.Caller {
        flights.join(
            wanted.key, priority: priority, listener: listener, since: look?.ends,
            unless: { now in look.map { now.outdate(wanted.request.key.url, since: $0.removals) } ?? false },
            cancelled: { .cancelled(url: wanted.request.url.displayText) }, isImmediate: true
        ) { [self] flight, mustLook throws(ImageLoadingError) in
            try await file(for: wanted, flight, mustLook: mustLook, look?.mark)
        }
    }

    /// A caller's look in the tiers.
    struct Look: Sendable {
        /// How many transfers had ended before it; nil for a caller that wants the network in any case.
        let ends: Int?
        /// The removals before the caller's load began.
        let removals: Removals
        /// The mark of the claims before it; nil if there was none.
        var mark: ClaimFile.Mark?
    }

    /// Whether a request's file was removed since a load began: what the load brings must not be stored.
    nonisolated func isOutdated(_ request: ImageRequest, since removals: Removals) -> Bool {
        flights.removals.outdate(request.key.url, since: removals)
    }

    private static let backgroundPriority = ImageRequest.Priority.low.rank

    /// Begins a transfer in the background, unless an equal one is running or the file was removed since.
    nonisolated func startInBackground(_ wanted: DownloadRequest, since look: Look) {
        if flights[wanted.key] != nil || isOutdated(wanted.request, since: look.removals) { return }
        let caller = join(wanted, Self.backgroundPriority, since: look)
        let flight = caller.flight
        background.withLock { $0[ObjectIdentifier(flight)] = flight }
        caller.listen(
            LoadListener { [weak self] event in
                guard event == nil else { return }
                self?.background.withLock { $0[ObjectIdentifier(flight)] = nil }
            })
    }

    /// Returns when the transfers in the background have finished, or the calling task is cancelled.
    nonisolated func waitForBackground() async {
        for flight in background.withLock({ Array($0.values) }) {
            // Ignored: after a failure the stored file stays as it was.
            _ = try? await flight.join(Self.backgroundPriority)?.value
        }
    }

    /// Makes the running transfers of a request's address store nothing, whatever their fields and the query items that
    /// the request ignores: their files may have the same key. Later callers begin new transfers.
    nonisolated func invalidate(_ request: ImageRequest) {
        let (address, file) = (request.transferKey.url, request.key.url)
        let ignored = request.options.ignoredQuery
        flights.invalidate(address == file ? [address] : [address, file]) { key in
            if key.url == address { return true }
            guard !ignored.isEmpty, key.isOfURL else { return false }
            return CanonicalURL.text(of: String(key.url), ignoring: ignored) == file
        }
    }

    /// Makes all running transfers store nothing. Later callers begin new transfers.
    nonisolated func invalidateAll() { flights.invalidateAll() }

    /// Removes all partial bodies that no transfer uses.
    nonisolated func removePartials() async {
        guard let partials else { return }
        await BlockingThreads.runOnOwnThread { partials.removeAll() }
    }

    /// Removes the partial body of a request, unless a transfer uses it.
    nonisolated func removePartial(of request: ImageRequest) async {
        guard let partials, partials.mayHavePartial(of: request.transferKey) else { return }
        await BlockingThreads.runOnOwnThread { partials.remove(request.transferKey) }
    }

    /// Stops all transfers whose callers all have a priority below `.normal`: nobody looks at their images.
    /// - Returns: how many transfers were stopped.
    @discardableResult
    package func stopLowPriority() -> Int {
        let stopped = flights.running.filter { $0.priority < ImageRequest.Priority.normal.rank }
        for flight in stopped {
            if case .cancelled(let url) = flight.cancelled() {
                flight.finish(.failure(.memoryShort(url: url)))
            }
        }
        return stopped.count
    }

    // MARK: One transfer

    /// Looks in the tiers again, then in the shared tier, and fetches.
    private nonisolated func file(
        for wanted: DownloadRequest, _ flight: DownloadFlight, mustLook: Bool, _ mark: ClaimFile.Mark?
    ) async throws(ImageLoadingError) -> LoadedFile {
        if mustLook, let file = await tiers.storedMeanwhile(for: wanted, by: flight) { return file }
        // Asked here as well: the call takes memory of the task even if it returns at once.
        if tiers.shared != nil, let file = await tiers.shared(for: wanted, flight) { return file }
        let claim = tiers.claim(for: wanted, since: mark)
        let number = context.slots.makeNumber()
        flight.observe { [slots = context.slots] in slots.reorder(number) }
        let fetch = Fetch(
            context: context, number: number,
            exchange: Download(wanted, flight, self, number: number, claim),
            priority: { flight.priority }, started: { flight.emit(.started(queued: $0)) },
            giveUp: { flight.finish(.failure($0)) })
        let outcome = await Result.of { () async throws(ImageLoadingError) in try await fetch.run() }
        claim?.end(after: outcome)
        return try outcome.get()
    }
}

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
        public var authenticator: (any HTTPAuthenticator)?
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
        /// ``ImageLoadingError`` as it is, another one as `.dataFailed`. A field that cannot be sent is `.invalidField`.
        /// Default: nil, nothing.
        public var beforeSending: (@Sendable (inout TransportRequest) async throws -> Void)?
        /// Receives every event of a transfer, for logs and metrics: on any thread, and must return soon. Default: nil,
        /// nobody.
        public var onTransferEvent: (@Sendable (TransferEvent) -> Void)?
        /// The longest time that a file on disk or in the shared tier is used after it came or was confirmed, whatever HTTP's
        /// rules and the cache policy allow. An older one is fetched again. ``MemoryCache`` has a limit of its own. Default:
        /// nil, none.
        public var maximumAge: Duration?
        /// Whether disk and the shared tier keep each body in an entry of its own, under the SHA-256 of its content. For a
        /// cache of results: what is known of a file is then read without its body, and leads to the results. Earlier
        /// versions count such a file as a miss. Default: false.
        package var storesBodiesByContent = false
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
