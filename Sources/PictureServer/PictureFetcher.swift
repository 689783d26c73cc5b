import LazyImages

/// Fetches the sources of pictures through a shared cache, and only from allowed hosts.
struct PictureFetcher: Sendable {
    /// Fetches the listed sources, which any client may ask for.
    private let listed: FileLoader
    /// Fetches the sources of signed addresses.
    private let signed: FileLoader
    let reportFailure: @Sendable (any Error) -> Void

    /// The most bytes of source files in memory. Clients mostly want several sizes of a picture at about the same time.
    private static let fileMemory = 16 << 20

    init(_ configuration: PictureServer.Configuration) {
        reportFailure = configuration.reportFailure
        let rules = configuration.rules
        let disk = configuration.disk
        // A host sees its limit once, whoever allows its address.
        let slots = configuration.downloads.makeSlots()
        func loader(_ fetchGuard: FetchGuard) -> FileLoader {
            var downloads = configuration.downloads
            downloads.slots = slots
            downloads.cacheKind = .shared
            downloads.acceptsAnyContent = false
            downloads.acceptsAnyStatus = false
            downloads.security.fetchGuard = fetchGuard
            return FileLoader(
                memory: MemoryCache(limit: Self.fileMemory), disk: disk, shared: configuration.shared,
                configuration: downloads, transport: configuration.transport,
                pressure: configuration.pressure, clock: configuration.clock)
        }
        let sources = rules.sources.union(rules.catalogueSources).compactMap { source in
            // Allows plain http too: the operator has named the host.
            FetchSource("http://\(source.text)")
        }
        listed = loader(FetchGuard(sources: sources, allowedNetworks: configuration.allowedNetworks))
        // Also without keys: the service may get some while it runs.
        signed =
            rules.sources.isEmpty
            ? loader(FetchGuard(anyHostAllowing: configuration.allowedNetworks)) : listed
    }

    /// The file at an address, from a tier or from the origin.
    func file(_ source: PictureSource, isSigned: Bool) async throws(PictureFailure) -> LoadedFile {
        do {
            return try await (isSigned ? signed : listed).validatedFile(for: ImageRequest(source.url))
        } catch {
            // The operator reads which address was refused. The client is not told.
            if case .addressRefused(_, .address, _) = error { reportFailure(error) }
            throw PictureFailure(error)
        }
    }

    /// Whether signed addresses have their own rules. Unsigned requests must then not share their transfers.
    var separatesSigned: Bool { signed !== listed }

    /// Stores a file that came just now again, once decoding has found it damaged: see `LoadedFile.doubted`.
    func doubt(_ file: LoadedFile, of source: PictureSource, isSigned: Bool) async {
        await (isSigned ? signed : listed).doubt(file, for: ImageRequest(source.url))
    }

    /// Removes the stored file of an address.
    func remove(_ source: PictureSource) async {
        for loader in [listed, signed] { await loader.remove(ImageRequest(source.url)) }
    }

    /// Returns after all stored files are on disk.
    func flush() async {
        for loader in [listed, signed] { await loader.flush() }
    }

    /// Running and waiting transfers.
    var transferCount: Int {
        listed.downloader.transferCount + (separatesSigned ? signed.downloader.transferCount : 0)
    }
}
