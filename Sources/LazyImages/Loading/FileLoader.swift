public import FoundationEssentials
public import HTTPSemantics
import ImageCodecs
import SystemSupport

/// Loads the files of images, undecoded: from memory where it keeps them, else from disk, else over the network, where
/// callers that want the same share one transfer. ``ImageLoader`` stands on it; programs that want bytes use it
/// directly.
///
/// It keeps to HTTP's rules for a private cache (RFC 9111), unless a request's `cachePolicy` says otherwise: what is
/// fresh is given without asking; what is stale is revalidated, or given while it is revalidated (RFC 5861), or given
/// because the server fails. That a URL has nothing (404, 410) is remembered for five minutes.
///
/// What the network brings, or a request's closure, goes to the disk tier, whole or not at all. `file:` and `data:` URLs
/// are read directly and never go there.
///
/// Safe for concurrent use from any thread or actor.
public final class FileLoader: Sendable {
    /// Keeps files in memory too; nil for a loader that does not, because what is made of them is kept instead.
    public var memory: MemoryCache<LoadedFile>? { tiers.memory }
    /// The disk tier; nil for a loader that keeps nothing on disk.
    public var disk: DiskCache? { tiers.disk }
    /// What fetches.
    public let downloader: ImageDownloader

    let tiers: FileTiers
    private let relief = PressureReader()
    /// Read local files.
    let threads = BlockingThreads(count: 2)

    var configuration: ImageDownloader.Configuration { tiers.configuration }
    var clock: WallClock { tiers.clock }
    var rules: CacheRules { CacheRules(configuration: configuration, clock: clock) }

    /// A loader with its own downloader.
    /// - Parameters:
    ///   - memory: where to keep files in memory, at the cost of their bytes. Default: up to 64 MiB.
    ///   - disk: the disk tier, nil for none. Default: the user's, in ``DiskCache/standardFolder``.
    ///   - configuration: limits of the downloads.
    ///   - decoders: what is asked for and recognised. Default: the configuration's, JPEG and PNG.
    ///   - transport: the network. Default: libcurl.
    ///   - pressure: how short memory is. A warning halves the memory tier; when it is critical the tier keeps only what is
    ///     pinned, and downloads of a lower priority than `.normal` end. Default: nil, for a loader that does not care. An
    ///     `ImageLoader` gives back its files' memory itself.
    ///   - clock: the time that says what is fresh. Default: the system's.
    public init(
        memory: MemoryCache<LoadedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        disk: DiskCache? = DiskCache(folder: DiskCache.standardFolder),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, transport: any Transport = CurlTransport(),
        pressure: MemoryPressure? = nil, clock: WallClock = .system
    ) {
        var configuration = configuration
        if let decoders { configuration.decoders = decoders }
        if let disk, configuration.partialFolder == nil {
            configuration.partialFolder = PartialStore.path(besides: disk)
            configuration.partialLimit = min(configuration.partialLimit, disk.limit)
        }
        tiers = FileTiers(memory: memory, disk: disk, clock: clock, configuration: configuration)
        downloader = ImageDownloader(transport: transport, tiers: tiers)
        relief.read(pressure) { [weak self] level in await self?.relieve(level) }
    }

    /// A loader of which nothing touches the disk: files are kept in memory, and what exceeds the memory for bodies is
    /// refused.
    /// - Parameters:
    ///   - memory: where to keep files in memory. Default: up to 64 MiB.
    ///   - configuration: limits of the downloads; its folders are not used.
    ///   - decoders: what is asked for and recognised. Default: the configuration's.
    ///   - transport: the network. Default: libcurl.
    ///   - pressure: how short memory is. Default: nil, for a loader that does not care.
    ///   - clock: the time that says what is fresh. Default: the system's.
    public static func ephemeral(
        memory: MemoryCache<LoadedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, transport: any Transport = CurlTransport(),
        pressure: MemoryPressure? = nil, clock: WallClock = .system
    ) -> FileLoader {
        FileLoader(
            memory: memory, disk: nil, configuration: configuration.withoutDisk, decoders: decoders,
            transport: transport, pressure: pressure, clock: clock)
    }

    /// Does what a level of pressure asks for.
    func relieve(_ level: MemoryPressure.Level) async {
        memory?.relieve(level)
        if level == .critical { await downloader.stopUnseen() }
    }

    /// What the memory tier has, at once and however old. Counts a hit, but no miss: the load that follows counts that.
    /// - Parameter request: what to load.
    public func cachedFile(for request: ImageRequest) -> LoadedFile? {
        guard let file = memory?.value(for: request.key, countsMiss: false), file.isPresent else {
            return nil
        }
        return file.from(.memory)
    }

    /// Loads what `request` names. Cancelling the calling task makes only this caller leave; the last to leave cancels
    /// the transfer. Runs away from the caller's actor.
    /// - Parameters:
    ///   - request: what to load.
    ///   - progress: is told how far a download is and finishes with the load.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` when the calling task is.
    @concurrent public func file(
        for request: ImageRequest, progress: AsyncStream<TransferProgress>.Continuation? = nil
    ) async throws(ImageLoadingError) -> LoadedFile {
        defer { progress?.finish() }
        let listener = progress.map { progress in
            TaskListener { if case .progress(let value, _) = $0 { progress.yield(value) } }
        }
        return try await file(for: request, Client(listener: listener))
    }

    /// Removes what the request names from memory and disk, and what is left of a transfer of it that broke.
    ///
    /// Loads under way go on, and their callers get what they asked for, but nothing of it is kept. Loads that begin after
    /// this returns ask the network. Requests whose header fields, variant or id differ name another file, which stays. So
    /// does what another loader keeps in its memory.
    /// - Parameter request: names the file.
    public func remove(_ request: ImageRequest) async {
        downloader.forget(request)
        await disk?.remove(request.storageKey)
        // Once more for those that have found the file on disk meanwhile. Memory comes last: they may have put it there.
        downloader.forget(request)
        memory?.remove(request.key)
        await downloader.removePart(of: request)
    }

    /// Removes what memory and disk have of a URL that was written to (RFC 9111 section 4.4): from memory all that was asked
    /// for there or came from there; from disk what anybody may see, and what was loaded with the `Authorization` of
    /// `fields`. What is kept under an id or a variant stays on disk until it is revalidated.
    ///
    /// Loads under way go on, and their callers get what they asked for, but nothing of it is kept.
    /// - Parameters:
    ///   - url: the address that was written to.
    ///   - fields: those of the request that wrote. Default: none.
    public func invalidate(_ url: URL, fields: HTTPFields = HTTPFields()) async {
        let requests = [ImageRequest(url: url), ImageRequest(url: url, fields: fields)]
        let address = CacheKey(url: url).url
        downloader.transfers.forget { $0.url == address }
        for key in Set(requests.map(\.storageKey)) { await disk?.remove(key) }
        // Once more for those that have found the file on disk meanwhile: see `remove`.
        downloader.transfers.forget { $0.url == address }
        memory?.removeAll(from: url)
        for request in requests { await downloader.removePart(of: request) }
    }

    /// Keeps bytes of the caller's own in memory and on disk, in the place of what was there, so that later loads of the
    /// request find them. They do not grow old: the server is asked again only after ``remove(_:)``, or with `.reload`.
    ///
    /// Loads under way go on, and their callers get what they asked for, but nothing of it takes the place of the bytes.
    /// A `file:` or `data:` URL is read all the same, once memory has let go of the bytes.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - request: names the file.
    /// - Returns: the file as it is kept.
    /// - Throws: as for a download: `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, `.checksumMismatch`. What was there
    ///   stays then.
    @discardableResult
    public func store(
        _ bytes: some Sequence<UInt8>, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        let bytes = [UInt8](bytes)
        let answer = try await DownloadedImage(from: { bytes }, of: request.url, configuration)
        try request.check(answer.bytes)
        let file = LoadedFile(
            bytes: answer.bytes, header: answer.header, status: answer.head.status, url: request.url,
            requestedURL: request.url, source: .local,
            response: StoredResponse(
                answer.head, address: request.url.absoluteString, received: clock.seconds))
        // Before, for transfers that would come after; after, for those that began meanwhile.
        downloader.forget(request)
        await tiers.store(file, for: request)
        downloader.forget(request)
        return file
    }

    /// Keeps a file that the loader gave before once more, in the place of what a load has brought since: the caller cannot
    /// use that. The file is as old as it was.
    package func restore(_ file: LoadedFile, for request: ImageRequest) async {
        downloader.forget(request)
        await tiers.store(file, for: request)
        downloader.forget(request)
    }

    /// Returns when everything stored so far is on disk, and what is revalidated meanwhile has been.
    public func flush() async {
        await downloader.endBackground()
        await disk?.flush()
    }
}
