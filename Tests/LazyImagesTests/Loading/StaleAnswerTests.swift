import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Using a stale file", .bounded)
struct StaleAnswerTests {
    @Test(
        "section 4.2.4: a stale file is used when the server fails, and is marked stale",
        arguments: [500, 502, 503, 429])
    func staleOnError(status: Int) async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=60"])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 100_000)
        scenario.answer(status, [])
        let file = try await loader.file(for: scenario.request())
        #expect(file.source == .stale && file.bytes.array == SampleImages.png)
    }

    @Test("section 4.2.4: a stale file is used when there is no connection")
    func staleOffline() async throws {
        let scenario = try HTTPCacheScenario([:])
        let storing = scenario.loader()
        _ = try await storing.file(for: scenario.request())
        await storing.flush()
        let held = HeldTransport()
        let disk = DiskCache(folder: scenario.folder.file("cache"))
        let loader = FileLoader(memory: nil, disk: disk, configuration: .once, transport: held)
        let caller = try await loader.callers(1, of: scenario.request())
        try await held.transfer().fail(.connectionFailed(url: HTTPCacheScenario.address, reason: "refused"))
        #expect(try await caller.outcomes[0].get().source == .stale)
    }

    @Test(
        "section 4.2.4: a stale file is not used if it must be revalidated, or after stale-if-error",
        arguments: ["max-age=60, must-revalidate", "max-age=60, no-cache", "max-age=60, stale-if-error=39"])
    func staleForbidden(control: String) async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": control])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 100)
        scenario.answer(503, [])
        #expect(try await scenario.error(loader) == .httpStatus(url: HTTPCacheScenario.address, status: 503))
    }

    @Test("RFC 5861 section 3: a stale file is used within stale-while-revalidate, and revalidated meanwhile")
    func staleWhileRevalidate() async throws {
        let scenario = try HTTPCacheScenario([
            "Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\"",
        ])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 100)
        #expect(try await scenario.source(loader) == .stale)
        await loader.flush()
        #expect(scenario.requests == 2)
        #expect(try await scenario.source(loader) == .disk)
        #expect(scenario.requests == 2)
    }
}
