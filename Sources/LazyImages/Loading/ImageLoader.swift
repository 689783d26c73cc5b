import CSystem
import FoundationEssentials
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
    private let decoders: ImageDecoders
    private let decodingLimits: DecodingLimits
    /// How short memory is; nil for a loader that does not care.
    private let pressure: MemoryPressure?
    private let relief = PressureReader()
    private let threads = BlockingThreads(count: max(1, ProcessInfo.processInfo.activeProcessorCount))

    /// A loader with a downloader of its own.
    /// - Parameters:
    ///   - memory: the memory tier. Default: up to `MemoryLimit.standard` bytes of pixels.
    ///   - disk: the disk tier, nil for none. Default: the user's, in `DiskCache.standardFolder`.
    ///   - configuration: limits of the downloads.
    ///   - decoders: what is asked for, recognised and decoded, and by what. Default: the configuration's, JPEG and PNG.
    ///   - decodingLimits: how large images may be.
    ///   - transport: the network. Default: libcurl.
    ///   - pressure: as in the other initialiser.
    public convenience init(
        memory: MemoryCache<LoadedImage> = MemoryCache(),
        disk: DiskCache? = DiskCache(folder: DiskCache.standardFolder),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system
    ) {
        // Without a disk tier files stay in memory for a while, so that another size needs no other download.
        let fileMemory = disk == nil ? MemoryCache<LoadedFile>(limit: Self.fileMemoryLimit) : nil
        var configuration = configuration
        if let decoders { configuration.decoders = decoders }
        let files = FileLoader(
            memory: fileMemory, disk: disk, configuration: configuration, transport: transport)
        self.init(memory: memory, files: files, decodingLimits: decodingLimits, pressure: pressure)
    }

    /// A loader of which nothing touches the disk, for a private session.
    public static func ephemeral(
        memory: MemoryCache<LoadedImage> = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport()
    ) -> ImageLoader {
        let files = MemoryCache<LoadedFile>(limit: fileMemoryLimit)
        return ImageLoader(
            memory: memory,
            files: .ephemeral(memory: files, configuration: configuration, transport: transport))
    }

    /// What files may cost in memory where no disk tier keeps them, in bytes.
    private static let fileMemoryLimit = 16 * 1024 * 1024

    /// A loader over a loader of files that others may use too.
    /// - Parameters:
    ///   - decoders: what decodes the files. Default: those that the loader of files recognises them by.
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
        self.decoders = decoders ?? files.configuration.decoders
        self.decodingLimits = decodingLimits
        self.pressure = pressure
        relief.read(pressure) { level in await Self.relieve(level, memory, files) }
    }

    /// Does what a level of pressure asks for.
    private static func relieve(
        _ level: MemoryPressure.Level, _ memory: MemoryCache<LoadedImage>, _ files: FileLoader
    ) async {
        memory.relieve(level)
        files.memory?.relieve(level)
        // The allocator keeps what is free for itself; where memory is short others need it.
        if level > .normal { csystem_trim_memory() }
        if level == .critical { await files.downloader.stopUnseen() }
    }

    /// What the memory tier has, at once and however old: for what shows pictures, `image(for:)` sees to their freshness.
    /// Counts a hit, but no miss: the load that follows counts that.
    public func cachedImage(for request: ImageRequest) -> LoadedImage? {
        memory.value(for: request.imageKey, countsMiss: false)
    }

    /// Loads what `request` names. Cancelling the calling task makes only this caller leave; the last to leave cancels
    /// the load.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` when the calling task is.
    public func image(for request: ImageRequest) async throws(ImageLoadingError) -> LoadedImage {
        if let image = usableImage(for: request, isFirstLook: true) { return image }
        let (load, caller) = begin(request)
        return try await load.value(for: caller)
    }

    /// Begins to load what `request` names. Returns at once.
    public func task(for request: ImageRequest) -> ImageTask { task(for: request, listener: nil) }

    /// - Parameter listener: hears the load's events from its beginning; none if memory has the image.
    func task(for request: ImageRequest, listener: TaskListener?) -> ImageTask {
        if let image = usableImage(for: request, isFirstLook: true) { return ImageTask(request, image) }
        let (load, caller) = begin(request, listener)
        return ImageTask(request, load, caller: caller)
    }

    /// Whether the image is on the screen, so that the memory tier keeps it. Calls come in pairs: true, then false.
    public func setPinned(_ isPinned: Bool, for request: ImageRequest) {
        if isPinned { memory.pin(request.imageKey) } else { memory.unpin(request.imageKey) }
    }

    /// Returns when everything stored so far is on disk.
    public func flush() async { await files.flush() }

    // MARK: One load

    /// What the memory tier has, if it may answer the request.
    /// - Parameter isFirstLook: whether the look counts as a hit or a miss.
    private func usableImage(for request: ImageRequest, isFirstLook: Bool) -> LoadedImage? {
        guard request.allowsMemory else { return nil }
        let key = request.imageKey
        guard let image = isFirstLook ? memory.value(for: key) : memory.valueAgain(for: key),
            request.accepts(image.response, now: files.clock.seconds)
        else { return nil }
        return image
    }

    /// Joins the load for a request, or begins it.
    private func begin(
        _ request: ImageRequest, _ listener: TaskListener? = nil
    ) -> (load: SharedTask<LoadedImage>, caller: Int) {
        let key = LoadKey(request)
        while true {
            // Nil only for a caller with a stamp.
            guard
                let (load, caller, isFirst) = loads.join(
                    key, url: request.url, priority: request.priority, listener: listener)
            else { continue }
            if isFirst {
                load.run {
                    [self] () async throws(ImageLoadingError) in
                    try await find(request, for: load)
                } finish: { [loads] outcome in
                    loads.finish(key, load, outcome)
                }
            }
            return (load, caller)
        }
    }

    private func find(
        _ request: ImageRequest, for load: SharedTask<LoadedImage>
    ) async throws(ImageLoadingError) -> LoadedImage {
        // A load may have ended between the caller's own look and this one.
        if let image = usableImage(for: request, isFirstLook: false) { return image }
        let previews = PreviewMaker(
            sizing: request.sizing, limits: decodingLimits, on: threads, for: load, under: pressure)
        let file = try await files.file(
            for: request, FileLoader.Client(load: load, listener: previews.listener))
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        load.tell(.file(file))
        let image = try await decode(file, for: request)
        memory.store(image.from(.memory), for: request.imageKey, cost: image.bitmap.cost)
        return image
    }

    /// Decodes on a thread that may take its time. A file that is found to be damaged does not stay in the disk tier.
    private func decode(
        _ file: LoadedFile, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedImage {
        if pressure?.level == .critical { throw .memoryShort(url: request.url.displayText) }
        let outcome: Result<LoadedImage, ImageDecodingError>
        do {
            outcome = try await threads.run {
                [decoders, decodingLimits] () -> Result<LoadedImage, ImageDecodingError> in
                file.bytes.withBytes { bytes in
                    do throws(ImageDecodingError) {
                        let bitmap = try decoders.decode(
                            bytes, sizing: request.sizing, limits: decodingLimits)
                        // Half a picture is none: it must not be kept as the image.
                        guard bitmap.isComplete else { return .failure(.truncated(offset: bytes.count)) }
                        // Known already, unless any content is accepted.
                        let header =
                            if let header = file.header { header } else { try decoders.header(of: bytes) }
                        return .success(
                            LoadedImage(
                                bitmap: bitmap, header: header, url: file.url, requestedURL: request.url,
                                // Only an image that was there decoded is from memory.
                                source: file.source == .memory ? .decoded : file.source,
                                response: file.response))
                    } catch {
                        return .failure(error)
                    }
                }
            }
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
        switch outcome {
        case .success(let image): return image
        case .failure(let error):
            if error.isDamage { await disk?.remove(request.storageKey) }
            throw .undecodable(url: request.url.displayText, reason: error)
        }
    }
}

extension ImageRequest {
    /// Whether the memory tier may answer: not where the bytes are to be checked or fetched anew.
    var allowsMemory: Bool { cachePolicy != .reload && checksum == nil }
}

extension ImageDecodingError {
    /// Whether the file itself is at fault, and not what we can or may decode.
    fileprivate var isDamage: Bool {
        switch self {
        case .truncated, .corrupt: true
        case .unsupported, .tooLarge, .unrecognised: false
        }
    }
}
