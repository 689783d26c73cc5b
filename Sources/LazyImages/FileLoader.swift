import FoundationEssentials
import ImageCodecs

/// Loads the files of images, undecoded: from memory where it keeps them, else from disk, else over the network, one
/// flight per file however many callers wait. `ImageLoader` stands on it; programs that want bytes use it directly.
///
/// It keeps to HTTP's rules for a private cache (RFC 9111), unless a request's `cachePolicy` says otherwise: what is
/// fresh is given without asking; what is stale is revalidated, or given while it is revalidated (RFC 5861), or given
/// because the server fails. That a URL has nothing (404, 410) is remembered for five minutes.
///
/// What the network brings goes to the disk tier, whole or not at all. `file:` and `data:` URLs are read directly and
/// never go there; what a request's closure gives does.
public actor FileLoader: LoadFlight {
    /// Callers share a flight when they want the same file by the same policy, and expect the same bytes.
    struct Key: Hashable, RequestKey {
        let image: CacheKey
        let policy: ImageRequest.CachePolicy
        let checksum: String?

        init(_ request: ImageRequest) {
            image = request.key
            policy = request.cachePolicy
            checksum = request.checksum
        }

        /// Feeds the hash that is ready made: the rest hardly ever tells two loads apart.
        func hash(into hasher: inout Hasher) { hasher.combine(image) }
    }
    typealias Value = LoadedFile

    /// Keeps files in memory too; nil for a loader that does not, because what is made of them is kept instead.
    public nonisolated let memory: MemoryCache<CachedFile>?
    /// The disk tier; nil for a loader that keeps nothing on disk.
    public nonisolated let disk: DiskCache?
    /// What fetches.
    public nonisolated let downloader: ImageDownloader

    var flights = FlightTable<Key, LoadedFile>()
    /// What is revalidated meanwhile, by the key it is stored under.
    var revalidations: [CacheKey: Task<Void, Never>] = [:]
    nonisolated let clock: WallClock
    private let threads = BlockingThreads(count: 2)
    nonisolated let limits: ImageDownloader.Configuration

    /// A loader with its own downloader.
    /// - Parameters:
    ///   - memory: where to keep files in memory, at the cost of their bytes. Default: up to 64 MiB.
    ///   - disk: the disk tier, nil for none. Default: the user's, in `DiskCache.standardFolder`.
    ///   - configuration: limits of the downloads.
    ///   - transport: the network. Default: libcurl.
    public init(
        memory: MemoryCache<CachedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        disk: DiskCache? = DiskCache(folder: DiskCache.standardFolder),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport()
    ) {
        self.init(
            memory: memory, disk: disk, configuration: configuration, transport: transport, clock: .system)
    }

    /// As above, by a clock of the caller's.
    package init(
        memory: MemoryCache<CachedFile>? = MemoryCache(limit: 64 * 1024 * 1024), disk: DiskCache?,
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport, clock: WallClock
    ) {
        var limits = configuration
        if let disk, limits.partialFolder == nil {
            limits.partialFolder = PartialStore.path(besides: disk)
            limits.partialLimit = min(limits.partialLimit, disk.limit)
        }
        self.memory = memory
        self.disk = disk
        self.limits = limits
        self.clock = clock
        downloader = ImageDownloader(transport: transport, configuration: limits)
    }

    /// A loader of which nothing touches the disk: files are kept in memory, and what exceeds the memory for bodies is
    /// refused.
    public static func ephemeral(
        memory: MemoryCache<CachedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport()
    ) -> FileLoader {
        FileLoader(
            memory: memory, disk: nil, configuration: configuration.withoutDisk, transport: transport)
    }

    /// What the memory tier has, at once and however old. Counts a hit, but no miss: the load that follows counts that.
    public nonisolated func cachedFile(for request: ImageRequest) -> LoadedFile? {
        guard let file = memory?.value(for: request.key, countsMiss: false), file.isPresent else {
            return nil
        }
        return LoadedFile(file: file, source: .memory)
    }

    /// Loads what `request` names. Cancelling the calling task makes only this caller leave; the last to leave cancels
    /// the load.
    /// - Parameters:
    ///   - ticket: stands for this caller in `setPriority`.
    ///   - progress: is told how far a download is and finishes with the load.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` when the calling task is.
    public nonisolated func file(
        for request: ImageRequest, ticket: LoadTicket = LoadTicket(),
        progress: AsyncStream<TransferProgress>.Continuation? = nil
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await file(for: request, ticket: ticket, listener: progress.map(ProgressListener.init))
    }

    /// As above, for a loader that passes the progress on.
    nonisolated func file(
        for request: ImageRequest, ticket: LoadTicket, listener: ProgressListener?
    ) async throws(ImageLoadingError) -> LoadedFile {
        // The load's one look into memory that counts: those that follow are made again.
        if let file = memory?.value(for: request.key), file.isPresent, !limits.acceptsAnyStatus,
            isSmallEnough(file), request.accepts(file.bytes),
            request.accepts(file.response, now: clock.seconds)
        {
            listener?.finish()
            return LoadedFile(file: file, source: .memory)
        }
        return try await load(request, ticket, listener)
    }

    /// Gives the caller behind `ticket` another priority. Does nothing once the caller has its answer.
    public func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        ticket.priority = priority
        heedPriority(of: ticket)
    }

    /// Returns when everything stored so far is on disk, and what is revalidated meanwhile has been.
    public nonisolated func flush() async {
        await endRevalidations()
        await disk?.flush()
    }

    // MARK: One flight

    nonisolated var below: ImageDownloader { downloader }

    /// The limit holds for what is cached too: an earlier process may have had a higher one.
    nonisolated func find(
        _ request: ImageRequest, _ flight: Flight
    ) async throws(ImageLoadingError) -> LoadedFile {
        let file = try await anyFile(for: request, flight)
        guard isSmallEnough(file.file) else {
            throw .tooLarge(url: request.url.displayText, limit: limits.maximumBytes)
        }
        return file
    }

    private nonisolated func isSmallEnough(_ file: CachedFile) -> Bool {
        file.bytes.count <= limits.maximumBytes
    }

    /// What a tier has, or the network, however large what the tier has is.
    private nonisolated func anyFile(
        for request: ImageRequest, _ flight: Flight
    ) async throws(ImageLoadingError) -> LoadedFile {
        if let data = request.data { return try await file(from: data, for: request) }
        if LocalContent.answers(request.url) { return try await local(request) }
        if request.cachePolicy == .reload { return try await fetch(request, flight, replacing: nil) }
        // A flight may have ended between the caller's own look and this one.
        let stored = await stored(for: request)
        switch request.cachePolicy {
        case .useProtocol, .reload: return try await obey(request, flight, stored)
        case .cacheOnly, .returnCacheElseLoad:
            if let stored, stored.file.isPresent || limits.acceptsAnyStatus { return given(stored) }
            if request.cachePolicy == .cacheOnly { throw .notCached(url: request.url.displayText) }
            return try await fetch(request, flight, replacing: stored)
        }
    }

    /// What a tier has for the request, if it is what the request wants.
    nonisolated func stored(for request: ImageRequest) async -> LoadedFile? {
        if let file = memory?.valueAgain(for: request.key), request.accepts(file.bytes) || !file.isPresent {
            return LoadedFile(file: file, source: .memory)
        }
        guard let disk, let entry = await disk.entry(for: request.storageKey),
            let response = StoredResponse(decoding: entry.metadata),
            response.variance.members.isEmpty || response.variance.matches(downloader.fields(for: request)),
            let url = URL(string: response.url)
        else { return nil }
        guard response.status == 200 else {
            let none = CachedFile(
                bytes: entry.body, header: nil, status: response.status, url: url,
                requestedURL: request.url, response: response)
            return LoadedFile(file: none, source: .disk)
        }
        // Losing the reason is right: an entry that is no whole image is a miss, and the network says what it is.
        let header = try? entry.body.wholeImageHeader(by: limits.decoders)
        guard header != nil || limits.acceptsAnyContent, request.accepts(entry.body) else { return nil }
        let file = CachedFile(
            bytes: entry.body, header: header, status: response.status, url: url,
            requestedURL: request.url, response: response)
        remember(file, for: request)
        return LoadedFile(file: file, source: .disk)
    }

    private nonisolated func local(_ request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile {
        if request.cachePolicy != .reload, let file = memory?.valueAgain(for: request.key), file.isPresent,
            request.accepts(file.bytes)
        {
            return LoadedFile(file: file, source: .memory)
        }
        return try await readLocal(request)
    }

    private nonisolated func readLocal(_ request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile
    {
        let limit = limits.maximumBytes
        let outcome: Result<[UInt8], ImageLoadingError>
        do {
            outcome = try await threads.run {
                Result { () throws(ImageLoadingError) in try LocalContent.read(request.url, limit: limit) }
            }
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
        let bytes = ImageBytes(try outcome.get())
        try request.check(bytes)
        let checked = try DownloadedImage(
            checking: bytes, by: limits.decoders, url: request.url,
            acceptsAnyContent: limits.acceptsAnyContent)
        let file = CachedFile(
            bytes: bytes, header: checked.header, status: nil, url: request.url, requestedURL: request.url)
        remember(file, for: request)
        return LoadedFile(file: file, source: .local)
    }

    nonisolated func remember(_ file: CachedFile, for request: ImageRequest) {
        memory?.store(file, for: request.key, cost: file.bytes.count)
    }
}
