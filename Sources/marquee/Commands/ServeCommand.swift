import CatalogueService
import FilmSources
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import ServiceOperations
import SystemSupport

/// `marquee serve`: serves a folder, a catalogue or a library over HTTP, optionally slow or with errors.
enum ServeCommand: Command {
    static let specification = CommandSpecification(
        name: "serve", operands: "[FOLDER|CATALOGUE|LIBRARY.db]", operandCount: 0...1,
        summary: "serve films and their posters over HTTP (default: the sample catalogue)",
        examples: [
            ("marquee serve films.db --writable --port 8080", "a library, for programs on this machine"),
            ("marquee add --title Faust --catalogue http://127.0.0.1:8080/", "add a film"),
            ("marquee --catalogue http://127.0.0.1:8080/", "browse the films it serves"),
            ("curl localhost:8080/films/metropolis/poster/w342 -o small.jpg", "a poster at a size"),
            ("marquee serve --source images.example.org --admin 127.0.0.1:9090", "with that host's pictures"),
            ("marquee serve films.db --writable --address 0.0.0.0 --token-file tokens", "for the household"),
            (
                "marquee serve films.db --private --token-file tokens --check",
                "before a restart: is all right?"
            ),
            ("marquee serve --port 8080 --latency 300", "a slow server, to watch posters load"),
        ],
        options: [
            Option(name: "port", value: "N", help: "the port (default: one the system chooses)"),
            Option(
                name: "address", value: "ADDRESS",
                help: "the address to listen at, or unix:PATH (default: 127.0.0.1)"),
            Option(
                name: "writable",
                help: "let clients with a token add, change, rate and remove films of a library"),
            Option(name: "create", help: "make the library, without films, if it is not there"),
            Option(
                name: "private", help: "ask for a token even to read; signed addresses of pictures need none"
            ),
            Option(
                name: "token-file", value: "FILE",
                help:
                    "tokens, one on each line, each after # NAME or # NAME ROLE: read, rate, write or admin "
                    + "(default: one made at the start; see marquee token)"),
            Option(
                name: "trust-local",
                help: "let every program on this machine write without a token; not for use behind a proxy"),
            Option(
                name: "check",
                help: "only look whether the service could start with these options and files"),
            Option(
                name: "public-url", value: "URL",
                help: "the address under which a proxy publishes the service", isRepeatable: true),
            Option(
                name: "event-threads", value: "N",
                help: "threads that serve connections (default: one for each processor, at most 4)"),
            Option(
                name: "answer-memory", value: "BYTES",
                help: "memory for answers that slow clients have not taken (default: 256M)"),
            Option(
                name: "follow-links",
                help: "follow links that lead out of a folder (default: they are left out)"),
            Option(name: "latency", value: "MS", help: "milliseconds to wait before each answer"),
            Option(name: "bandwidth", value: "BYTES", help: "bytes a second for each connection: 100K, ..."),
            Option(name: "fail", value: "RATE", help: "answer this share of requests with an error: 0 to 1"),
        ] + pictureOptions + ServeOperations.options, readsEnvironment: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let (arguments, output) = (session.arguments, session.output)
        let environment = ProcessInfo.processInfo.environment
        let sockets = ServiceManager.sockets(environment)
        var configuration = try configuration(arguments, sockets.filter { $0.name != "admin" }.map(\.address))
        let listen = configuration.server.addresses[0]
        let reader = SettingsReader(output: output)
        configuration.films = try await films(arguments, listen, reader)
        configuration.pictures = try await pictures(session, reader)
        // A free thread needs a moment to take a read.
        configuration.server.queueTime = max(
            .seconds(1), configuration.pictures?.queueTime ?? configuration.server.queueTime)
        let reports = ServeReports(output)
        reports.attach(to: &configuration)
        let (content, source, unpacked) = try await content(session)
        defer { unpacked?.remove() }
        let reading = source?.keepCurrent()
        defer { reading?.cancel() }
        if case .library = content {
        } else if configuration.films.isWritable {
            throw Failure("only a library is writable; make one with: marquee import CATALOGUE LIBRARY.db")
        }
        let pictures = Lock<PictureServer?>(nil)
        let madePictures = { @Sendable in pictures.withLock { $0 } }
        let operations = try ServeOperations(
            arguments, clients: configuration.clients,
            files: files(arguments, output, writers: configuration.films.writers, pictures: madePictures),
            pictures: madePictures, passed: sockets.first { $0.name == "admin" }?.address, output: output)
        configuration.readiness = operations.readiness
        configuration.films.operations = operations.handler
        reports.register(in: operations.metrics)
        ServeWarnings(arguments: arguments, content: content, films: configuration.films, listen: listen)
            .lines(environment).forEach(output.notice)
        if arguments.has("check") {
            try CatalogueService.check(content, configuration: configuration)
            session.print(["check": "passed"], orLine: "the service can start")
            return .done
        }
        let service = try CatalogueService(content, configuration: configuration) { answer in
            operations.record(answer)
            if output.isVerbose { output.detail(line(answer)) }
        }
        pictures.withLock { $0 = service.pictures }
        let token = try ownToken(arguments, configuration.films, listen, port: service.port)
        defer { token?.lease.end() }
        try operations.start(service)
        let watches = [
            service.pictures?.shared.map { operations.watch($0, output) },
            ServiceManager.watchdog(environment).map { operations.report(service, each: $0) },
        ]
        defer { for watch in watches { watch?.cancel() } }
        try service.start()
        session.interruption.onHangUp { operations.reload() }
        // Before the address: whoever reads it may ask at once whether the service is ready.
        operations.becomeReady()
        announce(service, content, at: listen, configuration.films, token, operations, session)
        try operations.startLog()
        await untilCancelled()
        await BlockingThreads.runOnOwnThread { operations.end(service, after: session.interruption.signal) }
        reports.flush()
        await service.pictures?.flush()
        session.reportFaults(of: service.pictures?.disk)
        let statistics = service.statistics
        output.notice("served \(statistics.requests) requests, \(ByteCount.text(statistics.bytesSent))")
        return .stopped
    }

    /// Prints the address, and what the operator should know.
    private static func announce(
        _ service: CatalogueService, _ content: CatalogueService.Content, at listen: ListenAddress,
        _ films: FilmServiceConfiguration, _ token: OwnToken?, _ operations: ServeOperations,
        _ session: Session
    ) {
        let output = session.output
        let address = text(listen, port: service.port)
        session.print(
            ["url": address, "admin": operations.address].compactMapValues(\.self), orLine: address)
        output.flush()
        if let token { output.notice(invitation(token, films, listen)) }
        if films.writers.trustsLocal {
            output.notice(
                "--trust-local: every program on this machine may change the films without a token; "
                    + "behind a proxy every stranger could")
        }
        if case .folder(let folder) = content, !service.hasFilms {
            output.notice(
                "\(folder) has no movies.json or movies.xml, and no films; only its pictures are served, by their names"
            )
        }
    }

    /// Where the service listens, its limits, and the faults that it simulates.
    /// - Parameter passed: the sockets of the service manager, in place of the options.
    private static func configuration(
        _ arguments: Arguments, _ passed: [ListenAddress]
    ) throws -> CatalogueService.Configuration {
        var configuration = CatalogueService.Configuration()
        configuration.server.addresses = try passed.isEmpty ? [listenAddress(arguments)] : passed
        configuration.server.socketMode = try ServeOperations.socketMode(arguments)
        if let latency = try arguments.number("latency", in: 0...600_000) {
            configuration.server.latency = .milliseconds(latency)
        }
        configuration.server.eventThreads =
            try arguments.number("event-threads", in: 1...64) ?? configuration.server.eventThreads
        configuration.server.answerMemory =
            try arguments.bytes("answer-memory") ?? configuration.server.answerMemory
        configuration.server.bandwidth = try arguments.bytes("bandwidth")
        configuration.followsLinks = arguments.has("follow-links")
        if let text = arguments.value("fail") {
            guard let rate = Double(text), (0...1).contains(rate) else {
                throw UsageError("--fail needs a rate from 0 to 1, not \"\(text)\"")
            }
            configuration.failureRate = rate
        }
        configuration.clients = ForwardedClient(trusting: try arguments.networks("trusted-proxy"))
        configuration.requestsPerClient = try arguments.number("per-client", in: 1...1_000_000)
        return configuration
    }

    /// Who may read films, and who may write them.
    private static func films(
        _ arguments: Arguments, _ listen: ListenAddress, _ reader: SettingsReader
    ) async throws -> FilmServiceConfiguration {
        var films = FilmServiceConfiguration()
        films.isWritable = arguments.has("writable")
        films.isPrivate = arguments.has("private")
        films.keepsMetadata = arguments.has("keep-metadata")
        for text in arguments.values("public-url") {
            guard let address = PublicAddress(text) else {
                throw UsageError(
                    "--public-url needs an address such as https://films.example.org, not \"\(text)\"")
            }
            films.publicAddresses.append(address)
        }
        films.listeningHosts = listen.host.map { [$0] } ?? []
        if arguments.has("trust-local") {
            guard !arguments.has("token-file") else {
                throw UsageError("--trust-local and --token-file exclude each other")
            }
            guard !films.isReachable else {
                throw UsageError(
                    "--trust-local works only at a loopback address or a local socket, without --public-url; "
                        + "use --token-file")
            }
            films.writers = WriteAccess(trustsLocal: true)
        }
        if let path = arguments.value("token-file") {
            films.writers = WriteAccess(try await reader.read(path) { try TokenFile.tokens(in: $0) })
        }
        return films
    }

    /// The files that SIGHUP reads anew. What is wrong in one leaves the old content standing.
    private static func files(
        _ arguments: Arguments, _ output: Output, writers: WriteAccess,
        pictures: @escaping @Sendable () -> PictureServer?
    ) -> [FileReloader.File] {
        let reader = SettingsReader(output: output, isRunning: true)
        var files: [FileReloader.File] = []
        if let path = arguments.value("token-file") {
            files.append(
                FileReloader.File("tokens") {
                    let change = writers.replaceTokens(
                        with: try await reader.read(path) { try TokenFile.tokens(in: $0) })
                    if change == (0, 0) { return nil }
                    return "\(change.added) added, \(change.removed) removed"
                })
        }
        if arguments.has("sign-key-file") || arguments.has("sizes-file") {
            files.append(
                FileReloader.File("keys and sizes") {
                    let changed = pictures()?.replaceRules(by: try await rules(arguments, reader)) ?? []
                    return changed.isEmpty ? nil : "new " + changed.joined(separator: " and ")
                })
        }
        return files
    }

    /// A token that the service has made for itself, and its file.
    private typealias OwnToken = (kept: KeptToken, lease: KeptToken.Lease)

    /// Makes the token of a service that was given none and needs one, and keeps it for the user's other programs.
    private static func ownToken(
        _ arguments: Arguments, _ films: FilmServiceConfiguration, _ listen: ListenAddress, port: UInt16
    ) throws -> OwnToken? {
        guard films.isWritable || films.isPrivate, !arguments.has("token-file"), !films.writers.trustsLocal
        else { return nil }
        let address =
            if case .local(let path) = listen { "unix:" + TokenCommand.absolute(path) } else {
                text(listen, port: port)
            }
        let kept = KeptToken(address: address, value: WriteAccess.randomToken())
        do throws(FileFault) {
            let lease = try kept.keep()
            films.writers.replaceTokens(with: [WriteAccess.Token(name: "own", value: kept.value)])
            return (kept, lease)
        } catch {
            throw Failure(
                "the service's token cannot be kept: \(error); name a file of tokens with --token-file"
            )
        }
    }

    /// How to write: on a terminal the address that signs a browser in, elsewhere the file of the token.
    private static func invitation(
        _ token: OwnToken, _ films: FilmServiceConfiguration, _ listen: ListenAddress
    ) -> String {
        let purpose = films.isPrivate ? "seeing films" : "writing"
        guard isatty(STDERR_FILENO) == 1, let host = listen.host else {
            return "the token for \(purpose) is in \(token.lease.path)"
        }
        var address = films.publicAddresses.first?.text ?? token.kept.address
        if films.publicAddresses.isEmpty, ["0.0.0.0", "::"].contains(host),
            let port = WebOrigin(address)?.port
        {
            address = "http://127.0.0.1:\(port)/"
        }
        return
            "to \(films.isPrivate ? "see" : "change") films in a browser, open \(address)login?token=\(token.kept.value)"
    }

    /// The content to serve: the operand, else the catalogue of the settings.
    private static func content(
        _ session: Session
    ) async throws -> (CatalogueService.Content, ServedSource?, unpacked: PrivateFolder?) {
        var provider = session.provider
        if let path = session.arguments.operands.first {
            if FileKind(path) == .folder { return (.folder(path: path), nil, nil) }
            provider = FilmProviders.provider(named: path)
        }
        switch provider.abilities.serving {
        case .sample:
            let folder = try SampleCatalogue.unpacked()
            return (.folder(path: folder.path), nil, folder)
        case .copy:
            let served = try await ServedSource(session.reading(provider))
            return (.films(served.library), served, nil)
        case .folder(let path): return (.folder(path: path), nil, nil)
        case .library(let path):
            if session.arguments.has("create"), FileKind(path) == nil {
                _ = try FilmLibrary(path: path, access: .creating)
            }
            return (.library(path: path), nil, nil)
        case .catalogue(let path):
            guard FileManager.default.fileExists(atPath: path) else {
                throw Failure("there is no \(path); name a folder, a catalogue or a library")
            }
            // The whole catalogue is read when the first client asks for films.
            let start = try Input.beginning(of: path)
            guard let first = start.first(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }),
                "{[<".utf8.contains(first)
            else { throw Failure("\(path) is not a catalogue; name JSON, XML, a library or a folder") }
            return (.catalogue(path: path), nil, nil)
        case .refused(let reason): throw Failure(reason)
        }
    }

    /// `--address` and `--port`.
    private static func listenAddress(_ arguments: Arguments) throws -> ListenAddress {
        let port = try arguments.number("port", in: 0...65535)
        let address = arguments.value("address") ?? "127.0.0.1"
        guard address.hasPrefix("unix:") else {
            return .internet(address: address, port: UInt16(port ?? 0))
        }
        if port != nil { throw UsageError("--port does not work with --address unix:PATH") }
        return .local(path: String(address.dropFirst("unix:".count)))
    }

    /// The service's address for clients.
    static func text(_ address: ListenAddress, port: UInt16) -> String {
        switch address {
        case .internet(let address, _), .passed(_, let address?):
            "http://\(address.contains(":") ? "[\(address)]" : address):\(port)/"
        case .local(let path): "unix:\(path)"
        case .passed: "the service manager's socket"
        }
    }

    /// `GET /posters/a.jpg 200, 42250 bytes in 0.4 ms`; without the query and other secrets, as in the log.
    private static func line(_ answer: HTTPServer.Answer) -> String {
        let time = (answer.time / .milliseconds(1)).formatted(decimals: 1)
        let path = LogPath(answer.target).text
        return "\(answer.method) \(path) \(answer.status), \(answer.bytes) bytes in \(time) ms"
    }

    /// Returns when Ctrl-C or SIGTERM cancels the task.
    private static func untilCancelled() async {
        // A stream without elements ends when the task is cancelled.
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
    }
}

/// The part of `marquee serve` that makes pictures.
extension ServeCommand {
    private static let pictureOptions = [
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
            help: "keys, one on each line: KEY or NAME KEY; a signed address allows any size"),
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
            help: "seconds that a source or a read of films may wait (default: 5); then it gets 503"),
        Option(
            name: "queue", value: "N", help: "sources that may wait at most (default: by --decode-memory)"),
    ]

    /// The folder of the service's cache. It contains what everybody may see, so it shares nothing with a user's cache.
    static func pictureFolder(_ settings: Settings) -> String { settings.cacheFolder + "/service" }

    /// How pictures are made.
    static func pictures(_ session: Session, _ reader: SettingsReader) async throws
        -> PictureServer.Configuration
    {
        let (arguments, settings) = (session.arguments, session.settings)
        guard settings.transport.proxy == .none else {
            throw UsageError(
                "--proxy does not work with serve: the proxy would hide the addresses to check")
        }
        let rules = try await rules(arguments, reader, settings.decoding)
        var configuration = PictureServer.Configuration(rules: rules)
        configuration.allowedNetworks = try arguments.networks("allow-private")
        configuration.workers = try arguments.number("workers", in: 1...256) ?? configuration.workers
        configuration.queue = try arguments.number("queue", in: 0...100_000)
        if let seconds = try arguments.number("queue-time", in: 0...600) {
            configuration.queueTime = .seconds(seconds)
        }
        configuration.decodeMemory = settings.decoding.memory
        configuration.pictureMemory =
            try arguments.bytes("memory-size") ?? configuration.pictureMemory
        configuration.downloads = downloads(settings, configuration.downloads, arguments)
        configuration.pressure = .system
        configuration.shared = settings.shared?.tier
        if let file = settings.shared?.keyFile { reader.warn(ifOpen: file) }
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
    static func rules(
        _ arguments: Arguments, _ reader: SettingsReader, _ limits: DecodingLimits = .standard
    ) async throws -> PictureRules {
        let sources = try arguments.values("source").map { text throws(UsageError) in
            // Plain http is allowed too: the operator has named the host.
            guard let source = FetchSource("http://\(text)") else {
                throw UsageError(
                    "--source needs a host such as images.example.org:8080, or *.example.org for all its "
                        + "subdomains, not \"\(text)\"")
            }
            return source
        }
        var sizes = arguments.words("sizes")
        if let path = arguments.value("sizes-file") {
            guard sizes.isEmpty else { throw UsageError("--sizes and --sizes-file exclude each other") }
            sizes = try await reader.read(path, isSecret: false) { try PictureRules.sizes(inFile: $0) }
        }
        var keys: SigningKeys?
        if let path = arguments.value("sign-key-file") {
            keys = try await reader.read(path) { try SigningKeys($0) }
        }
        return try UsageError.naming("--sizes") {
            try PictureRules(
                sources: Set(sources), sizes: sizes.isEmpty ? PictureRules.standardSizes : sizes, keys: keys,
                limits: limits)
        }
    }
}
