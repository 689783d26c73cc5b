import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Removing an image", .bounded)
struct RemovalTests {
    private let folder: TemporaryFolder
    private let transport = HeldTransport()
    private let request: ImageRequest

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.png")
    }

    private func files(_ transport: any Transport) -> FileLoader {
        FileLoader(
            memory: MemoryCache(limit: 1 << 20), disk: DiskCache(folder: folder.file("cache")),
            configuration: .once, transport: transport)
    }

    private var parts: [String] {
        // Ignored: a folder that does not exist has no partial files.
        (try? FileManager.default.contentsOfDirectory(atPath: folder.file("cache/partial"))) ?? []
    }

    @Test("an image is removed from memory and disk, at every size and content mode, and others stay")
    func everySize() async throws {
        let answering = HeldTransport { _ in .fresh(SampleImages.jpeg) }
        let loader = ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), transport: answering, pressure: nil)
        let size = ImageSize(width: 2, height: 2)
        let removed = [
            request, ImageRequest(request.url, targetSize: size),
            ImageRequest(request.url, targetSize: size, contentMode: .fill(.top)),
        ]
        let kept = [
            ImageRequest("http://localhost/b.png"),
            ImageRequest(request.url, options: .init(variant: "v")),
            ImageRequest(url: request.url, id: "a"),
        ]
        for request in removed + kept { _ = try await loader.image(for: request) }
        #expect(answering.started.count == 4)
        await loader.flush()
        for request in removed + kept { #expect(await loader.contains(request)) }
        // Removes by one of its sizes.
        await loader.remove(removed[1])
        for request in removed { #expect(loader.cachedImage(for: request) == nil) }
        #expect(loader.disk?.contains(request.key) == false)
        for request in removed { #expect(await !loader.contains(request)) }
        for request in kept {
            #expect(loader.cachedImage(for: request) != nil)
            #expect(loader.disk?.contains(request.key) == true)
        }
        #expect(try await loader.image(for: request).source == .network)
        #expect(answering.started.count == 5)
    }

    @Test("everything is removed from memory and disk, and a running load is stored nowhere")
    func everything() async throws {
        let loader = ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), transport: transport, pressure: nil)
        let stored = loader.imageTask(with: request)
        try await transport.transfer().answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await stored.value
        await loader.flush()
        let other = ImageRequest("http://localhost/b.png")
        let running = loader.imageTask(with: other)
        let transfer = try await transport.transfer(1)
        await loader.removeAll()
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        #expect(try await running.value.source == .network)
        await loader.flush()
        for request in [request, other] {
            #expect(loader.cachedImage(for: request) == nil)
            #expect(await !loader.contains(request))
        }
    }

    @Test("a restored file replaces the newer one in memory and on disk, and keeps its age")
    func restored() async throws {
        let answering = HeldTransport { request in
            .fresh(request.fields["x"] == nil ? SampleImages.png : SampleImages.jpeg)
        }
        let loader = files(answering)
        let before = try await loader.file(for: request)
        var other = ImageRequest(request.url, options: .init(fields: ["x": "1"]))
        other.cachePolicy = .reload
        _ = try await loader.file(for: other)
        // A file is returned before it is on disk, where the other loader looks.
        await loader.flush()
        var cached = request
        cached.cachePolicy = .cacheOnly
        #expect(try await files(answering).file(for: cached).bytes.array == SampleImages.jpeg)
        await loader.restore(before, for: request)
        await loader.flush()
        for loader in [loader, files(answering)] {
            let file = try await loader.file(for: cached)
            #expect(file.bytes.array == SampleImages.png)
            #expect(file.freshness?.received == before.freshness?.received)
        }
        #expect(answering.started.count == 2)
    }

    @Test("a running transfer reaches its callers, is not stored, and is not joined by later callers")
    func transfer() async throws {
        let loader = files(transport)
        let before = try await loader.callers(2, of: request)
        let old = try await transport.transfer(0)
        await loader.remove(request)
        let after = try await loader.callers(1, of: request)
        let new = try await transport.transfer(1)
        new.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        #expect(try await after.outcomes[0].get().bytes.array == SampleImages.png)
        old.answer(SampleImages.jpeg, fields: ["Cache-Control": "max-age=60"])
        for outcome in await before.outcomes { #expect(try outcome.get().bytes.array == SampleImages.jpeg) }
        #expect(loader.cachedFile(for: request)?.bytes.array == SampleImages.png)
        await loader.flush()
        #expect(await loader.disk?.entry(for: request.key)?.body.array == SampleImages.png)
    }

    @Test(
        "a running transfer with other fields, or other ignored query items, does not store a removed file again",
        arguments: [
            (
                ImageRequest("http://localhost/a"),
                ImageRequest("http://localhost/a", options: .init(fields: ["Accept-Language": "de"]))
            ),
            (
                ImageRequest("http://localhost/a?sig=1", options: .init(ignoredQuery: IgnoredQuery(["sig"]))),
                ImageRequest("http://localhost/a?sig=2", options: .init(ignoredQuery: IgnoredQuery(["sig"])))
            ),
        ])
    func otherRequest(removed: ImageRequest, other: ImageRequest) async throws {
        let loader = files(transport)
        let caller = try await loader.callers(1, of: other)
        let transfer = try await transport.transfer(0)
        await loader.remove(removed)
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        #expect(try await caller.outcomes[0].get().bytes.array == SampleImages.png)
        await loader.flush()
        #expect(loader.cachedFile(for: other) == nil && loader.disk?.contains(other.key) == false)
    }

    @Test(
        "requests with other fields share a file in memory unless its Vary names the fields",
        arguments: [false, true])
    func sharedFile(varies: Bool) async throws {
        var fields: HeaderFields = ["Cache-Control": "max-age=60"]
        if varies { fields["Vary"] = "accept-language" }
        let loader = files(
            HeldTransport { [fields] _ in HeldTransport.Answer(SampleImages.png, fields: fields) })
        _ = try await loader.file(for: request)
        let german = ImageRequest(request.url, options: .init(fields: ["Accept-Language": "de"]))
        #expect((loader.cachedFile(for: german) == nil) == varies)
        #expect(try await loader.file(for: german).source == (varies ? .network : .memory))
        let part = ImageRequest(request.url, options: .init(fields: ["Range": "bytes=0-9"]))
        #expect(loader.cachedFile(for: part) == nil)
    }

    @Test(
        "a running revalidation never replaces or removes a file that was stored meanwhile",
        arguments: [(200, "no-store"), (200, "max-age=60"), (304, "max-age=60")])
    func storedMeanwhile(status: Int, control: String) async throws {
        let loader = try await staleLoader()
        let caller = try await loader.callers(1, of: request)
        let revalidation = try await transport.transfer(0)
        try await loader.store(SampleImages.jpeg, for: request)
        revalidation.answer(
            status == 304 ? [] : SampleImages.png, status: status,
            fields: ["Cache-Control": control, "ETag": "\"1\""])
        #expect(try await caller.outcomes[0].get().bytes.array == SampleImages.png)
        #expect(loader.cachedFile(for: request)?.bytes.array == SampleImages.jpeg)
        await loader.flush()
        #expect(await loader.disk?.entry(for: request.key)?.body.array == SampleImages.jpeg)
    }

    @Test("a running revalidation does not store a removed file again", arguments: [200, 304])
    func revalidation(status: Int) async throws {
        let loader = try await staleLoader()
        let caller = try await loader.callers(1, of: request)
        let revalidation = try await transport.transfer(0)
        #expect(revalidation.request.fields["if-none-match"] == "\"1\"")
        await loader.remove(request)
        revalidation.answer(
            status == 304 ? [] : SampleImages.png, status: status, fields: ["ETag": "\"1\""])
        #expect(try await caller.outcomes[0].get().bytes.array == SampleImages.png)
        await loader.flush()
        #expect(loader.cachedFile(for: request) == nil && loader.disk?.contains(request.key) == false)
    }

    @Test("an image that is being decoded reaches its callers and is not kept")
    func decoding() async throws {
        let decoder = GatedDecoder()
        let loader = ImageLoader(
            disk: DiskCache(folder: folder.file("cache")),
            configuration: .init(decoders: ImageDecoders([decoder])),
            transport: HeldTransport { _ in .fresh(SampleImages.png) }, pressure: nil)
        let callers = loader.callers(2, of: request)
        try await decoder.arrivals.wait(for: 1)
        await loader.remove(request)
        decoder.gate.open()
        for outcome in await callers.outcomes { #expect(try outcome.get().source == .network) }
        #expect(loader.cachedImage(for: request) == nil && loader.memory.counters.entries == 0)
        await loader.flush()
        #expect(loader.disk?.contains(request.key) == false)
        #expect(try await loader.image(for: request).source == .network)
    }

    @Test("the bytes of a running closure are not kept")
    func closure() async throws {
        let (called, released) = (Tally(), Tally())
        let request = ImageRequest(id: "asset-7") {
            called.add()
            try await released.wait(for: 1)
            return SampleImages.png
        }
        let loader = files(transport)
        let caller = try await loader.callers(1, of: request)
        try await called.wait(for: 1)
        await loader.remove(request)
        released.add()
        #expect(try await caller.outcomes[0].get().source == .local)
        #expect(loader.cachedFile(for: request) == nil)
        _ = try await loader.file(for: request)
        #expect(called.count == 2)
    }

    @Test("a partial body is removed too")
    func part() async throws {
        let body = SampleImages.png(bytes: 100_000)
        let caller = try await files(transport).callers(1, of: request)
        let broken = try await transport.transfer(0)
        broken.respond(200, ["ETag": "\"1\"", "Content-Length": "100000"])
        broken.send(Array(body.prefix(60_000)))
        broken.fail(.connectionLost(url: "", received: 60_000, reason: ""))
        _ = await caller.outcomes
        #expect(parts.count == 2)
        let loader = files(transport)
        await loader.remove(request)
        #expect(parts.isEmpty)
        let next = try await loader.callers(1, of: request)
        let whole = try await transport.transfer(1)
        #expect(whole.request.fields["range"] == nil)
        whole.answer(body)
        _ = await next.outcomes
    }

    @Test("a running transfer leaves no partial body", arguments: [true, false])
    func partUnderWay(isCancelled: Bool) async throws {
        let body = SampleImages.png(bytes: 3_000_000)
        let loader = files(transport)
        let caller = try await loader.callers(1, of: request)
        let transfer = try await transport.transfer(0)
        transfer.respond(200, ["ETag": "\"1\"", "Content-Length": "3000000"])
        transfer.send(Array(body.prefix(2_000_000)))
        try await eventually { parts.count == 2 }
        await loader.remove(request)
        if isCancelled {
            caller.tasks[0].cancel()
        } else {
            transfer.fail(.connectionLost(url: "", received: 2_000_000, reason: ""))
        }
        _ = await caller.outcomes
        try await eventually { parts.isEmpty }
    }

    /// A loader with a stale PNG on disk.
    private func staleLoader() async throws -> FileLoader {
        let stale = HeldTransport.Answer(
            SampleImages.png, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
        let earlier = files(HeldTransport { _ in stale })
        _ = try await earlier.file(for: request)
        await earlier.flush()
        return files(transport)
    }
}

/// Waits for its gate, then decodes.
final class GatedDecoder: ImageDecoding {
    let formats: Set<ImageFormat> = [.jpeg, .png]
    let gate = Gate()
    let arrivals = Tally()

    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        arrivals.add()
        gate.wait()
        return try ImageDecoders.standard.decode(bytes, fitting: target, limits: limits)
    }
}
