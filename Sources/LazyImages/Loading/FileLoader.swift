import Coalescing
public import FoundationEssentials
public import HTTPSemantics
import SystemSupport

/// Loads the files of images, undecoded: from memory, else from disk, else over the network. Equal requests share one
/// transfer. ``ImageLoader`` uses it; programs that need the bytes use it directly.
///
/// It follows HTTP's rules for a private cache (RFC 9111), unless the ``ImageRequest/cachePolicy`` says otherwise.
/// A fresh file is returned without a question to the server. A stale file is revalidated, or returned while it is
/// revalidated or because the server fails (RFC 5861). A 404 or 410 is remembered for five minutes.
///
/// Complete files from the network, or from a request's closure, are stored in the disk tier. `file:` and `data:` URLs
/// are read directly and not stored there.
///
/// Safe for concurrent use from any thread or actor.
public final class FileLoader: Sendable {
    /// The memory tier for files; nil for none, as for a loader that keeps decoded images instead.
    public var memory: MemoryCache<LoadedFile>? { tiers.memory }
    /// The disk tier; nil for none.
    public var disk: DiskCache? { tiers.disk }
    /// The shared tier; nil for a loader without one.
    public var shared: SharedTier? { tiers.shared }
    /// Makes the transfers.
    public let downloader: ImageDownloader

    let tiers: FileTiers
    private let pressureReader = PressureReader()
    /// Read local files.
    let threads = BlockingThreads(count: 2)

    var configuration: ImageDownloader.Configuration { tiers.configuration }
    var clock: WallClock { tiers.clock }

    /// A loader with a downloader of its own.
    /// - Parameters:
    ///   - memory: the memory tier; a file costs its bytes. Default: up to 64 MiB.
    ///   - disk: the disk tier; nil for none. Default: in the program's own folder.
    ///   - shared: the shared tier, which is asked before the origin. Default: nil, none.
    ///   - configuration: the settings of the downloads.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    ///   - pressure: the memory pressure. A warning halves the memory tier. At `.critical` only pinned files stay, and
    ///     downloads below priority `.normal` end. Default: nil, ignored. An ``ImageLoader`` relieves its file loader
    ///     itself.
    ///   - clock: the time for freshness. Default: the system's.
    public init(
        memory: MemoryCache<LoadedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        disk: DiskCache? = DiskCache(), shared: SharedTier? = nil,
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport(),
        pressure: MemoryPressure? = nil, clock: WallClock = .system
    ) {
        var configuration = configuration
        if let disk, configuration.partialFolder == nil {
            configuration.partialFolder = PartialStore.path(besides: disk)
            configuration.partialLimit = min(configuration.partialLimit, disk.limit)
        }
        tiers = FileTiers(
            memory: memory, disk: disk, shared: shared, clock: clock, configuration: configuration)
        downloader = ImageDownloader(transport: transport, tiers: tiers)
        pressureReader.read(pressure) { [weak self] level in await self?.relieve(level) }
    }

    /// A loader that never touches the disk. It keeps files in memory, and refuses bodies that exceed the memory for
    /// bodies.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to 64 MiB.
    ///   - configuration: the settings of the downloads, without its folders.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    ///   - pressure: the memory pressure. Default: nil, ignored.
    ///   - clock: the time for freshness. Default: the system's.
    public static func ephemeral(
        memory: MemoryCache<LoadedFile>? = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport(),
        pressure: MemoryPressure? = nil, clock: WallClock = .system
    ) -> FileLoader {
        FileLoader(
            memory: memory, disk: nil, configuration: configuration.withoutDisk,
            transport: transport, pressure: pressure, clock: clock)
    }

    /// Releases memory as a level of pressure requires.
    func relieve(_ level: MemoryPressure.Level) async {
        memory?.relieve(level)
        if level == .critical { await downloader.stopLowPriority() }
    }

    /// The file in the memory tier, at once and however old. Counts a hit, but no miss: a following load counts that.
    /// - Parameter request: the image to load.
    public func cachedFile(for request: ImageRequest) -> LoadedFile? {
        guard let file = tiers.memory(for: request)?.value(for: request.key, countsHit: true),
            file.isPresent, tiers.isAnswered(request, by: file)
        else { return nil }
        return file.from(.memory)
    }

    /// Whether memory or disk has a file of the request's key, however old. Does not compare its Vary or its checksum.
    /// Counts no lookup.
    /// - Parameter request: the request of the file.
    public func contains(_ request: ImageRequest) async -> Bool {
        if tiers.memory(for: request)?.value(for: request.key, countsHit: false)?.isPresent == true {
            return true
        }
        guard let disk = tiers.disk(for: request) else { return false }
        return await disk.run(on: disk.readers, orElse: false) { disk.hasFile(for: request.key) }
    }

    /// Loads a file. Cancelling the calling task makes only this caller leave; when the last caller leaves, the
    /// transfer is cancelled. Does not run on the caller's actor.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - progress: receives the progress of the download, and finishes with the load. Default: nil.
    /// - Throws: the reason why there is no file; `.cancelled` if the calling task is cancelled.
    @concurrent public func file(
        for request: ImageRequest, progress: AsyncStream<TransferProgress>.Continuation? = nil
    ) async throws(ImageLoadingError) -> LoadedFile {
        defer { progress?.finish() }
        let listener = progress.map { progress in
            LoadListener { if case .progress(let value, _) = $0 { progress.yield(value) } }
        }
        return try await file(for: request, Client(listener: listener, timeLimit: request.timeLimit))
    }

    /// Removes a request's file from all tiers, and its partial body.
    ///
    /// Running loads continue, and their callers get the file, but it is stored nowhere, even if their downloads begin
    /// only after the removal. Loads that start later use the network, and their files are stored. The stored files of
    /// requests with another Authorization, variant or id stay, and so do files in the memory of other loaders; running
    /// loads of the same URL store nothing either.
    /// - Parameter request: the request of the file.
    public func remove(_ request: ImageRequest) async {
        downloader.invalidate(request)
        for key in await tiers.keys(of: request) { await tiers.removeStored(key) }
        // Again, for loads that have found the file on disk meanwhile. Memory comes last: they may have put the file
        // there.
        downloader.invalidate(request)
        memory?.remove(request.key)
        await downloader.removePartial(of: request)
    }

    /// Removes all files from memory and disk, and all partial bodies. The shared tier keeps its own. Running loads
    /// continue, and their callers get their files, which are stored nowhere.
    public func removeAll() async {
        downloader.invalidateAll()
        await disk?.removeAll()
        // Again, for loads that have found a file on disk meanwhile. Memory comes last: they may have put it there.
        downloader.invalidateAll()
        memory?.removeAll()
        await downloader.removePartials()
    }

    /// Invalidates the files of a URL after a write to it (RFC 9111 section 4.4). Removes from memory all files that
    /// were loaded from this URL, before or after redirects; from disk and the shared tier the file without
    /// `Authorization`, and the one with the `Authorization` of `fields`. Files on disk under an id or a variant stay until
    /// they are revalidated.
    ///
    /// Running loads continue, and their callers get the file, but it is not stored.
    /// - Parameters:
    ///   - url: the URL of the write.
    ///   - fields: the header fields of the write. Default: none.
    public func invalidate(_ url: URL, fields: HeaderFields = HeaderFields()) async {
        let requests = [ImageRequest(url), ImageRequest(url, options: .init(fields: fields))]
        let address = CacheKey(url: url).url
        downloader.flights.invalidate([address]) { $0.url == address }
        for key in Set(requests.map(\.key)) { await tiers.removeStored(key) }
        // Again, for loads that have found the file on disk meanwhile: see `remove`.
        downloader.flights.invalidate([address]) { $0.url == address }
        memory?.removeAll(from: url)
        for request in requests { await downloader.removePartial(of: request) }
    }

    /// Stores the caller's bytes in memory and on disk, in place of the request's file. They stay fresh: later loads
    /// use the network only after ``remove(_:)``, or with `.reload`.
    ///
    /// Running loads continue, and their callers get the old file, but it does not replace the bytes. A `file:` or
    /// `data:` URL is read again once memory has evicted the bytes.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - request: the request of the file.
    /// - Returns: the stored file.
    /// - Throws: as a download: `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, `.checksumMismatch`. The old file
    ///   stays then.
    @discardableResult
    public func store(
        _ bytes: some Sequence<UInt8>, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        let answer = try DownloadedImage(
            bytes: [UInt8](bytes), of: request.url, configuration, acceptsDamage: false)
        try request.check(answer.bytes.checksum)
        let file = LoadedFile(
            bytes: answer.bytes, header: answer.header, status: answer.head.status, url: request.url,
            requestedURL: request.url, source: .local,
            response: StoredResponse(
                answer.head, address: request.url.absoluteString, received: clock.seconds))
        // Before the store, for running transfers that would replace the file; after it, for those that began
        // meanwhile.
        downloader.invalidate(request)
        await tiers.store(file, for: request)
        downloader.invalidate(request)
        return file
    }

    /// Stores an earlier file of this loader again, in place of a newer one that the caller cannot use. Its age stays.
    package func restore(_ file: LoadedFile, for request: ImageRequest) async {
        downloader.invalidate(request)
        // The newer file is of no use to other machines either.
        shared?.remove(request.key)
        await tiers.store(file, for: request)
        downloader.invalidate(request)
    }

    /// Stores a file that came just now again, once decoding has found it damaged: see ``LoadedFile/doubted``.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile.
    package func doubt(
        _ file: LoadedFile, for request: ImageRequest, unless isUnwanted: () -> Bool = { false }
    ) async {
        shared?.remove(request.key)
        await tiers.store(file.doubted, for: request, unless: isUnwanted)
    }

    /// Returns when all stored files are on disk, all revalidations in the background have finished, and the shared tier
    /// has written what it can.
    public func flush() async {
        await downloader.waitForBackground()
        await disk?.flush()
        await shared?.flush()
    }
}

/// For a cache of results in front of this one.
extension FileLoader {
    /// What disk or the shared tier know of a request's file, fresh or not: the file without its bytes, with its
    /// ``LoadedFile/content``. Nil if they know nothing, and for a remembered 404 or 410.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile.
    package func record(
        for request: ImageRequest, unless isUnwanted: () -> Bool
    ) async -> LoadedFile? {
        await tiers.record(for: request, unless: isUnwanted)
    }

    /// A result: from disk, else from the shared tier.
    package func result(_ key: CacheKey, isShared: Bool) async -> DiskCache.Entry? {
        await tiers.part(key, isShared: isShared)?.entry
    }

    /// Stores a result on disk and in the shared tier. Waits if too many writes are queued for the disk.
    package func storeResult(
        _ bytes: ImageBytes, metadata: [UInt8], for key: CacheKey, isShared: Bool
    ) async {
        await disk?.store(bytes.source, metadata: metadata, for: key)
        if isShared { shared?.store(bytes.source, metadata: metadata, for: key) }
    }

    /// Removes a result.
    package func removeResult(_ key: CacheKey) async { await tiers.removeStored(key) }
}

/// One load of a file: from a tier, or by a transfer.
extension FileLoader {
    /// A caller that waits for a file.
    struct Client {
        /// Reads the present priority; nil for the request's.
        var priority: (() -> Int)?
        /// Receives the events of the transfer.
        var listener: LoadListener?
        /// Called when the caller has joined a transfer.
        var joined: ((DownloadFlight.Caller) -> Void)?
        /// The longest time in a transfer; nil for none.
        var timeLimit: Duration?
        /// Whether the caller waits for a revalidation that others leave to the background (RFC 5861 section 3).
        var waitsForServer = false
        /// The removals before a load that began earlier; nil if it begins now.
        var removals: Removals?
    }

    /// As `file(for:)`, but waits for a revalidation: for a cache in front of this one that has its own stale files.
    @concurrent package func validatedFile(
        for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await file(for: request, Client(waitsForServer: true))
    }

    /// Loads a file for one caller.
    func file(
        for request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        // Of all lookups of a load in memory, only this one is counted.
        if let file = tiers.memory(for: request)?.value(for: request.key), file.isPresent,
            tiers.isAnswered(request, by: file), !configuration.acceptsAnyStatus,
            isSmallEnough(file), request.accepts(file.content),
            request.accepts(file.response, now: clock.seconds), request.accepts(file.damage)
        {
            return file.from(.memory)
        }
        let removals = client.removals ?? downloader.flights.removals
        let isLocal = request.data == nil && request.url.isLocal
        if isLocal { try configuration.security.checkLocal(request.url) }
        let file =
            isLocal
            ? try await local(request, since: removals)
            : try await cachedOrFetched(request, client, since: removals)
        // The limit holds for cached files too: an earlier process may have had a higher one.
        guard isSmallEnough(file) else {
            throw .tooLarge(url: request.url.displayText, limit: configuration.maximumBytes)
        }
        if let damage = file.damage, !request.accepts(damage) {
            throw .undecodable(url: request.url.displayText, reason: damage)
        }
        return file
    }

    private func isSmallEnough(_ file: LoadedFile) -> Bool { file.bytes.count <= configuration.maximumBytes }

    private func local(
        _ request: ImageRequest, since removals: Removals
    ) async throws(ImageLoadingError) -> LoadedFile {
        let limit = configuration.maximumBytes
        let content = try await threads.run({ ImageLoadingError($0, url: request.url.displayText) }) {
            () throws(ImageLoadingError) in try LocalContent.read(request.url, limit: limit)
        }
        let bytes = ImageBytes(content)
        try request.check(bytes.checksum)
        let (header, damage) = try bytes.structure(
            by: configuration.decoders, url: request.url, isWhole: true,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let file = LoadedFile(
            bytes: bytes, header: header, damage: damage, status: nil, url: request.url,
            requestedURL: request.url, source: .local)
        remember(file, for: request, since: removals)
        return file
    }

    /// Stores a file in memory, unless it was removed since `removals` was read.
    private func remember(_ file: LoadedFile, for request: ImageRequest, since removals: Removals) {
        tiers.remember(file, for: request) { downloader.isOutdated(request, since: removals) }
    }

    private func cachedOrFetched(
        _ request: ImageRequest, _ client: Client, since removals: Removals
    ) async throws(ImageLoadingError) -> LoadedFile {
        let isReload = request.cachePolicy == .reload
        var look = ImageDownloader.Look(
            ends: isReload ? nil : downloader.flights.ends, removals: removals)
        var stored: LoadedFile?
        if !isReload { (stored, look.mark) = await tiers.stored(for: request) }
        if let stored, stored.source == .disk, stored.isPresent {
            remember(stored, for: request, since: look.removals)
        }
        while true {
            switch try decision(on: stored, for: request) {
            case .give(let file): return file
            case .giveAndRevalidate(_, let wanted) where client.waitsForServer, .transfer(let wanted):
                guard let file = try await download(wanted, client, since: look) else {
                    // The shared file has other bytes than the request's checksum says.
                    stored = nil
                    continue
                }
                if file.source != .shared { return file }
                // Judged like a file on disk.
                stored = file
            case .giveAndRevalidate(let file, let wanted):
                downloader.startInBackground(wanted, since: look)
                return file
            }
        }
    }

    /// Waits for a download. If the server fails, returns the stale file, if that is allowed.
    /// - Returns: nil if the file has other bytes than the request's checksum says, and is another caller's.
    private func download(
        _ wanted: DownloadRequest, _ client: Client, since look: ImageDownloader.Look
    ) async throws(ImageLoadingError) -> LoadedFile? {
        let request = wanted.request
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        var file: LoadedFile
        do {
            let caller = downloader.join(
                wanted, client.priority?() ?? request.priority.rank, listener: client.listener,
                since: look)
            client.joined?(caller)
            if let limit = client.timeLimit { downloader.context.limit(caller, to: limit, request) }
            file = try await caller.value
        } catch let error where error.isRetryable {
            if let file = try fileOnError(for: wanted) { return file }
            throw error
        }
        if let storedLater = file.storedLater, request.keepsOriginal {
            storedLater.value.store(true, ordering: .sequentiallyConsistent)
            await tiers.store(file, for: request) { downloader.isOutdated(request, since: look.removals) }
        }
        // The download may be another caller's, who has another result of the file.
        if file.source == .revalidated, let stored = wanted.stored, stored.isResult || file.isResult {
            file = file.with(stored, resultOf: stored.response?.content)
        }
        // If its file does not match this request's checksum, this caller makes a download of its own.
        if file.source == .shared { return file.isPresent && !request.accepts(file.content) ? nil : file }
        if [.revalidated, .disk, .memory].contains(file.source) {
            try request.check(file.content)
            return try usable(file, for: request)
        }
        if let status = file.status, status != 200 {
            if HTTPStatus(rawValue: status).isTemporary, let file = try fileOnError(for: wanted) {
                return file
            }
            guard configuration.acceptsAnyStatus else {
                throw .httpStatus(url: file.url.displayText, status: status)
            }
        }
        // The download may have begun for a request with another checksum.
        try request.check(file.content)
        return file
    }
}

/// What a stored file may be used for: by the request's policy, and by HTTP's rules for a cache (RFC 9111 section 4).
/// `FileTiers` decides what may be stored.
extension FileLoader {
    private enum Decision {
        case give(LoadedFile)
        case giveAndRevalidate(LoadedFile, DownloadRequest)
        case transfer(DownloadRequest)
    }

    /// - Parameter stored: the stored file; nil if there is none.
    private func decision(on stored: LoadedFile?, for request: ImageRequest) throws(ImageLoadingError)
        -> Decision
    {
        var notCached: ImageLoadingError { .notCached(url: request.url.displayText) }
        if request.cachePolicy != .useProtocol, request.cachePolicy != .reload {
            if let stored, stored.isPresent || configuration.acceptsAnyStatus { return .give(given(stored)) }
            if request.cachePolicy == .cacheOnly { throw notCached }
            return .transfer(DownloadRequest(request, replacing: stored))
        }
        if request.cachePolicy == .reload { return .transfer(DownloadRequest(request, replacing: nil)) }
        let directives = request.directives
        guard let stored, let response = stored.response, !request.isPartial, canAnswer(stored) else {
            if directives.onlyIfCached { throw notCached }
            return .transfer(DownloadRequest(request, replacing: stored))
        }
        // Computed on demand: its key costs a hash.
        func revalidation(_ request: ImageRequest) -> DownloadRequest {
            DownloadRequest(request, revalidating: stored, response, now: clock.seconds)
        }
        switch response.use(for: directives, as: configuration.cacheKind, now: clock.seconds) {
        case .fresh: return .give(try usable(stored, for: request))
        case .stale: return .give(try usable(stored.from(.stale), for: request))
        case .staleWhileRevalidating:
            // Nobody makes a result in the background.
            return .giveAndRevalidate(
                try usable(stored.from(.stale), for: request), revalidation(request.forFile))
        case .validate:
            if directives.onlyIfCached { throw notCached }
            return .transfer(revalidation(request))
        }
    }

    /// The stale file that the request may have because the server fails (RFC 5861 section 4); nil if there is none.
    private func fileOnError(for wanted: DownloadRequest) throws(ImageLoadingError) -> LoadedFile? {
        // Only a revalidation: a file that could not be used before cannot be used now.
        guard let stored = wanted.stored, stored.isPresent, wanted.revalidates,
            stored.allowsStaleOnError(
                in: configuration.cacheKind, now: clock.seconds, wanted.request.directives)
        else { return nil }
        return try usable(stored.from(.stale), for: wanted.request)
    }

    /// A stored file as the answer to a request.
    /// - Throws: `.httpStatus` for a remembered 404 or 410.
    private func usable(_ stored: LoadedFile, for request: ImageRequest) throws(ImageLoadingError)
        -> LoadedFile
    {
        guard stored.isPresent || configuration.acceptsAnyStatus else {
            throw .httpStatus(url: stored.url.displayText, status: stored.status ?? 0)
        }
        let given = given(stored)
        guard configuration.acceptsAnyStatus, let head = given.head, head.status == 200,
            !request.fields.isEmpty,
            Validators.isNotModified(request.fields, by: head.fields, now: clock.seconds)
        else { return given }
        // The caller has this file already (RFC 9111 section 4.3.2).
        return LoadedFile(
            bytes: ImageBytes([]), header: nil, status: 304, url: given.url, requestedURL: request.url,
            source: given.source, head: ResponseHead(status: 304, fields: head.fields),
            response: given.response)
    }

    /// Whether a stored file can answer a request here. A loader that accepts any status may have left other answers in
    /// the same folder.
    private func canAnswer(_ file: LoadedFile) -> Bool {
        file.isPresent || configuration.acceptsAnyStatus || file.status == 404 || file.status == 410
    }

    /// A stored file, with its head for a loader that accepts any status.
    private func given(_ stored: LoadedFile) -> LoadedFile {
        guard configuration.acceptsAnyStatus else { return stored }
        return stored.from(stored.source, head: stored.response?.head(at: clock.seconds))
    }
}
