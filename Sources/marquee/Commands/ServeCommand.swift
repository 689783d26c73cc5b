import CatalogueService
import FoundationEssentials
import Glibc
import HTTPServer
import LazyImages
import SystemSupport

/// `marquee serve`: a catalogue's folder over HTTP, as fast or as slow and faulty as wanted.
enum ServeCommand: Command {
    static let specification = CommandSpecification(
        name: "serve", operands: "[FOLDER]", operandCount: 0...1,
        summary: "serve a catalogue's folder over HTTP (default: the sample catalogue)",
        examples: [
            ("marquee serve --port 8080 --latency 300", "a slow server, to watch posters come in"),
            ("marquee --catalogue http://127.0.0.1:8080/", "the films it serves"),
            ("marquee serve ~/films -v", "a folder of your own; a line a request"),
        ],
        options: [
            Option(name: "port", value: "N", help: "the port (default: one the system chooses)"),
            Option(
                name: "address", value: "ADDRESS",
                help: "the address to listen at, or unix:PATH (default: 127.0.0.1)"),
            Option(name: "latency", value: "MS", help: "wait so many milliseconds before each answer"),
            Option(name: "bandwidth", value: "BYTES", help: "bytes a second each connection gets: 100K, ..."),
            Option(name: "fail", value: "RATE", help: "answer this part of requests with an error: 0 to 1"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        var configuration = CatalogueService.Configuration()
        let listen = try listenAddress(arguments)
        configuration.server.addresses = [listen]
        if let latency = try arguments.number("latency", in: 0...600_000) {
            configuration.server.latency = .milliseconds(latency)
        }
        configuration.server.bandwidth = try arguments.bytes("bandwidth")
        if let text = arguments.value("fail") {
            guard let rate = Double(text), (0...1).contains(rate) else {
                throw UsageError("--fail wants a rate from 0 to 1, not \"\(text)\"")
            }
            configuration.failureRate = rate
        }
        let folder = try folder(session)
        let output = session.output
        let service = try CatalogueService(folder: folder, configuration: configuration) { answer in
            if output.isVerbose { output.detail(line(answer)) }
        }
        try service.start()
        let address = text(listen, port: service.port)
        if session.settings.wantsJSON { output.json(Record(url: address)) } else { output.line(address) }
        output.flush()
        if service.catalogueName == nil {
            output.note(
                "\(folder) has no movies.json or movies.xml; --catalogue takes the address and a file's name")
        }
        await untilCancelled()
        await BlockingThreads.runInAnyCase { service.stop() }
        let statistics = service.statistics
        output.note("served \(statistics.requests) requests, \(ByteCount.text(statistics.bytesSent))")
        return .stopped
    }

    /// `--address` and `--port`.
    private static func listenAddress(_ arguments: Arguments) throws -> ListenAddress {
        let port = try arguments.number("port", in: 0...65535)
        let address = arguments.value("address") ?? "127.0.0.1"
        guard address.hasPrefix("unix:") else {
            return .internet(address: address, port: UInt16(port ?? 0))
        }
        if port != nil { throw UsageError("--port says nothing with --address unix:PATH") }
        return .local(path: String(address.dropFirst("unix:".count)))
    }

    /// Where the service is, as clients name it.
    private static func text(_ address: ListenAddress, port: UInt16) -> String {
        switch address {
        case .internet(let address, _):
            "http://\(address.contains(":") ? "[\(address)]" : address):\(port)/"
        case .local(let path): "unix:\(path)"
        }
    }

    /// What `--json` prints. `JSONHelp` has its member.
    private struct Record: Encodable {
        let url: String
    }

    /// `GET /posters/a.jpg 200, 42250 bytes in 0.4 ms`
    private static func line(_ answer: HTTPServer.Answer) -> String {
        let time = (answer.time / .milliseconds(1)).formatted(decimals: 1)
        return "\(answer.method) \(answer.target) \(answer.status), \(answer.bytes) bytes in \(time) ms"
    }

    private static func folder(_ session: Session) throws(Failure) -> String {
        if let folder = session.arguments.operands.first { return folder }
        if case .sample(let folder) = session.source { return folder }
        throw Failure("the sample catalogue is nowhere near; name the folder to serve")
    }

    /// Returns when the task is cancelled: by Ctrl-C or SIGTERM.
    private static func untilCancelled() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }
}
