import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("Revalidating a stored file", .bounded)
struct RevalidationTests {
    @Test(
        "section 4.3: a stale file is revalidated, and a 304 makes it fresh again",
        arguments: [false, true])
    func revalidated(isEphemeral: Bool) async throws {
        let scenario = try HTTPCacheScenario(
            isEphemeral: isEphemeral, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "old"])
        let loader = scenario.loader(anyStatus: true)
        #expect(try await scenario.source(loader) == .network)
        scenario.advance(by: 60)
        scenario.answer(200, [], ["Cache-Control": "max-age=600", "ETag": "\"1\"", "A": "new"])
        let file = try await loader.file(for: scenario.request())
        #expect(file.source == .revalidated && file.bytes.array == SampleImages.png && file.status == 200)
        #expect(file.head?.fields["a"] == "new" && file.head?.fields["age"] == "0")
        #expect(scenario.lastFields["if-none-match"] == "\"1\"")
        scenario.advance(by: 599)
        let again = try await loader.file(for: scenario.request())
        #expect(again.source == (isEphemeral ? .memory : .disk) && again.bytes.array == SampleImages.png)
        #expect(again.head?.fields["a"] == "new" && again.head?.fields["age"] == "599")
        #expect(scenario.requests == 2)
    }

    @Test("section 4.3.3: a 200 to a conditional request replaces the stored file")
    func replaced() async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 60)
        scenario.answer(200, SampleImages.jpeg, ["Cache-Control": "max-age=60", "ETag": "\"2\""])
        #expect(try await loader.file(for: scenario.request()).source == .network)
        await loader.flush()
        let stored = try await loader.file(for: scenario.request())
        #expect(stored.source == .disk && stored.bytes.array == SampleImages.jpeg)
    }

    @Test("section 4.3.4: a 304 with another entity tag causes an unconditional request")
    func otherState() async throws {
        let scenario = try HTTPCacheScenario(["ETag": "\"1\""])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.answer(304, [], ["ETag": "\"2\""])
        #expect(try await scenario.error(loader)?.code == "http-status")
        #expect(scenario.requests == 3 && scenario.lastFields["if-none-match"] == nil)
    }

    @Test(
        "section 4.3.2: a caller's If-None-Match gets a 304 from the cache, if the loader accepts any status")
    func callersConditions() async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        let loader = scenario.loader(anyStatus: true)
        _ = try await loader.file(for: scenario.request())
        let file = try await loader.file(for: scenario.request(["If-None-Match": "\"0\", W/\"1\""]))
        #expect(file.status == 304 && file.head?.fields["etag"] == "\"1\"" && file.bytes.count == 0)
        #expect(try await loader.file(for: scenario.request(["If-None-Match": "\"2\""])).status == 200)
        #expect(scenario.requests == 1)
    }
}
