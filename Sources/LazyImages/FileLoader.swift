import FoundationEssentials
import ImageCodecs

/// Loads the files of images, undecoded: from memory where it keeps them, else from disk, else over the network, one
/// flight per file however many callers wait. `ImageLoader` stands on it; programs that want bytes use it directly.
///
/// What the network brings goes to the disk tier, whole or not at all. `file:` and `data:` URLs are read directly and
/// never go there.
public actor FileLoader: SingleFlight {
    /// Callers share a flight when they want the same file by the same policy, and expect the same bytes.
    struct Key: Hashable {
        let image: CacheKey
        let policy: ImageRequest.CachePolicy
        let checksum: String?

        init(_ request: ImageRequest) {
            image = request.key
            policy = request.cachePolicy
            checksum = request.checksum
        }
    }
    typealias Value = LoadedFile

    /// Keeps files in memory too; nil for a loader that does not, because what is made of them is kept instead.
    public nonisolated let memory: MemoryCache<CachedFile>?
    /// The disk tier; nil for a loader that keeps nothing on disk.
    public nonisolated let disk: DiskCache?
    /// What fetches.
    public nonisolated let downloader: ImageDownloader

    var flights = FlightTable<Key, LoadedFile>()
    private let threads = BlockingThreads(count: 2)
    private let limits: ImageDownloader.Configuration

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
        self.memory = memory
        self.disk = disk
        limits = configuration
        downloader = ImageDownloader(transport: transport, configuration: configuration)
    }

    /// What the memory tier has, at once.
    public nonisolated func cachedFile(for request: ImageRequest) -> LoadedFile? {
        memory?.value(for: request.key).map { LoadedFile(file: $0, source: .memory) }
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
        if request.cachePolicy != .reload, let file = cachedFile(for: request), request.accepts(file.bytes) {
            progress?.finish()
            return file
        }
        return try await load(request, ticket, progress.map(ProgressListener.init))
    }

    /// As above, for a loader that passes the progress on.
    nonisolated func file(
        for request: ImageRequest, ticket: LoadTicket, listener: ProgressListener
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await load(request, ticket, listener)
    }

    /// Gives the caller behind `ticket` another priority. Does nothing once the caller has its answer.
    public func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        ticket.priority = priority
        heedPriority(of: ticket)
    }

    /// Returns when everything stored so far is on disk.
    public nonisolated func flush() async { await disk?.flush() }

    // MARK: One flight

    private func load(
        _ request: ImageRequest, _ ticket: LoadTicket, _ progress: ProgressListener?
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await share(Key(request), of: request, ticket: ticket, progress: progress) { flight in
            let task = Task { @concurrent in await fly(flight, request) }
            flights.setTask(task, of: Key(request), flight)
        }
    }

    private nonisolated func fly(_ flight: Flight, _ request: ImageRequest) async {
        let outcome: Result<LoadedFile, ImageLoadingError>
        do {
            outcome = .success(try await find(request, flight))
        } catch {
            outcome = .failure(error)
        }
        await land(Key(request), flight, outcome)
    }

    func wasAbandoned(_ flight: Flight) {}

    private nonisolated func find(
        _ request: ImageRequest, _ flight: Flight
    ) async throws(ImageLoadingError) -> LoadedFile {
        if request.cachePolicy != .reload {
            // A flight may have ended between the caller's own look and this one.
            if let file = cachedFile(for: request), request.accepts(file.bytes) { return file }
            if let disk, let file = await storedFile(for: request, in: disk) {
                return remember(file, from: .disk, for: request)
            }
        }
        if LocalContent.answers(request.url) { return try await readLocal(request) }
        if request.cachePolicy == .cacheOnly { throw .notCached(url: request.url.displayText) }
        return try await fetch(request, flight)
    }

    private nonisolated func fetch(
        _ request: ImageRequest, _ flight: Flight
    ) async throws(ImageLoadingError) -> LoadedFile {
        let downloaded = try await downloader.download(
            request, ticket: flight.ticket, listener: ProgressListener(flight.progress))
        try request.check(downloaded.bytes)
        if let disk {
            let response = StoredResponse(downloaded.head, url: downloaded.url, received: Date())
            await disk.store(downloaded.bytes.source, metadata: response.encoded, for: request.key)
        }
        let file = CachedFile(
            bytes: downloaded.bytes, header: downloaded.header, status: downloaded.head.status,
            url: downloaded.url)
        return remember(file, from: .network, for: request)
    }

    /// What the disk tier has, if it is what the request wants.
    private nonisolated func storedFile(for request: ImageRequest, in disk: DiskCache) async -> CachedFile? {
        guard !LocalContent.answers(request.url), let entry = await disk.entry(for: request.key),
            request.accepts(entry.body),
            let response = StoredResponse(decoding: entry.metadata)
        else { return nil }
        // Losing the reason is right: an entry that is no whole image is a miss, and the network says what it is.
        let header = try? entry.body.wholeImageHeader()
        guard header != nil || limits.acceptsAnyContent, let url = URL(string: response.url) else {
            return nil
        }
        return CachedFile(bytes: entry.body, header: header, status: response.status, url: url)
    }

    private nonisolated func readLocal(_ request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile
    {
        let limit = limits.maximumBytes
        let outcome = await threads.run { () -> Result<[UInt8], ImageLoadingError> in
            do throws(ImageLoadingError) {
                return .success(try LocalContent.read(request.url, limit: limit))
            } catch {
                return .failure(error)
            }
        }
        let bytes = ImageBytes(try outcome.get())
        try request.check(bytes)
        let checked = try DownloadedImage(
            checking: bytes, head: ResponseHead(status: 200), url: request.url,
            acceptsAnyContent: limits.acceptsAnyContent)
        let file = CachedFile(bytes: bytes, header: checked.header, status: nil, url: request.url)
        return remember(file, from: .local, for: request)
    }

    private nonisolated func remember(
        _ file: CachedFile, from source: LoadedFile.Source, for request: ImageRequest
    ) -> LoadedFile {
        memory?.store(file, for: request.key, cost: file.bytes.count)
        return LoadedFile(file: file, source: source)
    }

    func priorityMayHaveChanged(of key: Key, _ flight: Flight) {
        guard let priority = flights.priority(ofFlight: key) else { return }
        flight.ticket.priority = priority
        Task { await downloader.heedPriority(of: flight.ticket) }
    }
}
