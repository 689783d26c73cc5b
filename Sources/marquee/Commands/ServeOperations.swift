import CatalogueService
import Glibc
import HTTPSemantics
import HTTPServer
import PictureService
import ServiceOperations
import SystemSupport

/// What operators see of a service, and how it ends: the listener for health and metrics, the log of requests, the word to
/// the service manager, and the drain.
final class ServeOperations: Sendable {
    static let options = [
        Option(
            name: "admin", value: "ADDRESS",
            help: "tell health and metrics at HOST:PORT or unix:PATH: /health/ready, /metrics, ..."),
        Option(
            name: "drain", value: "S",
            help:
                "seconds to go on after SIGTERM, while /health/ready answers 503 (default: 5 with --admin, else 0)"
        ),
        Option(
            name: "log", value: "json|text|off",
            help: "a line for each request on standard output (default: off)"),
        Option(
            name: "per-client", value: "N",
            help: "requests a second that a client may send; more: 429 (default: any number)"),
        Option(
            name: "trusted-proxy", value: "CIDR",
            help: "proxies whose X-Forwarded-For tells the client", isRepeatable: true),
    ]

    /// For every part of the service to register its figures.
    let metrics = Metrics()
    let readiness = Readiness()
    /// Takes each answer; nil where none is wanted.
    private let log: RequestLog?
    /// How long requests take; nil where nobody asks for figures.
    private let times: Histogram?
    /// What makes pictures; nil until it is there.
    private let pictures: Pictures
    private let admin: HTTPServer?
    private let listen: ListenAddress?
    private let drain: Duration

    /// How long answers under way may take after the drain: a picture may have to be fetched.
    private static let answerGrace = Duration.seconds(10)
    private static let defaultDrain = 5

    private final class Pictures: Sendable {
        let service = Lock<PictureService?>(nil)
    }

    /// Listens; nothing is served yet.
    /// - Parameter clients: tells the log who the client is.
    init(_ arguments: Arguments, clients: ForwardedClient) throws {
        let pictures = Pictures()
        self.pictures = pictures
        let purge: AdminHandler.Purge = { text in
            guard let service = pictures.service.withLock({ $0 }) else { return false }
            return await service.purge(try PictureSource(text))
        }
        listen = try arguments.value("admin").map(Self.address)
        let seconds = try arguments.number("drain", in: 0...86_400)
        drain = .seconds(seconds ?? (listen == nil ? 0 : Self.defaultDrain))
        log = try Self.form(arguments.value("log")).map { try RequestLog($0, clients: clients) }
        times = listen.map { [metrics] _ in
            metrics.histogram(
                "marquee_http_request_seconds",
                "Time of requests, from the last byte of each to the last of its answer.")
        }
        admin = try listen.map { [metrics, readiness] listen in
            var configuration = HTTPServer.Configuration()
            configuration.addresses = [listen]
            // Nobody but programs of the operator come here, now and then.
            (configuration.eventThreads, configuration.blockingThreads) = (1, 2)
            configuration.maximumConnections = 256
            var hosts: [String] = []
            if case .internet(let host, _) = listen { hosts = [host] }
            return try HTTPServer(
                configuration: configuration,
                handler: AdminHandler(metrics: metrics, readiness: readiness, hosts: hosts, purge: purge))
        }
    }

    /// Takes an answer into the log and the figures. Any thread may.
    func note(_ answer: HTTPServer.Answer) {
        log?.record(answer)
        times?.observe(answer.time)
    }

    /// Where health and metrics are; nil where they are nowhere.
    var address: String? {
        guard let listen, let admin else { return nil }
        return ServeCommand.text(listen, port: admin.ports.lazy.compactMap(\.self).first ?? 0)
    }

    /// Tells health and metrics from now on; the service is not ready yet.
    func start(_ service: CatalogueService) throws {
        metrics.watchProcess(version: Marquee.version)
        metrics.watch(server: { service.statistics })
        if let pictures = service.pictures {
            metrics.watch(pictures: pictures)
            self.pictures.service.withLock { $0 = pictures }
        }
        if let log {
            metrics.counter("marquee_log_dropped_lines_total", "Lines of the log that found no room.") {
                Double(log.droppedLines)
            }
        }
        try admin?.start()
    }

    /// The service listens: lines of the log follow the address that the program has printed.
    func becomeReady() throws {
        try log?.start()
        readiness.becomeReady()
        ServiceManager.notify(.ready)
    }

    /// Ends the service. After SIGTERM balancers learn of it first: the service goes on for the time of the drain, and then
    /// lets answers finish. Any other signal ends it at once. Blocks.
    func end(_ service: CatalogueService, after signal: Int32?) {
        readiness.becomeUnready(because: "stopping")
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

    /// Proxies that are trusted to tell the client.
    static func clients(_ arguments: Arguments) throws(UsageError) -> ForwardedClient {
        ForwardedClient(trusting: try arguments.networks("trusted-proxy"))
    }

    private static func form(_ text: String?) throws(UsageError) -> RequestLog.Form? {
        guard let text, text != "off" else { return nil }
        if let form = RequestLog.Form(rawValue: text) { return form }
        throw UsageError("--log wants json, text or off, not \"\(text)\"")
    }

    /// `127.0.0.1:9090`, `[::1]:9090`, `unix:/run/marquee/admin`.
    private static func address(_ text: String) throws(UsageError) -> ListenAddress {
        if text.hasPrefix("unix:") { return .local(path: String(text.dropFirst("unix:".count))) }
        guard let name = HostName(text), name.isAddress, let port = name.port else {
            throw UsageError(
                "--admin wants an address and a port such as 127.0.0.1:9090, or unix:PATH, not \"\(text)\"")
        }
        return .internet(address: name.host, port: UInt16(port))
    }
}
