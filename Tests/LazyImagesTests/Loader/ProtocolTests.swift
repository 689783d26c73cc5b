import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@testable import LazyImages

/// A loader over an origin that answers from a table, a folder for its disk tier, and a clock that the test moves on.
private final class Scene: Sendable {
    let folder: TemporaryFolder
    let transport: HeldTransport
    private let time = Shared(1_767_225_600)
    private let current: Shared<HeldTransport.Answer>
    private let isEphemeral: Bool

    init(isEphemeral: Bool = false, _ fields: HTTPFields = HTTPFields()) throws {
        folder = try TemporaryFolder()
        self.isEphemeral = isEphemeral
        let current = Shared(HeldTransport.Answer(SampleImages.png, fields: fields))
        self.current = current
        transport = HeldTransport { request in
            var answer = current.value
            if answer.head.status == 200, let tag = answer.head.fields["etag"],
                request.fields["if-none-match"] == tag
            {
                answer.head.status = 304
                answer.body = []
            }
            return answer
        }
    }

    /// What the origin answers from now on; a 304 where its ETag is asked about.
    func answers(
        _ status: Int = 200, _ body: [UInt8] = SampleImages.png, _ fields: HTTPFields = HTTPFields()
    ) {
        current.change { $0 = HeldTransport.Answer(body, status: status, fields: fields) }
    }

    func pass(_ seconds: Int) { time.change { $0 += seconds } }

    /// A loader as a new process would have it.
    func loader(anyStatus: Bool = false) -> FileLoader {
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        configuration.acceptsAnyStatus = anyStatus
        configuration.acceptsAnyContent = anyStatus
        let clock = WallClock { [time] in time.value }
        return FileLoader(
            memory: isEphemeral ? MemoryCache(limit: 1 << 20) : nil,
            disk: isEphemeral ? nil : DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: transport, clock: clock)
    }

    var requests: Int { transport.started.count }
    var lastFields: HTTPFields { transport.requests.last?.fields ?? HTTPFields() }
}

@Suite("Loading by HTTP's rules, RFC 9111", .timeLimit(.minutes(30)))
struct ProtocolTests {
    private let address = "http://localhost/a.png"

    @Test(
        "section 4.2: what is fresh is given without asking, in memory and on disk", arguments: [false, true])
    func fresh(isEphemeral: Bool) async throws {
        let scene = try Scene(isEphemeral: isEphemeral, ["Cache-Control": "max-age=60"])
        let loader = scene.loader()
        #expect(try await source(loader) == .network)
        scene.pass(59)
        #expect(try await source(loader) == (isEphemeral ? .memory : .disk))
        scene.pass(1)
        #expect(try await source(loader) == .network)
        #expect(scene.requests == 2)
    }

    @Test(
        "section 4.3: what is stale is revalidated, and the 304 makes it fresh again",
        arguments: [false, true])
    func revalidated(isEphemeral: Bool) async throws {
        let scene = try Scene(
            isEphemeral: isEphemeral, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "old"])
        let loader = scene.loader(anyStatus: true)
        #expect(try await source(loader) == .network)
        scene.pass(60)
        scene.answers(200, [], ["Cache-Control": "max-age=600", "ETag": "\"1\"", "A": "new"])
        let file = try await loader.file(for: request())
        #expect(file.source == .revalidated && file.bytes.array == SampleImages.png && file.status == 200)
        #expect(file.head?.fields["a"] == "new" && file.head?.fields["age"] == "0")
        #expect(scene.lastFields["if-none-match"] == "\"1\"")
        scene.pass(599)
        let again = try await loader.file(for: request())
        #expect(again.source == (isEphemeral ? .memory : .disk) && again.bytes.array == SampleImages.png)
        #expect(again.head?.fields["a"] == "new" && again.head?.fields["age"] == "599")
        #expect(scene.requests == 2)
    }

    @Test("section 4.3.3: a 200 to a conditional request replaces what was stored")
    func replaced() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(60)
        scene.answers(200, SampleImages.jpeg, ["Cache-Control": "max-age=60", "ETag": "\"2\""])
        #expect(try await loader.file(for: request()).source == .network)
        await loader.flush()
        let stored = try await loader.file(for: request())
        #expect(stored.source == .disk && stored.bytes.array == SampleImages.jpeg)
    }

    @Test("section 4.3.4: a 304 about another state is not believed, and all is asked for")
    func otherState() async throws {
        let scene = try Scene(["ETag": "\"1\""])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.answers(304, [], ["ETag": "\"2\""])
        #expect(await error(loader)?.code == "http-status")
        #expect(scene.requests == 3 && scene.lastFields["if-none-match"] == nil)
    }

    @Test("section 5.2.2.5: what is no-store is asked for every time, and on no disk")
    func noStore() async throws {
        let scene = try Scene(["Cache-Control": "no-store, max-age=60"])
        let loader = scene.loader()
        for _ in 0..<2 { #expect(try await source(loader) == .network) }
        await loader.flush()
        #expect(loader.disk?.counters.stores == 0)
    }

    @Test("section 5.2.1: the request's own directives are obeyed")
    func directives() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "Accept"])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(30)
        #expect(try await source(loader, ["Cache-Control": "max-age=30"]) == .disk)
        #expect(try await source(loader, ["Cache-Control": "min-fresh=31"]) == .revalidated)
        #expect(try await source(loader, ["Cache-Control": "no-cache"]) == .revalidated)
        scene.pass(100)
        #expect(try await source(loader, ["Cache-Control": "max-stale=40"]) == .stale)
        let onlyIfCached: HTTPFields = ["Cache-Control": "only-if-cached"]
        #expect(await error(loader, onlyIfCached)?.code == "not-cached")
        #expect(scene.requests == 3)
        #expect(try await source(loader, ["Cache-Control": "no-store"]) == .revalidated)
    }

    @Test(
        "section 4.1: an answer that varies is given to requests with the same fields, and another replaces it"
    )
    func vary() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60", "Vary": "Foo"])
        let loader = scene.loader()
        #expect(try await source(loader, ["Foo": "1", "Bar": "1"]) == .network)
        #expect(try await source(loader, ["Foo": "1", "Bar": "2"]) == .disk)
        #expect(try await source(loader, ["Foo": "2"]) == .network)
        await loader.flush()
        #expect(try await source(loader, ["Foo": "2"]) == .disk)
        #expect(try await source(loader, ["Foo": "1"]) == .network)
        #expect(try await source(loader) == .network)
    }

    @Test("what was asked for with other credentials is another's")
    func credentials() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60"])
        let loader = scene.loader()
        #expect(try await source(loader, ["Authorization": "Bearer a"]) == .network)
        #expect(try await source(loader, ["Authorization": "Bearer b"]) == .network)
        #expect(try await source(loader) == .network)
        #expect(try await source(loader, ["Authorization": "Bearer a"]) == .disk)
    }

    @Test(
        "section 4.2.4: when the server fails, what is stored is given, marked stale",
        arguments: [500, 502, 503, 429])
    func staleOnError(status: Int) async throws {
        let scene = try Scene(["Cache-Control": "max-age=60"])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(100_000)
        scene.answers(status, [])
        let file = try await loader.file(for: request())
        #expect(file.source == .stale && file.bytes.array == SampleImages.png)
    }

    @Test("section 4.2.4: also when there is no connection")
    func staleOffline() async throws {
        let scene = try Scene([:])
        let storing = scene.loader()
        _ = try await storing.file(for: request())
        await storing.flush()
        let held = HeldTransport()
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        let disk = DiskCache(folder: scene.folder.file("cache"))
        let loader = FileLoader(memory: nil, disk: disk, configuration: configuration, transport: held)
        let caller = try await loader.callers(1, of: request())
        try await held.transfer().fail(.connectionFailed(url: address, reason: "refused"))
        #expect(try await caller.outcomes[0].get().source == .stale)
    }

    @Test(
        "section 4.2.4: but not where it must be revalidated, nor longer than stale-if-error says",
        arguments: ["max-age=60, must-revalidate", "max-age=60, no-cache", "max-age=60, stale-if-error=39"])
    func staleForbidden(control: String) async throws {
        let scene = try Scene(["Cache-Control": control])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(100)
        scene.answers(503, [])
        #expect(await error(loader) == .httpStatus(url: address, status: 503))
    }

    @Test("RFC 5861 section 3: what may be stale for a while is given, and revalidated meanwhile")
    func staleWhileRevalidate() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(100)
        #expect(try await source(loader) == .stale)
        await loader.flush()
        #expect(scene.requests == 2)
        #expect(try await source(loader) == .disk)
        #expect(scene.requests == 2)
    }

    @Test(
        "that there is no picture is remembered for five minutes, and takes the picture's place",
        arguments: [404, 410])
    func negative(status: Int) async throws {
        for isEphemeral in [false, true] {
            let scene = try Scene(isEphemeral: isEphemeral)
            let loader = scene.loader()
            _ = try await loader.file(for: request())
            scene.answers(status, [], ["Cache-Control": "max-age=86400"])
            for _ in 0..<3 { #expect(await error(loader) == .httpStatus(url: address, status: status)) }
            #expect(scene.requests == 2)
            #expect(loader.cachedFile(for: try request()) == nil)
            var cacheOnly = try request()
            cacheOnly.cachePolicy = .cacheOnly
            #expect(await error(loader, cacheOnly)?.code == "not-cached")
            scene.pass(300)
            scene.answers()
            #expect(try await source(loader) == .network)
        }
    }

    @Test("other failures are not remembered", arguments: [403, 500, 503])
    func failures(status: Int) async throws {
        let scene = try Scene()
        scene.answers(status, [], ["Cache-Control": "max-age=60"])
        let loader = scene.loader()
        for _ in 0..<2 { #expect(await error(loader)?.code == "http-status") }
        #expect(scene.requests == 2)
    }

    @Test("the caller's policies go before HTTP's rules")
    func policies() async throws {
        let scene = try Scene(["Cache-Control": "max-age=0", "ETag": "\"1\""])
        let loader = scene.loader()
        _ = try await loader.file(for: request())
        scene.pass(100_000)
        var request = try request()
        for policy in [ImageRequest.CachePolicy.cacheOnly, .returnCacheElseLoad] {
            request.cachePolicy = policy
            #expect(try await loader.file(for: request).source == .disk)
        }
        request.cachePolicy = .reload
        #expect(try await loader.file(for: request).source == .network)
        #expect(scene.lastFields["if-none-match"] == nil && scene.requests == 2)
    }

    @Test("RFC 9110 section 15.4: a permanent redirect is followed without asking while it is fresh")
    func permanentRedirect() async throws {
        let folder = try TemporaryFolder()
        let time = Shared(1_767_225_600)
        let transport = HeldTransport { request in
            guard request.url.path == "/b.png" else {
                return HeldTransport.Answer(
                    [], status: 301, fields: ["Location": "/b.png", "Cache-Control": "max-age=1000"])
            }
            let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            return request.fields["if-none-match"] == nil
                ? HeldTransport.Answer(SampleImages.png, fields: fields)
                : HeldTransport.Answer([], status: 304, fields: fields)
        }
        let disk = DiskCache(folder: folder.path)
        let loader = FileLoader(
            memory: nil, disk: disk, transport: transport, clock: WallClock { time.value })
        for seconds in [0, 59, 61, 1000] {
            time.change { $0 = 1_767_225_600 + seconds }
            _ = try await loader.file(for: request())
        }
        #expect(transport.requests.map(\.url.path) == ["/a.png", "/b.png", "/b.png", "/a.png", "/b.png"])
        #expect(
            transport.requests.map { $0.fields["if-none-match"] != nil } == [false, false, true, false, true])
    }

    @Test("section 4.3.2: a caller who has it already is told so, where statuses are given")
    func callersConditions() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        let loader = scene.loader(anyStatus: true)
        _ = try await loader.file(for: request())
        let file = try await loader.file(for: request(["If-None-Match": "\"0\", W/\"1\""]))
        #expect(file.status == 304 && file.head?.fields["etag"] == "\"1\"" && file.bytes.count == 0)
        #expect(try await loader.file(for: request(["If-None-Match": "\"2\""])).status == 200)
        #expect(scene.requests == 1)
    }

    @Test(
        "any status that says how long it is fresh is given again, where statuses are given",
        arguments: [204, 301, 403, 503])
    func anyStatus(status: Int) async throws {
        let scene = try Scene()
        scene.answers(status, Array("body".utf8), ["Cache-Control": "max-age=60"])
        let loader = scene.loader(anyStatus: true)
        for age in ["0", "10"] {
            let file = try await loader.file(for: request())
            #expect(file.status == status && file.bytes.array == Array("body".utf8))
            #expect((file.head?.fields["age"] ?? "0") == age)
            scene.pass(10)
        }
        scene.pass(60)
        _ = try await loader.file(for: request())
        #expect(scene.requests == 2)
    }

    @Test(
        "a status that another loader stored is no answer to one that wants pictures",
        arguments: [301, 403, 503])
    func otherLoadersStatus(status: Int) async throws {
        let scene = try Scene()
        scene.answers(status, Array("body".utf8), ["Cache-Control": "max-age=60"])
        let any = scene.loader(anyStatus: true)
        _ = try await any.file(for: request())
        await any.flush()
        scene.answers()
        #expect(try await source(scene.loader()) == .network)
    }

    @Test("section 3.3: a request for a part is answered by the server, and nothing of it is stored")
    func parts() async throws {
        let scene = try Scene(["Cache-Control": "max-age=60"])
        let loader = scene.loader(anyStatus: true)
        scene.answers(206, [1], ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-0/70"])
        #expect(try await loader.file(for: request(["Range": "bytes=0-0"])).status == 206)
        scene.answers(200, SampleImages.png, ["Cache-Control": "max-age=60"])
        #expect(try await source(loader) == .network)
        #expect(try await source(loader, ["Range": "bytes=0-0"]) == .network)
    }

    private func request(_ fields: HTTPFields = HTTPFields()) throws -> ImageRequest {
        try ImageRequest(address, fields: fields)
    }

    private func source(_ loader: FileLoader, _ fields: HTTPFields = HTTPFields()) async throws
        -> LoadedFile.Source
    {
        try await loader.file(for: request(fields)).source
    }

    private func error(_ loader: FileLoader, _ fields: HTTPFields = HTTPFields()) async -> ImageLoadingError?
    {
        guard let request = try? request(fields) else { return nil }
        return await error(loader, request)
    }

    private func error(_ loader: FileLoader, _ request: ImageRequest) async -> ImageLoadingError? {
        do throws(ImageLoadingError) {
            _ = try await loader.file(for: request)
            return nil
        } catch {
            return error
        }
    }
}
