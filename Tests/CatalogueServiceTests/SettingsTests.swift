import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("simulates a slow or failing server", .bounded)
    struct Settings {
        private let content = String(repeating: "0123456789", count: 2000)

        /// The bytes that have been sent when two clients have asked for 20,000 bytes each.
        private func bytesSent(_ configure: (inout HTTPServer.Configuration) -> Void) async throws -> Int {
            let running = try RunningService(["a.png": content]) {
                $0.server.eventThreads = 1
                configure(&$0.server)
            }
            var clients: [RawClient] = []
            for number in 1...2 {
                let client = try running.client()
                client.send("GET /a.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
                clients.append(client)
                // When the thread has come to the second request, it has done what it may for the first.
                try await eventually { running.service.statistics.requests == number }
            }
            return running.service.statistics.bytesSent
        }

        @Test("no byte of an answer is sent before its latency has passed, and then it is sent")
        func latency() async throws {
            #expect(try await bytesSent { $0.latency = .seconds(6000) } == 0)
            #expect(try await bytesSent { _ in } > 20_000)
            let running = try RunningService { $0.server.latency = .milliseconds(1) }
            let client = try running.client()
            for _ in 0..<3 { #expect(try client.get("/movies.json").text == "[]") }
        }

        @Test("the bandwidth limits the speed of a body and changes no byte")
        func bandwidth() async throws {
            // At one byte a second.
            #expect(try await bytesSent { $0.bandwidth = 1 } < 10_000)
            let running = try RunningService(["a.png": content]) { $0.server.bandwidth = 200_000 }
            #expect(try running.client().get("/a.png").text == content)
        }

        @Test("requests fail at about the configured rate, and a seed repeats the same failures")
        func failures() throws {
            func statuses(seed: UInt64) throws -> [Int] {
                let running = try RunningService {
                    $0.failureRate = 0.3
                    $0.failureSeed = seed
                }
                let client = try running.client()
                return try (0..<100).map { _ in try client.get("/movies.json").status }
            }
            let first = try statuses(seed: 1)
            #expect((15...45).contains(first.filter { $0 == 500 }.count))
            #expect(try statuses(seed: 1) == first)
            #expect(try statuses(seed: 2) != first)
        }

        @Test("a rate of one fails all requests, and a rate of zero fails none")
        func rates() throws {
            for (rate, status) in [(1.0, 500), (5, 500), (0, 200), (-1, 200), (.nan, 200)] {
                let running = try RunningService { $0.failureRate = rate }
                #expect(try running.client().get("/movies.json").status == status)
            }
        }

        @Test("answers have the configured freshness")
        func cacheSeconds() throws {
            let running = try RunningService { $0.cacheSeconds = 7 }
            #expect(try running.client().get("/movies.json").fields["cache-control"] == "max-age=7")
        }
    }
}
