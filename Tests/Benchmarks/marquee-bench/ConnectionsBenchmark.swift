import CSystem
import Foundation
import Glibc
import TestSupport

/// The cost of connections to `marquee serve`, and the effect of hostile clients: the memory of each of `--connections`
/// idle connections; requests a second with and without 1,000 idle connections; then clients that break the rules in
/// many ways. Afterwards the service must have its former memory and descriptors, and answer as before.
func connectionsBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    raiseDescriptorLimit()
    let scratch = try ScratchFolder()
    try Data(#"{"movies": []}"#.utf8).write(to: URL(filePath: scratch.path + "/movies.json"))
    let server = try ServiceProcess([scratch.path])
    defer { server.stop() }

    let alone = try busy(server, seconds: 3)
    var results = try idle(server, count: options.number("connections", default: 10_000))
    let crowd = try (0..<1000).map { _ in try RawClient(port: server.port) }
    results.append(
        BenchmarkResult(
            name: "64 busy connections beside 1,000 idle ones", unit: "requests/s",
            ours: try busy(server, seconds: 3), reference: alone, referenceName: "without them"))
    withExtendedLifetime(crowd) {}
    return results + (try hostile(server))
}

private func idle(_ server: ServiceProcess, count: Int) throws -> [BenchmarkResult] {
    // Allocates what the first connections need.
    _ = try RawClient(port: server.port).get("/movies.json")
    let before = try server.bytes
    let clients = try (0..<count).map { _ in try RawClient(port: server.port) }
    // Each has been served once, and waits for its next request.
    for client in clients {
        guard try client.get("/movies.json").status == 200 else {
            throw BenchmarkFailure(description: "a connection is not served")
        }
    }
    let each = Double(try server.bytes - before) / Double(count)
    withExtendedLifetime(clients) {}
    return [
        BenchmarkResult(
            name: "\(count) idle connections, memory of each", unit: "bytes", ours: each.rounded(),
            atMost: 8192)
    ]
}

/// Requests a second over 64 connections. Each sends its next request as soon as it has an answer.
private func busy(_ server: ServiceProcess, seconds: Int) throws -> Double {
    let clients = try (0..<64).map { _ in try RawClient(port: server.port) }
    let request = "GET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let end = ContinuousClock.now + .seconds(seconds)
    var count = 0
    while ContinuousClock.now < end {
        for client in clients { client.send(request) }
        for client in clients { _ = try client.answer() }
        count += clients.count
    }
    return Double(count) / Double(seconds)
}

/// The most descriptors of the service without connections.
private let idleDescriptors = 20

private func hostile(_ server: ServiceProcess) throws -> [BenchmarkResult] {
    _ = try RawClient(port: server.port).get("/movies.json")
    let (descriptors, bytes) = (try server.returns(to: idleDescriptors), try server.bytes)
    var answered = 0
    for attack in HostileClient.allCases { answered += try attack.run(port: server.port) }
    let status = try RawClient(port: server.port).get("/movies.json").status
    let left = try server.returns(to: descriptors)
    return [
        BenchmarkResult(
            name: "hostile clients that got an answer or a close", unit: "connections",
            ours: Double(answered),
            reference: Double(HostileClient.allCases.count * HostileClient.connections), referenceName: "of"),
        BenchmarkResult(name: "the answer after them", unit: "status", ours: Double(status)),
        BenchmarkResult(
            name: "descriptors after them", unit: "descriptors", ours: Double(left),
            reference: Double(descriptors), referenceName: "before"),
        BenchmarkResult(
            name: "growth of memory by them", unit: "MB", ours: Double(try server.bytes - bytes) / 1e6,
            atMost: 32),
    ]
}

/// Ways to break the rules. Several connections try each at once.
private enum HostileClient: CaseIterable {
    case slowHead, longHeader, manyFields, garbage, pipelinedAndGone, halfClosed, shortBody, longBody,
        bothLengths
    case negativeLength, hugeLength, badChunk, endlessChunk, slowBody

    static let connections = 200

    /// The number of connections that got an answer or were closed.
    func run(port: UInt16) throws -> Int {
        let clients = try (0..<Self.connections).map { _ in try RawClient(port: port) }
        for (number, client) in clients.enumerated() { send(to: client, number) }
        // Single bytes must not postpone a deadline: it comes while they are sent.
        if self == .slowHead || self == .slowBody {
            for _ in 0..<40 {
                for client in clients { client.send("x") }
                poll(nil, 0, 1000)
            }
        }
        return clients.count { client in
            client.finishSending()
            return !client.readToEnd().isEmpty || client.wasReset || client.hasEnded
        }
    }

    private func send(to client: RawClient, _ number: Int) {
        let post = "POST /movies.json HTTP/1.1\r\nHost: localhost\r\n"
        switch self {
        case .slowHead: client.send("GET /movies.json HTTP/1.1\r\nX: ")
        // 100 MB in all.
        case .longHeader: client.send("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 500_000))
        case .manyFields:
            client.send("GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 100_000))
        case .garbage:
            client.send((0..<5000).map { UInt8(truncatingIfNeeded: ($0 &+ number) &* 2_654_435_761 >> 7) })
        case .pipelinedAndGone:
            client.send(
                String(repeating: "GET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 1000))
        case .halfClosed:
            client.send("GET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.finishSending()
        case .shortBody: client.send(post + "Content-Length: 100\r\n\r\nshort")
        case .longBody: client.send(post + "Content-Length: 5\r\n\r\nlonger than that")
        case .bothLengths:
            client.send(post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        case .negativeLength: client.send(post + "Content-Length: -5\r\n\r\nbody")
        case .hugeLength: client.send(post + "Content-Length: 99999999999999999999\r\n\r\nbody")
        case .badChunk: client.send(post + "Transfer-Encoding: chunked\r\n\r\nzz\r\nbody\r\n")
        case .endlessChunk:
            client.send(
                post + "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n"
                    + String(repeating: "x", count: 300_000))
        case .slowBody: client.send(post + "Content-Length: 50000\r\n\r\n")
        }
    }
}

/// The benchmark opens as many connections as the service.
func raiseDescriptorLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
