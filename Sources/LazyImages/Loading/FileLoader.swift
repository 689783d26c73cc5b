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
    private let threads = BlockingThreads(count: 2)

    var configuration: ImageDownloader.Configuration { tiers.configuration }
    var clock: WallClock { tiers.clock }

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

    // MARK: One load

    /// Whoever waits for a transfer.
    struct Client {
        /// The load of an image that the file is for; nil for a caller that wants the file itself.
        var load: SharedTask<LoadedImage>?
        /// Hears how far the transfer is.
        var listener: TaskListener?
        /// Whether it waits for the server's word where others get what is stored meanwhile (RFC 5861 section 3).
        var waitsForServer = false
    }

    /// As `file(for:)`, but never gives what is stale while it is revalidated: for a cache on top of this one that does that
    /// itself.
    @concurrent package func validatedFile(
        for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await file(for: request, Client(waitsForServer: true))
    }

    /// Loads a file for a client.
    func file(
        for request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        // The load's one look into memory that counts.
        if let file = memory?.value(for: request.key), file.isPresent, !configuration.acceptsAnyStatus,
            isSmallEnough(file), request.accepts(file.bytes),
            request.accepts(file.response, now: clock.seconds)
        {
            return file.from(.memory)
        }
        let isLocal = request.data == nil && request.url.isLocal
        if isLocal { try configuration.security.checkLocal(request.url) }
        let file =
            isLocal
            ? try await local(request, since: downloader.transfers.stamp)
            : try await cachedOrFetched(request, client)
        // The limit holds for what is cached too: an earlier process may have had a higher one.
        guard isSmallEnough(file) else {
            throw .tooLarge(url: request.url.displayText, limit: configuration.maximumBytes)
        }
        return file
    }

    private func isSmallEnough(_ file: LoadedFile) -> Bool { file.bytes.count <= configuration.maximumBytes }

    private func local(
        _ request: ImageRequest, since stamp: Int
    ) async throws(ImageLoadingError) -> LoadedFile {
        let limit = configuration.maximumBytes
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
            checking: bytes, by: configuration.decoders, url: request.url,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let file = LoadedFile(
            bytes: bytes, header: checked.header, status: nil, url: request.url, requestedURL: request.url,
            source: .local)
        remember(file, for: request, since: stamp)
        return file
    }

    /// What a tier has for a request, fresh or not. What comes from disk is in memory from then on.
    /// - Parameter stamp: from before the look.
    func stored(for request: ImageRequest, since stamp: Int) async -> LoadedFile? {
        guard let file = await tiers.stored(for: request) else { return nil }
        if file.source == .disk, file.isPresent { remember(file, for: request, since: stamp) }
        return file
    }

    /// Keeps in memory what was found since `stamp`, unless it may have been removed since.
    private func remember(_ file: LoadedFile, for request: ImageRequest, since stamp: Int) {
        tiers.remember(file, for: request) { downloader.transfers.hasForgotten(since: stamp) }
    }

    private func cachedOrFetched(
        _ request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        while true {
            let stamp = request.cachePolicy == .reload ? nil : downloader.transfers.stamp
            var stored: LoadedFile?
            if let stamp { stored = await self.stored(for: request, since: stamp) }
            switch try use(of: stored, for: request) {
            case .give(let file): return file
            case .giveAndRevalidate(_, let order) where client.waitsForServer:
                if let file = try await transfer(order, client, since: stamp) { return file }
            case .giveAndRevalidate(let file, let order):
                await downloader.beginInBackground(order, since: stamp)
                return file
            case .transfer(let order):
                if let file = try await transfer(order, client, since: stamp) { return file }
            }
        }
    }

    /// What to do with what is stored.
    private enum Use {
        case give(LoadedFile)
        case giveAndRevalidate(LoadedFile, TransferOrder)
        case transfer(TransferOrder)
    }

    /// What the request's policy and HTTP's rules for a cache make of what is stored (RFC 9111 section 4).
    private func use(of stored: LoadedFile?, for request: ImageRequest) throws(ImageLoadingError) -> Use {
        var notCached: ImageLoadingError { .notCached(url: request.url.displayText) }
        if request.cachePolicy != .useProtocol, request.cachePolicy != .reload {
            if let stored, stored.isPresent || configuration.acceptsAnyStatus { return .give(given(stored)) }
            if request.cachePolicy == .cacheOnly { throw notCached }
            return .transfer(TransferOrder(request, replacing: stored))
        }
        if request.cachePolicy == .reload { return .transfer(TransferOrder(request, replacing: nil)) }
        let directives = request.directives
        guard let stored, let response = stored.response, !request.isPartial, saysSomething(stored) else {
            if directives.onlyIfCached { throw notCached }
            return .transfer(TransferOrder(request, replacing: stored))
        }
        // Made only where it is needed: its key costs a hash.
        var revalidation: TransferOrder {
            TransferOrder(request, revalidating: stored, response, now: clock.seconds)
        }
        switch response.use(for: directives, as: configuration.cacheKind, now: clock.seconds) {
        case .fresh: return .give(try usable(stored, for: request))
        case .stale: return .give(try usable(stored.from(.stale), for: request))
        case .staleWhileRevalidating:
            return .giveAndRevalidate(try usable(stored.from(.stale), for: request), revalidation)
        case .validate:
            if directives.onlyIfCached { throw notCached }
            return .transfer(revalidation)
        }
    }

    /// Whether what is stored says something here. A loader that gives any status may have left, in the same folder, what is
    /// neither a picture nor word that there is none.
    private func saysSomething(_ file: LoadedFile) -> Bool {
        file.isPresent || configuration.acceptsAnyStatus || file.status == 404 || file.status == 410
    }

    /// Waits for a transfer. Where the server fails, what is stored is given all the same, if that is allowed.
    /// - Returns: nil if the caller is to look in the tiers again.
    private func transfer(
        _ order: TransferOrder, _ client: Client, since stamp: Int?
    ) async throws(ImageLoadingError) -> LoadedFile? {
        let request = order.request
        let file: LoadedFile
        do {
            let joined = try await downloader.join(
                order, client.load?.priority ?? request.priority, listener: client.listener, since: stamp)
            guard let (transfer, caller) = joined else { return nil }
            client.load?.passPriority(to: transfer, caller: caller)
            file = try await transfer.value(for: caller)
        } catch let error where error.isRetryable {
            if let stored = order.stored, isGoodEnough(stored, for: order) {
                return try usable(stored.from(.stale), for: request)
            }
            throw error
        }
        if file.source == .revalidated {
            try request.check(file.bytes)
            return try usable(file, for: request)
        }
        if let status = file.status, status != 200 {
            if HTTPStatus(rawValue: status).isTemporary, let stored = order.stored,
                isGoodEnough(stored, for: order)
            {
                return try usable(stored.from(.stale), for: request)
            }
            guard configuration.acceptsAnyStatus else {
                throw .httpStatus(url: file.url.displayText, status: status)
            }
        }
        // Another caller's request may have begun the transfer.
        try request.check(file.bytes)
        return file
    }

    /// Whether what is stored may be given because the server fails.
    private func isGoodEnough(_ stored: LoadedFile, for order: TransferOrder) -> Bool {
        // Only what was to be revalidated: what cannot be used at all cannot be used now.
        guard let response = stored.response, stored.isPresent, order.revalidates else { return false }
        return CacheUse.allowsStaleOnError(
            age: response.age(at: clock.seconds), lifetime: response.lifetime,
            control: configuration.cacheKind.control(response.fields), directives: order.request.directives)
    }

    // MARK: What is given

    /// What is stored as the answer to the request.
    /// - Throws: `.httpStatus` for the memory that there is no picture.
    private func usable(
        _ stored: LoadedFile, for request: ImageRequest
    ) throws(ImageLoadingError) -> LoadedFile {
        guard stored.isPresent || configuration.acceptsAnyStatus else {
            throw .httpStatus(url: stored.url.displayText, status: stored.status ?? 0)
        }
        let given = given(stored)
        guard configuration.acceptsAnyStatus, let head = given.head, head.status == 200,
            !request.fields.isEmpty, Validators.areMet(request.fields, by: head.fields, now: clock.seconds)
        else { return given }
        // The caller has it already (RFC 9111 section 4.3.2).
        return LoadedFile(
            bytes: ImageBytes([]), header: nil, status: 304, url: given.url, requestedURL: request.url,
            source: given.source, head: ResponseHead(status: 304, fields: head.fields),
            response: given.response)
    }

    /// What is stored, with its head where that is wanted.
    private func given(_ stored: LoadedFile) -> LoadedFile {
        guard configuration.acceptsAnyStatus else { return stored }
        return stored.from(stored.source, head: stored.response?.head(at: clock.seconds))
    }
}

extension StoredResponse {
    /// What it is good for. What is fresh and asked for without conditions is told by its first line alone.
    fileprivate func use(for directives: CacheControl, as kind: CacheKind, now: Int) -> CacheUse {
        if isFresh(at: now), directives == CacheControl(HTTPFields()) { return .fresh }
        return CacheUse(
            age: age(at: now), lifetime: lifetime, control: kind.control(fields), directives: directives)
    }
}
