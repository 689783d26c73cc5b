import Foundation
import HTTPServer
import SystemSupport
import TestSupport

/// An origin whose only poster waits until all clients have requested it.
private final class HeldOrigin: HTTPHandler {
    private struct State {
        var isOpen = false
        var waiting: [PendingAnswer] = []
        var requests = 0
    }

    private let poster: [UInt8]
    private let state = Lock(State())

    init(path: String) throws { poster = [UInt8](try Data(contentsOf: URL(filePath: path))) }

    var requests: Int { state.withLock { $0.requests } }

    private var answer: HTTPResponse {
        HTTPResponse(
            status: .ok, fields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=3600"],
            body: .bytes(poster))
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return state.waiting
        }
        for pending in waiting { pending.send(answer) }
    }

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        .later { [self] pending in
            let isOpen = state.withLock { state in
                state.requests += 1
                if !state.isOpen { state.waiting.append(pending) }
                return state.isOpen
            }
            if isOpen { pending.send(answer) }
        }
    }

    func respond(to request: HTTPRequest) -> HTTPResponse { .plain(.internalServerError) }
}

/// The cost of `--clients` (10,000) connections to `marquee serve` that all want one uncached poster, in four sizes:
/// the requests at the origin, the decodes, the encodes, and the time until all have their pictures.
func crowdBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    raiseDescriptorLimit()
    let count = options.number("clients", default: 10_000)
    let scratch = try ScratchFolder()
    let origin = try HeldOrigin(path: benchmarkPoster)
    let server = try HTTPServer(configuration: HTTPServer.Configuration(), handler: origin)
    try server.start()
    defer { server.stop() }
    let originPort = server.ports.lazy.compactMap(\.self).first ?? 0
    let admin = scratch.path + "/admin"
    let service = try ServiceProcess([
        scratch.path, "--cache-dir", scratch.path + "/cache", "--source", "127.0.0.1:\(originPort)",
        "--allow-private", "127.0.0.0/8", "--admin", "unix:" + admin,
    ])
    defer { service.stop() }
    let sizes = ["w92", "w154", "w342", "w500"].map { pictureTarget(1, $0, originPort: originPort) }
    let idle = try service.bytes
    let clients = try (0..<count).map { _ in try RawClient(port: service.port) }
    for (number, client) in clients.enumerated() {
        client.send("GET \(sizes[number % 4]) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
    // Waits until all have joined the first one.
    while try figure("marquee_pictures_total{how=\"joined\"}", admin) < count - 1 { poll(nil, 0, 20) }
    let waiting = try service.bytes
    let start = ContinuousClock.now
    origin.open()
    var good = 0
    for client in clients { good += try client.answer().status == 200 ? 1 : 0 }
    let time = start.duration(to: .now)
    func exactly(_ name: String, _ ours: Int, _ reference: Int) -> BenchmarkResult {
        BenchmarkResult(
            name: name, unit: "", ours: Double(ours), exactly: Double(reference))
    }
    return [
        exactly("clients that got their picture", good, count),
        exactly("requests at the origin", origin.requests, 1),
        exactly("decodes", try figure("marquee_source_decodes_total", admin), 1),
        exactly("encodes", try figure("marquee_pictures_total{how=\"made\"}", admin), 4),
        BenchmarkResult(
            name: "from the origin's answer to the last client's picture", unit: "s",
            ours: time / .seconds(1)),
        BenchmarkResult(
            name: "memory of each client that waits", unit: "bytes",
            ours: (Double(waiting - idle) / Double(count)).rounded()),
    ]
}

/// A metric of the service.
private func figure(_ name: String, _ admin: String) throws -> Int {
    let text = try RawClient(path: admin).get("/metrics").text
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
}
