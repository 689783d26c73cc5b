import CSystem
import FoundationEssentials
public import ImageCodecs

/// Loads images: decoded ones from memory, else their files from disk, else over the network; one flight per image and
/// size however many callers wait, and one file for all sizes.
///
///     let loader = ImageLoader()
///     let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
///
/// Decoding happens on threads of the loader's own, straight to about the size the request wants.
public actor ImageLoader: LoadFlight {
    typealias Key = LoadKey
    typealias Value = LoadedImage

    /// The memory tier; its cost is the bytes of the images' pixels.
    public nonisolated let memory: MemoryCache<CachedImage>
    /// What brings the files.
    public nonisolated let files: FileLoader
    /// The disk tier; nil for a loader that keeps nothing on disk.
    public nonisolated var disk: DiskCache? { files.disk }

    var flights = FlightTable<Key, LoadedImage>()
    private let decoders: ImageDecoders
    private let decodingLimits: DecodingLimits
    /// How short memory is; nil for a loader that does not care.
    private nonisolated let pressure: MemoryPressure?
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
    public init(
        memory: MemoryCache<CachedImage> = MemoryCache(),
        disk: DiskCache? = DiskCache(folder: DiskCache.standardFolder),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        transport: any Transport = CurlTransport(), pressure: MemoryPressure? = .system
    ) {
        // Without a disk tier files stay in memory for a while, so that another size needs no other download.
        let fileMemory = disk == nil ? MemoryCache<CachedFile>(limit: Self.fileMemoryLimit) : nil
        var configuration = configuration
        if let decoders { configuration.decoders = decoders }
        let files = FileLoader(
            memory: fileMemory, disk: disk, configuration: configuration, transport: transport)
        self.init(memory: memory, files: files, decodingLimits: decodingLimits, pressure: pressure)
    }

    /// A loader of which nothing touches the disk, for a private session.
    public static func ephemeral(
        memory: MemoryCache<CachedImage> = MemoryCache(limit: 64 * 1024 * 1024),
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport()
    ) -> ImageLoader {
        let files = MemoryCache<CachedFile>(limit: fileMemoryLimit)
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
        memory: MemoryCache<CachedImage> = MemoryCache(), files: FileLoader,
        decoders: ImageDecoders? = nil, decodingLimits: DecodingLimits = .standard,
        pressure: MemoryPressure? = .system
    ) {
        self.memory = memory
        self.files = files
        self.decoders = decoders ?? files.limits.decoders
        self.decodingLimits = decodingLimits
        self.pressure = pressure
        relief.read(pressure) { level in await Self.relieve(level, memory, files) }
    }

    /// Does what a level of pressure asks for.
    private static func relieve(
        _ level: MemoryPressure.Level, _ memory: MemoryCache<CachedImage>, _ files: FileLoader
    ) async {
        memory.relieve(level)
        files.memory?.relieve(level)
        // The allocator keeps what is free for itself; where memory is short others need it.
        if level > .normal { csystem_trim_memory() }
        if level == .critical { await files.downloader.stopUnseen() }
    }

    /// What the memory tier has, at once and however old: for what shows pictures, `image(for:)` sees to their freshness.
    /// Counts a hit, but no miss: the load that follows counts that.
    public nonisolated func cachedImage(for request: ImageRequest) -> LoadedImage? {
        memory.value(for: request.imageKey, countsMiss: false).map { LoadedImage(image: $0, source: .memory) }
    }

    /// Loads what `request` names. Cancelling the calling task makes only this caller leave; the last to leave cancels
    /// the load.
    /// - Parameters:
    ///   - ticket: stands for this caller in `setPriority`.
    ///   - progress: is told how far a download is and finishes with the load.
    ///   - previews: is given what a progressive JPEG looks like while it is downloaded, at about the size wanted, and
    ///     finishes with the load: six at most, each of twice the bytes of the one before. Default nil: none are made.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` when the calling task is.
    public nonisolated(nonsending) func image(
        for request: ImageRequest, ticket: LoadTicket = LoadTicket(),
        progress: AsyncStream<TransferProgress>.Continuation? = nil,
        previews: AsyncStream<ImagePreview>.Continuation? = nil
    ) async throws(ImageLoadingError) -> LoadedImage {
        let listener = ProgressListener(progress, previews)
        if request.allowsMemory, let image = memory.value(for: request.imageKey),
            isUsable(image, for: request)
        {
            listener?.finish()
            return LoadedImage(image: image, source: .memory)
        }
        return try await load(request, ticket, listener)
    }

    /// Gives the caller behind `ticket` another priority. Does nothing once the caller has its answer.
    public func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        ticket.priority = priority
        heedPriority(of: ticket)
    }

    /// Whether the image is on the screen, so that the memory tier keeps it. Calls come in pairs: true, then false.
    public nonisolated func setPinned(_ isPinned: Bool, for request: ImageRequest) {
        if isPinned { memory.pin(request.imageKey) } else { memory.unpin(request.imageKey) }
    }

    /// Returns when everything stored so far is on disk.
    public nonisolated func flush() async { await files.flush() }

    // MARK: One flight

    nonisolated var below: FileLoader { files }

    nonisolated func find(
        _ request: ImageRequest, _ flight: Flight
    ) async throws(ImageLoadingError) -> LoadedImage {
        // A flight may have ended between the caller's own look and this one.
        if request.allowsMemory, let image = memory.valueAgain(for: request.imageKey),
            isUsable(image, for: request)
        {
            return LoadedImage(image: image, source: .memory)
        }
        let previews = PreviewMaker(
            sizing: request.sizing, limits: decodingLimits, on: threads, for: flight.progress,
            under: pressure)
        let file = try await files.file(
            for: request, ticket: flight.ticket,
            listener: ProgressListener(flight.progress, previews: previews))
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        let image = try await decode(file, for: request)
        memory.store(image, for: request.imageKey, cost: image.bitmap.cost)
        // Only what was there decoded is from memory.
        return LoadedImage(image: image, source: file.source == .memory ? .decoded : file.source)
    }

    /// Whether the request may be answered with what the memory tier has.
    private nonisolated func isUsable(_ image: CachedImage, for request: ImageRequest) -> Bool {
        request.accepts(image.response, now: files.clock.seconds)
    }

    /// Decodes on a thread that may take its time. A file that is found to be damaged does not stay in the disk tier.
    private nonisolated func decode(
        _ file: LoadedFile, for request: ImageRequest
    ) async throws(ImageLoadingError) -> CachedImage {
        if pressure?.level == .critical { throw .memoryShort(url: request.url.displayText) }
        let outcome: Result<CachedImage, ImageDecodingError>
        do {
            outcome = try await threads.run {
                [decoders, decodingLimits] () -> Result<CachedImage, ImageDecodingError> in
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
                            CachedImage(
                                bitmap: bitmap, header: header, url: file.url, requestedURL: request.url,
                                response: file.file.response))
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
