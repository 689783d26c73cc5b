import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("HTTP caching, RFC 9111", .bounded)
struct HTTPCachingTests {
    @Test(
        "section 4.2: a fresh file is used without a request, from memory and disk", arguments: [false, true])
    func fresh(isEphemeral: Bool) async throws {
        let scenario = try HTTPCacheScenario(isEphemeral: isEphemeral, ["Cache-Control": "max-age=60"])
        let loader = scenario.loader()
        #expect(try await scenario.source(loader) == .network)
        scenario.advance(by: 59)
        #expect(try await scenario.source(loader) == (isEphemeral ? .memory : .disk))
        scenario.advance(by: 1)
        #expect(try await scenario.source(loader) == .network)
        #expect(scenario.requests == 2)
    }

    @Test("section 5.2.1: the request's directives are obeyed")
    func directives() async throws {
        let scenario = try HTTPCacheScenario([
            "Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "Accept",
        ])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 30)
        #expect(try await scenario.source(loader, ["Cache-Control": "max-age=30"]) == .disk)
        #expect(try await scenario.source(loader, ["Cache-Control": "min-fresh=31"]) == .revalidated)
        #expect(try await scenario.source(loader, ["Cache-Control": "no-cache"]) == .revalidated)
        scenario.advance(by: 100)
        #expect(try await scenario.source(loader, ["Cache-Control": "max-stale=40"]) == .stale)
        let onlyIfCached: HeaderFields = ["Cache-Control": "only-if-cached"]
        #expect(try await scenario.error(loader, onlyIfCached)?.code == "not-cached")
        #expect(scenario.requests == 3)
        #expect(try await scenario.source(loader, ["Cache-Control": "no-store"]) == .revalidated)
    }

    @Test(
        "section 4.1: a stored answer with Vary serves requests with the same fields, and another answer replaces it"
    )
    func vary() async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=60", "Vary": "Foo"])
        let loader = scenario.loader()
        #expect(try await scenario.source(loader, ["Foo": "1", "Bar": "1"]) == .network)
        #expect(try await scenario.source(loader, ["Foo": "1", "Bar": "2"]) == .disk)
        #expect(try await scenario.source(loader, ["Foo": "2"]) == .network)
        await loader.flush()
        #expect(try await scenario.source(loader, ["Foo": "2"]) == .disk)
        #expect(try await scenario.source(loader, ["Foo": "1"]) == .network)
        #expect(try await scenario.source(loader) == .network)
    }

    @Test("the caller's cache policy overrides HTTP's rules")
    func policies() async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=0", "ETag": "\"1\""])
        let loader = scenario.loader()
        _ = try await loader.file(for: scenario.request())
        scenario.advance(by: 100_000)
        var request = try scenario.request()
        for policy in [ImageRequest.CachePolicy.cacheOnly, .returnCacheElseLoad] {
            request.cachePolicy = policy
            #expect(try await loader.file(for: request).source == .disk)
        }
        request.cachePolicy = .reload
        #expect(try await loader.file(for: request).source == .network)
        #expect(scenario.lastFields["if-none-match"] == nil && scenario.requests == 2)
    }

    @Test("RFC 9110 section 15.4: a permanent redirect is followed without a request while it is fresh")
    func permanentRedirect() async throws {
        let folder = try TemporaryFolder()
        let time = Shared(1_767_225_600)
        let transport = HeldTransport { request in
            guard request.url.path == "/b.png" else {
                return HeldTransport.Answer(
                    [], status: 301, fields: ["Location": "/b.png", "Cache-Control": "max-age=1000"])
            }
            let fields: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            return request.fields["if-none-match"] == nil
                ? HeldTransport.Answer(SampleImages.png, fields: fields)
                : HeldTransport.Answer([], status: 304, fields: fields)
        }
        let disk = DiskCache(folder: folder.path)
        let loader = FileLoader(
            memory: nil, disk: disk, transport: transport, clock: WallClock { time.value })
        for seconds in [0, 59, 61, 1000] {
            time.change { $0 = 1_767_225_600 + seconds }
            _ = try await loader.file(for: ImageRequest(URL(typed: HTTPCacheScenario.address)))
        }
        #expect(transport.requests.map(\.url.path) == ["/a.png", "/b.png", "/b.png", "/a.png", "/b.png"])
        #expect(
            transport.requests.map { $0.fields["if-none-match"] != nil } == [false, false, true, false, true])
    }

    @Test(
        "RFC 9110 section 15.3: 201, 203 and an unknown success bring a picture, stored if they say for how long",
        arguments: [201, 203, 299])
    func otherSuccess(status: Int) async throws {
        let folder = try TemporaryFolder()
        for (fields, isStored) in [(HeaderFields(), false), (["Cache-Control": "max-age=60"], true)] {
            let transport = HeldTransport { _ in
                HeldTransport.Answer(SampleImages.png, status: status, fields: fields)
            }
            let loader = FileLoader(disk: DiskCache(folder: folder.path), transport: transport)
            for _ in 0..<2 {
                _ = try await loader.file(for: ImageRequest(URL(typed: HTTPCacheScenario.address)))
            }
            #expect(transport.started.count == (isStored ? 1 : 2))
        }
    }

    @Test("section 3.3: a range request goes to the server, and its answer is not stored")
    func parts() async throws {
        let scenario = try HTTPCacheScenario(["Cache-Control": "max-age=60"])
        let loader = scenario.loader(anyStatus: true)
        scenario.answer(206, [1], ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-0/70"])
        #expect(try await loader.file(for: scenario.request(["Range": "bytes=0-0"])).status == 206)
        scenario.answer(200, SampleImages.png, ["Cache-Control": "max-age=60"])
        #expect(try await scenario.source(loader) == .network)
        #expect(try await scenario.source(loader, ["Range": "bytes=0-0"]) == .network)
    }
}
