import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("simulates a slow or failing server")
    struct Settings {
        @Test("the latency passes before each answer")
        func latency() throws {
            let running = try RunningService { $0.server.latency = .milliseconds(30) }
            let client = try running.client()
            let time = try ContinuousClock().measure {
                for _ in 0..<3 { _ = try client.get("/movies.json") }
            }
            #expect(time >= .milliseconds(90))
        }

        @Test("the bandwidth limits the speed of a body and changes no byte")
        func bandwidth() throws {
            let content = String(repeating: "0123456789", count: 2000)
            let running = try RunningService(["a.txt": content]) { $0.server.bandwidth = 200_000 }
            let client = try running.client()
            let start = ContinuousClock.now
            #expect(try client.get("/a.txt").text == content)
            let time = ContinuousClock.now - start
            // 20,000 bytes in two pieces: the second is sent 50 ms after the first.
            #expect(time >= .milliseconds(50))
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
