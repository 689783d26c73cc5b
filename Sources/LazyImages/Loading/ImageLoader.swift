import CMarqueeSystem
import Coalescing
public import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
import SystemSupport

/// Loads and decodes images: from memory, else from files on disk, else over the network. Equal requests share one
/// load, and all sizes of an image share one file.
///
///     let loader = ImageLoader()
///     let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
///
/// The loader decodes on its own threads, directly to about the size of the request.
///
/// Safe for concurrent use from any thread or actor.
public final class ImageLoader: Sendable {
    /// The settings of the downloads.
    public typealias Configuration = ImageDownloader.Configuration

    /// The memory tier; an image costs the bytes of its pixels.
    public let memory: MemoryCache<LoadedImage>
    /// Loads the files.
    public let files: FileLoader
    /// The disk tier; nil for none.
    public var disk: DiskCache? { files.disk }
    /// The network activity of the downloads.
    public var activity: NetworkActivity { files.downloader.activity }

    private let loads = FlightTable<LoadKey, LoadedImage, ImageLoadingError, LoadEvent>()
    private let decoder: FileDecoder
    private let pressureReader = PressureReader()

    /// A loader with the defaults of `init`, for programs that need only one. Made at its first use.
    public static let shared = ImageLoader()

    /// A loader with a downloader of its own.
    /// - Parameters:
    ///   - memory: the memory tier. Default: 15 % of the process's memory, at most 512 MiB of pixels.
    ///   - disk: the disk tier; nil for none. Default: in the program's own folder.
    ///   - shared: the shared tier, which is asked before the origin. Default: nil, none.
    ///   - configuration: the settings of the downloads.
    ///   - decodingLimits: the largest images to decode.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    ///   - pressure: as in ``init(memory:files:decodingLimits:pressure:)``.
    ///   - clock: the time for freshness. Default: the system's.
    public convenience init(
        memory: MemoryCache<LoadedImage> = MemoryCache(),
        disk: DiskCache? = DiskCache(), shared: SharedTier? = nil,
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system,
        clock: WallClock = .system
    ) {
        // Without a disk tier files stay in memory for a while, so that another size needs no download.
        let files = FileLoader(
            memory: disk == nil ? MemoryCache(limit: Self.fileMemoryLimit) : nil, disk: disk, shared: shared,
            configuration: configuration, transport: transport, clock: clock)
        self.init(memory: memory, files: files, decodingLimits: decodingLimits, pressure: pressure)
    }

    /// A loader that never touches the disk, for a private session.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to 64 MiB of pixels.
    ///   - configuration: the settings of the downloads, without its folders.
    ///   - decodingLimits: the largest images to decode.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    ///   - pressure: the memory pressure; nil to ignore it. Default: the system's.
    ///   - clock: the time for freshness. Default: the system's.
    public static func ephemeral(
        memory: MemoryCache<LoadedImage> = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system,
        clock: WallClock = .system
    ) -> ImageLoader {
        ImageLoader(
            memory: memory, disk: nil, configuration: configuration.withoutDisk,
            decodingLimits: decodingLimits, transport: transport, pressure: pressure, clock: clock)
    }

    /// The limit of files in memory without a disk tier, in bytes.
    private static let fileMemoryLimit = 16 * 1024 * 1024

    /// A loader that uses a ``FileLoader`` and its clock. Several loaders may share a file loader.
    /// - Parameters:
    ///   - memory: the memory tier. Default: 15 % of the process's memory, at most 512 MiB of pixels.
    ///   - files: loads the files.
    ///   - decodingLimits: the largest images to decode.
    ///   - pressure: the memory pressure; nil to ignore it. A warning halves the memory tiers. At `.critical` only
    ///     pinned entries stay, downloads below priority `.normal` end, and nothing is decoded until the pressure has
    ///     passed. Default: the system's.
    public init(
        memory: MemoryCache<LoadedImage> = MemoryCache(), files: FileLoader,
        decodingLimits: DecodingLimits = .standard,
        pressure: MemoryPressure? = .system
    ) {
        self.memory = memory
        self.files = files
        decoder = FileDecoder(
            decoders: files.configuration.decoders, limits: decodingLimits, pressure: pressure,
            threads: BlockingThreads(count: max(1, ProcessInfo.processInfo.activeProcessorCount)))
        pressureReader.read(pressure) { level in
            memory.relieve(level)
            // Returns free memory of the allocator to the system.
            if level > .normal { csystem_trim_memory() }
            await files.relieve(level)
        }
    }

    /// The image in the memory tier, at once and however old, to show until ``image(for:)-(ImageRequest)`` returns. Counts
    /// a hit, but no miss: a following load counts that.
    /// - Parameter request: the image to load.
    public func cachedImage(for request: ImageRequest) -> LoadedImage? {
        request.usesMemory ? memory.value(for: request.resultKey, countsHit: true) : nil
    }

    /// Loads an image. Cancelling the calling task makes only this caller leave; when the last caller leaves, the load
    /// is cancelled.
    /// - Parameter request: the image to load.
    /// - Throws: the reason why there is no image; `.cancelled` if the calling task is cancelled.
    public func image(for request: ImageRequest) async throws(ImageLoadingError) -> LoadedImage {
        if let image = usableImage(for: request, isFirstLook: true) { return image }
        return try await join(request).value
    }

    /// Loads the image at a URL, at its own size.
    /// - Parameter url: an https, http, file or data URL.
    /// - Throws: as for a request.
    public func image(for url: URL) async throws(ImageLoadingError) -> LoadedImage {
        try await image(for: ImageRequest(url))
    }

    /// Begins to load an image. Returns at once.
    /// - Parameter request: the image to load.
    public func imageTask(with request: ImageRequest) -> ImageTask { imageTask(with: request, listener: nil) }

    /// Begins to load the image at a URL, at its own size. Returns at once.
    /// - Parameter url: an https, http, file or data URL.
    public func imageTask(with url: URL) -> ImageTask { imageTask(with: ImageRequest(url)) }

    /// - Parameter listener: receives all events of the load; none if memory has the image.
    func imageTask(with request: ImageRequest, listener: LoadListener?) -> ImageTask {
        if let image = usableImage(for: request, isFirstLook: true) { return ImageTask(request, image) }
        return ImageTask(request, join(request, listener))
    }

    /// Whether memory has the image, or memory or disk have its file, or disk has only its result, however old. Counts a
    /// lookup on disk only for such a result.
    /// - Parameter request: the request of the image.
    public func contains(_ request: ImageRequest) async -> Bool {
        if request.usesMemory, memory.contains(request.resultKey) { return true }
        if await files.contains(request) { return true }
        guard case .only = request.storesResult else { return false }
        var request = request
        request.acceptsResult = true
        return await files.tiers.stored(for: request).file?.isResult == true
    }

    /// Removes an image from memory and disk, at all sizes and content modes, and its partial body.
    ///
    /// Running loads continue, and their callers get the image, but it is stored nowhere, even if their downloads begin
    /// only after the removal. Loads that start later use the network, and their images are stored. The stored images of
    /// requests with another Authorization, variant or id stay, and so do images in the memory of other loaders; running
    /// loads of the same URL store nothing either.
    /// - Parameter request: the request of the image; its size does not matter.
    public func remove(_ request: ImageRequest) async {
        await files.remove(request)
        invalidateImages(of: request)
    }

    /// Removes all images and files from memory and disk. Running loads continue, and their callers get their images,
    /// which are stored nowhere.
    public func removeAll() async {
        await files.removeAll()
        loads.invalidateAll()
        memory.removeAll()
    }

    /// Invalidates the images of a URL after a write to it: see ``FileLoader/invalidate(_:fields:)``.
    /// - Parameters:
    ///   - url: the URL of the write.
    ///   - fields: the header fields of the write. Default: none.
    public func invalidate(_ url: URL, fields: HeaderFields = HeaderFields()) async {
        await files.invalidate(url, fields: fields)
        let address = CacheKey(url: url).url
        loads.invalidate { $0.file.url == address }
        memory.removeAll(from: url)
    }

    /// Stores the caller's bytes as the image's file, in place of the old one, for all sizes. They stay fresh: later
    /// loads use the network only after ``remove(_:)``, or with `.reload`. They are decoded by the next load.
    ///
    /// Without a disk tier memory keeps 16 MiB of files, and may evict the bytes. Running loads continue, and their
    /// callers get the old image, but it does not replace the bytes.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - request: the request of the image; its size does not matter.
    /// - Returns: the stored file.
    /// - Throws: as a download: `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, `.checksumMismatch`. The old file
    ///   stays then.
    @discardableResult
    public func store(
        _ bytes: some Sequence<UInt8>, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        let file = try await files.store(bytes, for: request)
        invalidateImages(of: request)
        return file
    }

    /// Removes the decoded images of a file, and forbids running loads to store theirs.
    private func invalidateImages(of request: ImageRequest) {
        loads.invalidate { $0.file == request.key }
        memory.removeAll { $0.fileKey == request.key }
    }

    /// Keeps an image in the memory tier while it is on the screen.
    /// - Parameter request: the request of the image and its size.
    /// - Returns: the pin: the image may be evicted again when it is released. Nil if memory does not have the image.
    public func pin(_ request: ImageRequest) -> MemoryPin? { memory.pin(request.resultKey) }

    /// Returns when all stored files are on disk.
    public func flush() async { await files.flush() }

    // MARK: One load

    /// The image in the memory tier, if it may answer the request.
    /// - Parameter isFirstLook: whether to count a hit or a miss.
    private func usableImage(for request: ImageRequest, isFirstLook: Bool) -> LoadedImage? {
        guard request.allowsMemory else { return nil }
        let key = request.resultKey
        guard let image = isFirstLook ? memory.value(for: key) : memory.value(for: key, countsHit: false),
            request.accepts(image.response, now: files.clock.seconds), request.accepts(image.damage)
        else { return nil }
        return image
    }

    /// Joins the load of a request, or begins it.
    /// - Parameter listener: receives all events of the load.
    private func join(_ request: ImageRequest, _ listener: LoadListener? = nil) -> ImageFlight.Caller {
        // Here, and not where the work begins to look: a removal may come before that.
        let removals = files.downloader.flights.removals
        let caller = loads.join(
            LoadKey(request), priority: request.priority.rank, listener: listener,
            cancelled: { .cancelled(url: request.url.displayText) }
        ) { [self] flight, _ throws(ImageLoadingError) in
            // A load may have ended between the caller's look and this one.
            if let image = usableImage(for: request, isFirstLook: false) { return image }
            let load = Load(
                flight: flight, removals: removals, limitsEachAddress: !request.alternatives.isEmpty)
            let outcome = await Result.of { () async throws(ImageLoadingError) in
                try await self.load(request, load)
            }
            flight.emit(.measured(load.meter.metrics(of: outcome)))
            return try outcome.get()
        }
        if let limit = request.timeLimit, request.alternatives.isEmpty {
            files.downloader.context.limit(caller, to: limit, request)
        }
        return caller
    }

    private struct Load {
        let flight: ImageFlight
        /// The removals before it.
        let removals: Removals
        /// Whether a request's time limit is for its address alone: the others are tried after it.
        let limitsEachAddress: Bool
        let meter = LoadMeter()
    }

    /// Loads the image from the first of the request's addresses that has one.
    /// - Throws: the error of the last address.
    private func load(_ request: ImageRequest, _ load: Load) async throws(ImageLoadingError) -> LoadedImage {
        var (request, alternatives) = (request, request.alternatives[...])
        while true {
            do {
                return try await loadAtAddress(request, load)
            } catch {
                guard let next = alternatives.popFirst(), !error.isCancelled else { throw error }
                request = request.at(next)
                if let image = usableImage(for: request, isFirstLook: true) { return image }
            }
        }
    }

    private func loadAtAddress(
        _ request: ImageRequest, _ load: Load
    ) async throws(ImageLoadingError) -> LoadedImage {
        try request.checkParameters()
        var request = request
        request.acceptsResult = request.storesResult != nil
        let file = try await file(for: request, load)
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        let event = LoadEvent.file(file)
        load.meter.record(event)
        load.flight.emit(event)
        return try await image(in: file, for: request, load)
    }

    private func file(
        for request: ImageRequest, _ load: Load
    ) async throws(ImageLoadingError) -> LoadedFile {
        let (flight, meter) = (load.flight, load.meter)
        return try await files.file(
            for: request,
            FileLoader.Client(
                priority: { flight.priority },
                listener: LoadListener { event in
                    guard let event else { return }
                    meter.record(event)
                    flight.emit(event)
                },
                joined: { [decoder] download in
                    let update = { @Sendable [weak flight] in
                        guard let flight else { return }
                        download.setPriority { flight.priority }
                        PreviewMaker.update(flight, from: download, request, decoder)
                    }
                    flight.observe(by: update)
                    update()
                }, timeLimit: load.limitsEachAddress ? request.timeLimit : nil, removals: load.removals))
    }

    private func image(
        in file: LoadedFile, for request: ImageRequest, _ load: Load
    ) async throws(ImageLoadingError) -> LoadedImage {
        // An image whose file must not be stored is not stored either (RFC 9111 section 5.2.2.5). An alternative may have
        // been removed by its own address.
        func mayBeKept() -> Bool {
            load.flight.isCurrent && file.mayBeKept
                && !files.downloader.isOutdated(request, since: load.removals)
        }
        /// Stores a file that its transfer has not stored.
        /// - Parameter content: the SHA-256 of the file, if only its result is kept; nil for the file itself.
        func storeLater(resultOf content: String?) async {
            guard let storedLater = file.storedLater, mayBeKept() else { return }
            // The file of another caller stays, or replaces this entry.
            await files.tiers.store(file.with(file, resultOf: content), for: request) {
                !mayBeKept() || storedLater.value.load(ordering: .sequentiallyConsistent)
            }
        }
        func reloaded() async throws(ImageLoadingError) -> LoadedImage {
            var whole = request
            whole.cachePolicy = .reload
            return try await self.image(in: try await self.file(for: whole, load), for: whole, load)
        }
        var image: LoadedImage
        do {
            let content: String?
            (image, content) = try await decoder.image(
                in: file, for: request, files.tiers.disk(for: request), mayStore: mayBeKept)
            await storeLater(resultOf: content)
        } catch {
            // The next load downloads the file again.
            if error.isDamagedFile {
                await files.tiers.removeStored(request.key)
                // Another version of the decoders may have stored the result.
                if file.isResult, request.cachePolicy != .cacheOnly { return try await reloaded() }
            } else {
                // Cancelled, for example. The next load need not download it.
                await storeLater(resultOf: nil)
            }
            throw error
        }
        if image.damage != nil, file.mayBeDoubted {
            if file.source == .resumed, request.cachePolicy != .reload {
                // The parts may not belong together. Ignored: without the whole file, this one is shown.
                if let image = try? await reloaded() { return image }
            }
            image = image.doubted
            if mayBeKept() { await files.doubt(file, for: request) { !mayBeKept() } }
        }
        if !request.usesMemory || !mayBeKept() { return image }
        let kept = image.from(.memory)
        memory.store(kept, for: request.resultKey, cost: image.bitmap.cost)
        // Checked again after the store: a later removal finds the image in memory.
        if !mayBeKept() { memory.remove(request.resultKey, ifStill: kept) }
        return image
    }
}

extension ImageRequest {
    /// Whether the memory tier may answer: not if the bytes must be verified or loaded again.
    var allowsMemory: Bool { cachePolicy != .reload && checksum == nil && usesMemory }
}

/// The key by which loads are shared: the image, its size, the cache policy and the checksum. Requests that differ only
/// in priority have equal keys: they share one load, and in a list one state.
package struct LoadKey: Hashable, Sendable {
    package let image: CacheKey
    /// The key of the file, the same for all sizes.
    let file: CacheKey
    let policy: ImageRequest.CachePolicy
    let checksum: String?
    let acceptsDamage: Bool
    let alternatives: [ImageRequest]

    /// The key of a request.
    /// - Parameter request: the request of a load.
    package init(_ request: ImageRequest) {
        image = request.resultKey
        file = request.key
        policy = request.cachePolicy
        checksum = request.checksum
        acceptsDamage = request.acceptsDamage
        alternatives = request.alternatives
    }

    /// Hashes only the image's key, whose hash is known. The other members hardly ever differ.
    package func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
