import CatalogueService
import HTTPSemantics
import LazyImages
import PictureServer

/// The part of `marquee serve` that makes pictures.
extension ServeCommand {
    static let pictureOptions = [
        Option(
            name: "source", value: "HOST[:PORT]",
            help: "allow pictures from this host, or from *.DOMAIN, besides the catalogue's posters",
            isRepeatable: true),
        Option(
            name: "sizes", value: "RECIPES",
            help: "the listed sizes: w342,342x513.fill, ... (default: w92 to w780, original)",
            isRepeatable: true),
        Option(
            name: "sizes-file", value: "FILE", help: "the listed sizes, one on each line, instead of --sizes"),
        Option(
            name: "sign-key-file", value: "FILE",
            help: "keys, one on each line; a signed address allows any size (see marquee sign)"),
        Option(
            name: "allow-private", value: "CIDR",
            help: "allow fetching from a network that is not public: 192.168.1.0/24, ...",
            isRepeatable: true),
        Option(
            name: "keep-metadata",
            help: "store uploaded posters with their metadata: positions, camera, texts (default: without)"),
        Option(name: "workers", value: "N", help: "pictures made at once (default: one for each processor)"),
        Option(
            name: "queue-time", value: "S",
            help: "seconds that a source may wait for its turn (default: 5); longer waits get 503"),
        Option(
            name: "queue", value: "N", help: "sources that may wait at most (default: any number)"),
        Option(name: "decode-memory", value: "BYTES", help: "memory for making pictures (default: 512M)"),
    ]

    /// The folder of the service's cache. It contains what everybody may see, so it shares nothing with a user's cache.
    static func pictureFolder(_ settings: Settings) -> String { settings.cacheFolder + "/service" }

    /// How pictures are made.
    static func pictures(_ session: Session) async throws -> PictureServer.Configuration {
        let (arguments, settings) = (session.arguments, session.settings)
        guard settings.transport.proxy == .none else {
            throw UsageError(
                "--proxy does not work with serve: the proxy would hide the addresses to check")
        }
        var configuration = PictureServer.Configuration(rules: try await rules(arguments))
        configuration.allowedNetworks = try arguments.networks("allow-private")
        configuration.workers = try arguments.number("workers", in: 1...256) ?? configuration.workers
        configuration.queue = try arguments.number("queue", in: 0...100_000)
        if let seconds = try arguments.number("queue-time", in: 0...600) {
            configuration.queueTime = .seconds(seconds)
        }
        configuration.decodeMemory = try arguments.bytes("decode-memory") ?? configuration.decodeMemory
        configuration.pictureMemory =
            try arguments.bytes("memory-size") ?? configuration.pictureMemory
        configuration.downloads = downloads(settings, configuration.downloads, arguments)
        configuration.pressure = .system
        configuration.shared = settings.shared?.tier
        if settings.usesDisk {
            configuration.disk = DiskCache(folder: pictureFolder(settings), limit: settings.cacheLimit)
        }
        return configuration
    }

    /// The settings of transfers. Limits that the user has not set are the service's own.
    private static func downloads(
        _ settings: Settings, _ standard: ImageDownloader.Configuration, _ arguments: Arguments
    ) -> ImageDownloader.Configuration {
        var downloads = settings.downloads
        if !arguments.has("timeout"), !arguments.has("max-time") { downloads.timeouts = standard.timeouts }
        if !arguments.has("concurrency") { downloads.transfers = standard.transfers }
        if !arguments.has("per-host") { downloads.transfersPerHost = standard.transfersPerHost }
        return downloads
    }

    /// The rules of the options, with the files of keys and sizes as they are now. A running service takes them with
    /// `PictureServer.replaceRules(by:)`.
    /// - Throws: what is wrong with an option or a file, with the file's name and line.
    static func rules(_ arguments: Arguments) async throws -> PictureRules {
        let sources = try arguments.values("source").map { text throws(UsageError) in
            guard let name = HostAndPort(text), FetchSource(text) != nil else {
                throw UsageError(
                    "--source needs a host such as images.example.org:8080, or *.example.org for all its "
                        + "subdomains, not \"\(text)\"")
            }
            return PictureRules.Source(name)
        }
        var sizes = arguments.words("sizes")
        if let path = arguments.value("sizes-file") {
            guard sizes.isEmpty else { throw UsageError("--sizes and --sizes-file exclude each other") }
            let file = try await Input.file(path)
            do throws(PictureRefusal) {
                sizes = try PictureRules.sizes(inFile: file)
            } catch {
                throw Failure("\(path): \(error)")
            }
        }
        var keys: SigningKeys?
        if let path = arguments.value("sign-key-file") { keys = try await SignCommand.keys(path) }
        do throws(PictureRefusal) {
            return try PictureRules(
                sources: Set(sources), sizes: sizes.isEmpty ? PictureRules.standardSizes : sizes, keys: keys)
        } catch {
            throw UsageError("--sizes: \(error)")
        }
    }
}
