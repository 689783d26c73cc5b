import FoundationEssentials
import TestTraits
import Testing

import LazyImages

@Suite("Storing answers other than 200", .bounded)
struct StoredStatusTests {
    @Test(
        "a missing picture is stored as missing for five minutes, and replaces the picture",
        arguments: [404, 410])
    func negative(status: Int) async throws {
        for isEphemeral in [false, true] {
            let scenario = try HTTPCacheScenario(isEphemeral: isEphemeral)
            let loader = scenario.loader()
            _ = try await loader.file(for: scenario.request())
            scenario.answer(status, [], ["Cache-Control": "max-age=86400"])
            let failure = ImageLoadingError.httpStatus(url: HTTPCacheScenario.address, status: status)
            for _ in 0..<3 { #expect(try await scenario.error(loader) == failure) }
            #expect(scenario.requests == 2)
            #expect(loader.cachedFile(for: try scenario.request()) == nil)
            var cacheOnly = try scenario.request()
            cacheOnly.cachePolicy = .cacheOnly
            #expect(await loader.error(for: cacheOnly)?.code == "not-cached")
            scenario.advance(by: 300)
            scenario.answer()
            #expect(try await scenario.source(loader) == .network)
        }
    }

    @Test("other failures are not stored", arguments: [403, 500, 503])
    func failures(status: Int) async throws {
        let scenario = try HTTPCacheScenario()
        scenario.answer(status, [], ["Cache-Control": "max-age=60"])
        let loader = scenario.loader()
        for _ in 0..<2 { #expect(try await scenario.error(loader)?.code == "http-status") }
        #expect(scenario.requests == 2)
    }

    @Test(
        "any status with a freshness lifetime is used again, if the loader accepts any status",
        arguments: [204, 301, 403, 503])
    func anyStatus(status: Int) async throws {
        let scenario = try HTTPCacheScenario()
        scenario.answer(status, Array("body".utf8), ["Cache-Control": "max-age=60"])
        let loader = scenario.loader(anyStatus: true)
        for age in ["0", "10"] {
            let file = try await loader.file(for: scenario.request())
            #expect(file.status == status && file.bytes.array == Array("body".utf8))
            #expect((file.head?.fields["age"] ?? "0") == age)
            scenario.advance(by: 10)
        }
        scenario.advance(by: 60)
        _ = try await loader.file(for: scenario.request())
        #expect(scenario.requests == 2)
    }

    @Test(
        "a status that another loader stored does not answer a loader of pictures",
        arguments: [301, 403, 503])
    func otherLoadersStatus(status: Int) async throws {
        let scenario = try HTTPCacheScenario()
        scenario.answer(status, Array("body".utf8), ["Cache-Control": "max-age=60"])
        let any = scenario.loader(anyStatus: true)
        _ = try await any.file(for: scenario.request())
        await any.flush()
        scenario.answer()
        #expect(try await scenario.source(scenario.loader()) == .network)
    }
}
