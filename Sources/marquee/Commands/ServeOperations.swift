import CatalogueService
import FilmSources
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import ServiceOperations
import SystemSupport

/// The operators' part of a service: the listener for health and metrics, the log of requests, the files that SIGHUP
/// reads anew, the messages to the service manager, and the drain.
final class ServeOperations: Sendable {
    static let options = [
        Option(
            name: "admin", value: "ADDRESS",
            help: "serve /health/ready, /metrics, ... at HOST:PORT or unix:PATH"),
        Option(
            name: "admin-host", value: "NAME",
            help: "a host name of the --admin address, besides addresses and localhost", isRepeatable: true),
        Option(
            name: "socket-mode", value: "MODE",
            help: "permissions of the sockets at unix:PATH in octal, such as 0660 (default: the umask's)"),
        Option(
            name: "drain", value: "S",
            help:
                "seconds to serve after SIGTERM with /health/ready 503 (default: 5 with --admin, else 0)"
        ),
        Option(
            name: "log", value: "json|text|off",
            help: "a line for each request on standard output (default: off)"),
        Option(
            name: "per-client", value: "N",
            help: "requests a second for each client; more get 429 (default: no limit)"),
        Option(
            name: "trusted-proxy", value: "CIDR",
            help: "proxies whose X-Forwarded-For is trusted", isRepeatable: true),
    ]

    /// The parts of the service register their metrics here.
    let metrics = Metrics()
    let readiness = Readiness()
    /// Takes each answer; nil if there is no log.
    private let log: RequestLog?
    /// How long requests take, in the order of the routes; empty without --admin.
    private let times: [Histogram]
    private let admin: HTTPServer?
    /// Health, metrics and purges.
    let handler: AdminHandler
    private let listen: ListenAddress?
    private let drain: Duration
    private let reloader: FileReloader

    /// How long running answers may take after the drain: a picture may have to be fetched.
    private static let answerGrace = Duration.seconds(10)
    private static let defaultDrain = 5

    /// Listens, but serves nothing yet.
    /// - Parameters:
    ///   - clients: finds the client of a request, for the log.
    ///   - files: the files that SIGHUP reads anew.
    ///   - pictures: the picture service; nil until it is made.
    ///   - passed: the socket for `--admin` that the service manager has made; nil for none.
    init(
        _ arguments: Arguments, clients: ForwardedClient, files: [FileReloader.File],
        pictures: @escaping @Sendable () -> PictureServer?, passed: ListenAddress?, output: Output
    ) throws {
        reloader = FileReloader(files) { report in
            switch report {
            case .done(let line): output.notice(line)
            case .failed(let line): output.failure(line)
            }
        }
        let purge: AdminHandler.Purge = { text in
            try await pictures()?.purge(PictureSource(text)) ?? false
        }
        listen = try passed ?? arguments.value("admin").map(Self.address)
        let seconds = try arguments.number("drain", in: 0...86_400)
        drain = .seconds(seconds ?? (listen == nil ? 0 : Self.defaultDrain))
        log = try Self.form(arguments.value("log")).map { try RequestLog($0, clients: clients) }
        times =
            listen == nil
            ? []
            : metrics.histograms(
                "marquee_http_request_seconds",
                "Time of requests, from a request's last byte to its answer's last byte, by route.",
                label: "route", values: HTTPRoute.allCases.map(\.name))
        if arguments.has("admin-host"), listen == nil {
            throw UsageError("--admin-host needs --admin ADDRESS")
        }
        let names = try arguments.values("admin-host").map { text throws(UsageError) in
            guard let name = HostAndPort(text), name.port == nil else {
                throw UsageError("--admin-host needs a host name such as films.example.org, not \"\(text)\"")
            }
            return name.host
        }
        let handler = AdminHandler(
            metrics: metrics, readiness: readiness, hosts: names + (listen?.host.map { [$0] } ?? []),
            purge: purge)
        self.handler = handler
        // A check leaves the address to the service that runs.
        admin = try (arguments.has("check") ? nil : listen).map { listen in
            var configuration = HTTPServer.Configuration()
            configuration.addresses = [listen]
            // Only the operator's programs use this listener, and not often.
            (configuration.eventThreads, configuration.blockingThreads) = (1, 2)
            configuration.maximumConnections = 256
            configuration.socketMode = try Self.socketMode(arguments)
            return try HTTPServer(configuration: configuration, handler: handler)
        }
    }

    /// Adds an answer to the log and the metrics. Any thread may call it.
    func record(_ answer: HTTPServer.Answer) {
        log?.record(answer)
        if !times.isEmpty { times[Int(answer.route.rawValue)].observe(answer.time) }
    }

    /// The address of health and metrics; nil without --admin.
    var address: String? {
        guard let listen, let admin else { return nil }
        return ServeCommand.text(listen, port: admin.ports.lazy.compactMap(\.self).first ?? 0)
    }

    /// Serves health and metrics; the service is not ready yet.
    func start(_ service: CatalogueService) throws {
        metrics.watchProcess(version: Marquee.version)
        metrics.watch(server: { service.statistics })
        if let pictures = service.pictures { metrics.watch(pictures: pictures) }
        if service.libraryWrites != nil {
            metrics.watch(library: { service.libraryWrites ?? WriteCounts() })
        }
        if let log {
            metrics.counter("marquee_log_dropped_lines_total", "Dropped lines of the request log.") {
                Double(log.droppedLines)
            }
        }
        try admin?.start()
    }

    /// Looks each second whether requests to the shared store pause. Says when a pause begins, and why, and when it ends.
    func watch(_ store: SharedTier, _ output: Output) -> Task<Void, Never> {
        Task { [readiness] in
            repeat {
                let traffic = store.traffic
                for (operation, fault) in [
                    ("reading", traffic.isReadingPaused ? traffic.readFault : nil),
                    ("writing", traffic.isWritingPaused ? traffic.writeFault : nil),
                ] {
                    let name = "the shared store \(store.address.displayText): \(operation)"
                    let note = fault.map { "\(name) pauses: \($0)" }
                    guard readiness.setNote(note, for: name) else { continue }
                    output.failure(note ?? "\(name) works again")
                }
                // Ignored: the service ends.
            } while (try? await Task.sleep(for: .seconds(1))) != nil
        }
    }

    /// Tells the service manager each third of its watchdog's time that all threads which serve connections go on.
    func report(_ service: CatalogueService, each interval: Duration) -> Task<Void, Never> {
        Task {
            var last = service.heartbeats()
            // Ignored: the service ends.
            while (try? await Task.sleep(for: interval / 3)) != nil {
                let beats = service.heartbeats()
                if zip(last, beats).allSatisfy({ $0 < $1 }) { ServiceManager.notify(.alive) }
                last = beats
            }
        }
    }

    /// Starts the log, after the address has been printed: both may go to standard output.
    func startLog() throws { try log?.start() }

    /// The service listens now.
    func becomeReady() {
        readiness.becomeReady()
        ServiceManager.notify(.ready)
    }

    /// Reads the files anew that belong to the service. Returns at once.
    func reload() { reloader.request() }

    /// Ends the service. After SIGTERM it first serves for the time of the drain, so that load balancers learn of it,
    /// and then lets answers finish. Any other signal ends it at once. Blocks.
    func end(_ service: CatalogueService, after signal: Int32?) {
        readiness.becomeUnready(because: "stopping")
        reloader.close()
        ServiceManager.notify(.stopping)
        if signal == SIGTERM {
            service.drain()
            _ = Polling.ready([], until: .now + drain)
            service.stop(grace: Self.answerGrace)
        } else {
            service.stop()
        }
        admin?.stop()
        log?.close()
    }

    /// The permissions of local sockets; nil without `--socket-mode`.
    static func socketMode(_ arguments: Arguments) throws(UsageError) -> UInt32? {
        guard let text = arguments.value("socket-mode") else { return nil }
        guard text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }),
            let mode = UInt32(text, radix: 8), mode <= 0o777
        else {
            throw UsageError(
                "--socket-mode needs permissions in octal from 0 to 0777, such as 0660, not \"\(text)\"")
        }
        let addresses = [arguments.value("address"), arguments.value("admin")]
        guard addresses.contains(where: { $0?.hasPrefix("unix:") == true }) else {
            throw UsageError("--socket-mode needs --address unix:PATH or --admin unix:PATH")
        }
        return mode
    }

    private static func form(_ text: String?) throws(UsageError) -> RequestLog.Form? {
        guard let text, text != "off" else { return nil }
        if let form = RequestLog.Form(rawValue: text) { return form }
        throw UsageError("--log needs json, text or off, not \"\(text)\"")
    }

    /// `127.0.0.1:9090`, `[::1]:9090`, `unix:/run/marquee/admin`.
    private static func address(_ text: String) throws(UsageError) -> ListenAddress {
        if text.hasPrefix("unix:") { return .local(path: String(text.dropFirst("unix:".count))) }
        guard let name = HostAndPort(text), name.isAddress, let port = name.port else {
            throw UsageError(
                "--admin needs an address and a port such as 127.0.0.1:9090, or unix:PATH, not \"\(text)\"")
        }
        return .internet(address: name.host, port: UInt16(port))
    }
}
