import CSystem
public import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
import SystemSupport

/// Loads images: decoded ones from memory, else their files from disk, else over the network. Callers that want the same
/// image at the same size share one load, and all sizes share one file.
///
///     let loader = ImageLoader()
///     let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
///
/// Decoding happens on threads of the loader's own, straight to about the size the request wants.
///
/// Safe for concurrent use from any thread or actor.
public final class ImageLoader: Sendable {
    /// The memory tier; its cost is the bytes of the images' pixels.
    public let memory: MemoryCache<LoadedImage>
    /// What brings the files.
    public let files: FileLoader
    /// The disk tier; nil for a loader that keeps nothing on disk.
    public var disk: DiskCache? { files.disk }

    private let loads = TaskPool<LoadKey, LoadedImage>()
    private let decoder: FileDecoder
    private let relief = PressureReader()

    /// A loader with the defaults of `init`, for a program that needs one only. Made at its first use.
    public static let shared = ImageLoader()

    /// A loader with a downloader of its own.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to ``MemoryLimit/standard`` bytes of pixels.
    ///   - disk: the disk tier, nil for none. Default: the user's, in ``DiskCache/standardFolder``.
    ///   - configuration: limits of the downloads.
    ///   - decoders: what is asked for, recognised and decoded, and by what. Default: the configuration's, JPEG and PNG.
    ///   - decodingLimits: how large images may be.
    ///   - transport: the network. Default: libcurl.
    ///   - pressure: as in the initialiser with a loader of files.
    ///   - clock: the time that says what is fresh. Default: the system's.
    public convenience init(
        memory: MemoryCache<LoadedImage> = MemoryCache(),
        disk: DiskCache? = DiskCache(folder: DiskCache.standardFolder),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system,
        clock: WallClock = .system
    ) {
        // Without a disk tier files stay in memory for a while, so that another size needs no other download.
        let files = FileLoader(
            memory: disk == nil ? MemoryCache(limit: Self.fileMemoryLimit) : nil, disk: disk,
            configuration: configuration, decoders: decoders, transport: transport, clock: clock)
        self.init(memory: memory, files: files, decodingLimits: decodingLimits, pressure: pressure)
    }

    /// A loader of which nothing touches the disk, for a private session.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to 64 MiB of pixels.
    ///   - configuration: limits of the downloads; its folders are not used.
    ///   - decoders: what is asked for, recognised and decoded, and by what. Default: the configuration's.
    ///   - decodingLimits: how large images may be.
    ///   - transport: the network. Default: libcurl.
    ///   - pressure: how short memory is. Default: the system's; nil for a loader that does not care.
    ///   - clock: the time that says what is fresh. Default: the system's.
    public static func ephemeral(
        memory: MemoryCache<LoadedImage> = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system,
        clock: WallClock = .system
    ) -> ImageLoader {
        ImageLoader(
            memory: memory, disk: nil, configuration: configuration.withoutDisk, decoders: decoders,
            decodingLimits: decodingLimits, transport: transport, pressure: pressure, clock: clock)
    }

    /// What files may cost in memory where no disk tier keeps them, in bytes.
    private static let fileMemoryLimit = 16 * 1024 * 1024

    /// A loader over a loader of files that others may use too, whose clock it goes by.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to ``MemoryLimit/standard`` bytes of pixels.
    ///   - files: brings the files.
    ///   - decoders: what decodes the files. Default: those that the loader of files recognises them by.
    ///   - decodingLimits: how large images may be.
    ///   - pressure: how short memory is. A warning halves the memory tiers; when it is critical they keep only what is
    ///     pinned, downloads of a lower priority than `.normal` end, and nothing is decoded until that has passed.
    ///     Default: the system's; nil for a loader that does not care.
    public init(
        memory: MemoryCache<LoadedImage> = MemoryCache(), files: FileLoader,
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        pressure: MemoryPressure? = .system
    ) {
        self.memory = memory
        self.files = files
        decoder = FileDecoder(
            decoders: decoders ?? files.configuration.decoders, limits: decodingLimits, pressure: pressure,
            threads: BlockingThreads(count: max(1, ProcessInfo.processInfo.activeProcessorCount)))
        relief.read(pressure) { level in
            memory.relieve(level)
            // The allocator keeps what is free for itself; where memory is short others need it.
            if level > .normal { csystem_trim_memory() }
            await files.relieve(level)
        }
    }

    /// What the memory tier has, at once and however old: for what shows pictures, ``image(for:)`` sees to their
    /// freshness. Counts a hit, but no miss: the load that follows counts that.
    /// - Parameter request: what to load.
    public func cachedImage(for request: ImageRequest) -> LoadedImage? {
        memory.value(for: request.imageKey, countsMiss: false)
    }

    /// Loads what `request` names. Cancelling the calling task makes only this caller leave; the last to leave cancels
    /// the load.
    /// - Parameter request: what to load.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` when the calling task is.
    public func image(for request: ImageRequest) async throws(ImageLoadingError) -> LoadedImage {
        if let image = usableImage(for: request, isFirstLook: true) { return image }
        let (load, caller) = begin(request)
        return try await load.value(for: caller)
    }

    /// Begins to load what `request` names. Returns at once.
    /// - Parameter request: what to load.
    public func task(for request: ImageRequest) -> ImageTask { task(for: request, listener: nil) }

    /// - Parameter listener: hears the load's events from its beginning; none if memory has the image.
    func task(for request: ImageRequest, listener: TaskListener?) -> ImageTask {
        if let image = usableImage(for: request, isFirstLook: true) { return ImageTask(request, image) }
        let (load, caller) = begin(request, listener)
        return ImageTask(request, load, caller: caller)
    }

    /// Removes the image that the request names from memory and disk, at every size and content mode, and what is left of a
    /// transfer of it that broke.
    ///
    /// Loads under way go on, and their callers get what they asked for, but nothing of it is kept. Loads that begin after
    /// this returns ask the network. Requests whose header fields, variant or id differ name another image, which stays. So
    /// does what another loader keeps in its memory.
    /// - Parameter request: names the image; its size does not matter.
    public func remove(_ request: ImageRequest) async {
        await files.remove(request)
        forgetImages(of: request)
    }

    /// Removes what memory and disk have of a URL that was written to: see ``FileLoader/invalidate(_:fields:)``.
    /// - Parameters:
    ///   - url: the address that was written to.
    ///   - fields: those of the request that wrote. Default: none.
    public func invalidate(_ url: URL, fields: HTTPFields = HTTPFields()) async {
        await files.invalidate(url, fields: fields)
        let address = CacheKey(url: url).url
        loads.forget { $0.file.url == address }
        memory.removeAll(from: url)
    }

    /// Keeps bytes of the caller's own as the image's file, in the place of what was there, so that later loads of the
    /// request find them, at every size. They do not grow old: the server is asked again only after ``remove(_:)``, or
    /// with `.reload`. They are decoded when they are asked for.
    ///
    /// Without a disk tier they stay only as long as memory has room for the file: 16 MiB for all files. Loads under way go
    /// on, and their callers get what they asked for, but nothing of it takes the place of the bytes.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - request: names the image; its size does not matter.
    /// - Returns: the file as it is kept.
    /// - Throws: as for a download: `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, `.checksumMismatch`. What was there
    ///   stays then.
    @discardableResult
    public func store(
        _ bytes: some Sequence<UInt8>, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        let file = try await files.store(bytes, for: request)
        forgetImages(of: request)
        return file
    }

    /// Lets go of what was decoded of a file, and has what is being decoded not kept.
    private func forgetImages(of request: ImageRequest) {
        loads.forget { $0.file == request.key }
        memory.removeAll { $0.fileKey == request.key }
    }

    /// Whether the image is on the screen, so that the memory tier keeps it. Calls come in pairs: true, then false.
    /// - Parameters:
    ///   - isPinned: whether the image is on the screen now.
    ///   - request: names the image and its size.
    public func setPinned(_ isPinned: Bool, for request: ImageRequest) {
        if isPinned { memory.pin(request.imageKey) } else { memory.unpin(request.imageKey) }
    }

    /// Returns when everything stored so far is on disk.
    public func flush() async { await files.flush() }

    // MARK: One load

    /// What the memory tier has, if it may answer the request.
    /// - Parameter isFirstLook: whether the look counts as a hit or a miss.
    func usableImage(for request: ImageRequest, isFirstLook: Bool) -> LoadedImage? {
        guard request.allowsMemory else { return nil }
        let key = request.imageKey
        guard let image = isFirstLook ? memory.value(for: key) : memory.uncountedValue(for: key),
            request.accepts(image.response, now: files.clock.seconds)
        else { return nil }
        return image
    }

    /// Joins the load for a request, or begins it.
    /// - Parameters:
    ///   - listener: hears the load's events from its beginning.
    ///   - known: the image's file, for a caller that has it already, and the stamp from before it had.
    private func begin(
        _ request: ImageRequest, _ listener: TaskListener? = nil,
        with known: (file: LoadedFile, stamp: Int)? = nil
    ) -> (load: SharedTask<LoadedImage>, caller: Int) {
        let key = LoadKey(request)
        var known = known
        while true {
            let joined = loads.join(
                key, url: request.url, priority: request.priority, listener: listener, since: known?.stamp)
            guard let (load, caller, isFirst) = joined else {
                // The image was loaded or removed meanwhile: its file may be another by now.
                known = nil
                continue
            }
            if isFirst {
                load.run { [self, file = known?.file] () async throws(ImageLoadingError) in
                    try await find(request, in: file, for: load)
                } finish: { [loads] outcome in
                    loads.finish(key, load, outcome)
                }
            }
            return (load, caller)
        }
    }

    /// The present, to be taken before a file is loaded for `image(for:in:since:)`.
    var stamp: Int { loads.stamp }

    /// The image in a file that was loaded since `stamp`. It is in memory from then on.
    func image(
        for request: ImageRequest, in file: LoadedFile, since stamp: Int
    ) async throws(ImageLoadingError) -> LoadedImage {
        let (load, caller) = begin(request, with: (file, stamp))
        return try await load.value(for: caller)
    }

    private func find(
        _ request: ImageRequest, in known: LoadedFile?, for load: SharedTask<LoadedImage>
    ) async throws(ImageLoadingError) -> LoadedImage {
        // A load may have ended between the caller's own look and this one.
        if let image = usableImage(for: request, isFirstLook: false) { return image }
        let file: LoadedFile
        if let known {
            file = known
        } else {
            let previews = PreviewMaker(
                sizing: request.sizing, limits: decoder.limits, decoders: decoder.decoders,
                on: decoder.threads, for: load, under: decoder.pressure)
            file = try await files.file(
                for: request, FileLoader.Client(load: load, listener: previews.listener))
        }
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        load.tell(.file(file))
        let image: LoadedImage
        do {
            image = try await decoder.image(in: file, for: request)
        } catch {
            // The next load fetches the file anew.
            if error.isDamagedFile { await disk?.remove(request.storageKey) }
            throw error
        }
        // What no tier may keep is not kept decoded either (RFC 9111 section 5.2.2.5).
        if load.isForgotten || !file.mayBeKept { return image }
        let kept = image.from(.memory)
        memory.store(kept, for: request.imageKey, cost: image.bitmap.cost)
        // Asked again when it is in memory: a removal from then on finds it there.
        if load.isForgotten { memory.remove(request.imageKey, ifStill: kept) }
        return image
    }
}

extension ImageRequest {
    /// Whether the memory tier may answer: not where the bytes are to be checked or fetched anew.
    var allowsMemory: Bool { cachePolicy != .reload && checksum == nil }
}
