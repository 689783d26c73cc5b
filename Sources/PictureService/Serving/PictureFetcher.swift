import HTTPSemantics
import LazyImages

/// Fetches the sources of pictures, by the rules of who may be fetched and of a shared cache.
struct PictureFetcher: Sendable {
    /// For what anybody may ask: the sources on offer.
    private let listed: FileLoader
    /// For what is signed.
    private let signed: FileLoader

    /// Bytes of source files in memory: the sizes of one picture are mostly wanted together.
    private static let fileMemory = 16 << 20

    init(_ configuration: PictureService.Configuration) {
        let rules = configuration.rules
        let disk = configuration.disk
        func loader(_ fetchGuard: FetchGuard) -> FileLoader {
            var downloads = configuration.downloads
            downloads.cacheKind = .shared
            downloads.acceptsAnyContent = false
            downloads.acceptsAnyStatus = false
            downloads.security.fetchGuard = fetchGuard
            return FileLoader(
                memory: MemoryCache(limit: Self.fileMemory), disk: disk, configuration: downloads,
                transport: configuration.transport, pressure: configuration.pressure,
                clock: configuration.clock)
        }
        let sources = rules.sources.union(rules.catalogueSources).compactMap { source in
            // Plain http too: the operator has named the host.
            FetchSource("http://\(source.text)")
        }
        listed = loader(FetchGuard(sources: sources, allowedNetworks: configuration.allowedNetworks))
        signed =
            rules.keys != nil && rules.sources.isEmpty
            ? loader(FetchGuard(anyHostAllowing: configuration.allowedNetworks)) : listed
    }

    /// The file at an address, from a tier or the origin.
    func file(_ source: PictureSource, isSigned: Bool) async throws(ImageLoadingError) -> LoadedFile {
        try await (isSigned ? signed : listed).validatedFile(for: ImageRequest(url: source.url))
    }

    /// Whether signed addresses are fetched by other rules, so that no others may share their transfers.
    var tellsSigned: Bool { signed !== listed }

    /// Forgets what is stored of an address.
    func remove(_ source: PictureSource) async {
        for loader in [listed, signed] { await loader.remove(ImageRequest(url: source.url)) }
    }

    /// Returns when what was stored is on disk.
    func flush() async {
        await listed.flush()
        await signed.flush()
    }

    /// Transfers under way or waiting.
    var transferCount: Int {
        listed.downloader.transferCount + (tellsSigned ? signed.downloader.transferCount : 0)
    }
}
