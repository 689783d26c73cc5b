import Glibc
import PictureServer
import TestSupport
import TestTraits
import Testing

/// Many clients of one picture that is not cached.
@Suite("PictureServer: a crowd", .bounded, .ownThread)
struct ConcurrentClientsTests {
    private static let clients = 2000

    /// Each client has two descriptors here, one per end.
    private static var hasDescriptors: Bool {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
            && limit.rlim_max > UInt(2 * clients + 1000)
    }

    @Test(
        "2,000 clients of an uncached poster in four sizes cause one request, one decode and four encodes",
        .enabled(if: hasDescriptors, "the system gives a process too few descriptors"))
    func crowd() async throws {
        let gate = Gate()
        let poster = try Samples.jpeg(200, 300)
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: \(poster.count)\r\n\r\n"
        let origin = try ScriptedOrigin([.readHead, .wait(gate), .sendBytes(Array(head.utf8) + poster)])
        let server = try RunningPictureServer(sources: ["127.0.0.1:\(origin.port)"], allowed: ["127.0.0.1"])
        let clients = try (0..<Self.clients).map { _ in try RawClient(port: server.port, owner: server) }
        let sizes = ["w92", "w154", "w185", "original"].map {
            PictureClient.path($0, origin.url("/poster.jpg").absoluteString)
        }
        for (number, client) in clients.enumerated() {
            client.send("GET \(sizes[number % 4]) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        // All of them wait for the same transfer.
        try await eventually { server.service.counters.number(of: .joined) == Self.clients - 1 }
        try await eventually { server.service.gate.usage.sources == 1 }
        gate.open()
        var bodies = [[UInt8]?](repeating: nil, count: 4)
        for (number, client) in clients.enumerated() {
            let answer = try client.answer()
            #expect(answer.status == 200 && bodies[number % 4] ?? answer.body == answer.body)
            bodies[number % 4] = answer.body
        }
        #expect(Set(bodies).count == 4 && bodies[3] == poster)
        #expect(origin.requests.count == 1 && origin.connections.count == 1)
        let counters = server.service.counters
        #expect(counters.number(of: .fetched) == 1 && counters.number(of: .decoded) == 1)
        #expect(counters.number(of: .made) == 4 && counters.number(of: .abandoned) == 0)
    }
}
