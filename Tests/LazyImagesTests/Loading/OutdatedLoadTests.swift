import FoundationEssentials
import Glibc
import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Loads that began before a removal, and whose downloads begin after it.
@Suite("Loads that a removal outdates", .bounded)
struct OutdatedLoadTests {
    private let fixture: DiskFixture
    private let gate: LookGate
    private let transport = HeldTransport()
    private let request = ImageRequest("http://localhost/a.png")
    private let fresh: HeaderFields = ["Cache-Control": "max-age=60"]

    init() throws {
        fixture = try DiskFixture()
        gate = LookGate()
    }

    private func loader(
        _ gate: LookGate? = nil, _ transport: (any Transport)? = nil, shared: SharedTier? = nil
    ) -> ImageLoader {
        ImageLoader(
            files: FileLoader(
                memory: MemoryCache(limit: 1 << 20), disk: fixture.cache(calls: (gate ?? self.gate).calls),
                shared: shared, configuration: .once, transport: transport ?? self.transport),
            pressure: nil)
    }

    /// Lets the gate hold the next look of a load. The cache has tidied its folder before, which looks there too.
    private func arm(
        _ gate: LookGate, _ loader: ImageLoader, with fault: FileCalls.InjectedFault? = .failure(ENOENT)
    ) async {
        await loader.flush()
        gate.arm(with: fault)
    }

    /// Expects that no tier of a loader has a request's file or image.
    private func expectNothing(
        of request: ImageRequest, in loader: ImageLoader, _ location: SourceLocation = #_sourceLocation
    ) async {
        await loader.flush()
        #expect(loader.cachedImage(for: request) == nil, sourceLocation: location)
        #expect(loader.files.cachedFile(for: request) == nil, sourceLocation: location)
        #expect(loader.disk?.contains(request.key) == false, sourceLocation: location)
    }

    @Test("a load that has just begun stores nothing after a removal, whatever it has done by then")
    func justBegun() async throws {
        let loader = loader(nil, HeldTransport { _ in .fresh(SampleImages.png) })
        for number in 0..<200 {
            let request = ImageRequest("http://localhost/\(number).png")
            let task = loader.imageTask(with: request)
            await loader.remove(request)
            _ = try await task.value
            await expectNothing(of: request, in: loader)
        }
    }

    @Test(
        "a load that looks on disk during a removal reaches its caller, and no tier keeps its file",
        arguments: [true, false])
    func download(decodes: Bool) async throws {
        let loader = loader()
        await arm(gate, loader)
        let request = request
        let load = Task {
            if decodes {
                _ = try await loader.image(for: request)
            } else {
                _ = try await loader.files.file(for: request)
            }
        }
        try await gate.reached()
        await loader.remove(request)
        gate.open()
        try await transport.transfer().answer(SampleImages.png, fields: fresh)
        try await load.value
        await expectNothing(of: request, in: loader)
    }

    @Test("an outdated load does not replace the bytes that a program has stored meanwhile")
    func stored() async throws {
        let loader = loader()
        // A reload does not look for what is stored; it waits for the first address.
        var again = request
        again.cachePolicy = .reload
        let old = loader.imageTask(
            with: ImageRequest("http://localhost/first.png", options: .init(alternatives: [again])))
        let transfer = try await transport.transfer(0)
        try await loader.store(SampleImages.jpeg, for: request)
        transfer.answer([], status: 404, fields: fresh)
        try await transport.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await old.value.header.format == .png)
        await loader.flush()
        #expect(loader.disk?.body(request.key) == SampleImages.jpeg)
        #expect(try await loader.image(for: request).header.format == .jpeg)
    }

    @Test("an outdated load of a URL that was written to stores nothing", arguments: [true, false])
    func written(reloads: Bool) async throws {
        let loader = loader()
        var request = request
        if reloads { request.cachePolicy = .reload }
        // A reload does not look on disk: it waits for the first address instead.
        let first = ImageRequest(
            "http://localhost/first.png",
            cachePolicy: request.cachePolicy, options: .init(alternatives: [request]))
        let task = loader.imageTask(with: first)
        let transfer = try await transport.transfer(0)
        await loader.invalidate(request.url)
        transfer.answer([], status: 404, fields: fresh)
        try await transport.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await task.value.source == .network)
        await expectNothing(of: request, in: loader)
    }

    @Test("an alternative that was removed before the load came to it is kept nowhere, nor is its result")
    func alternative() async throws {
        let loader = loader()
        var first = ImageRequest(
            "http://localhost/first.png", processors: [.flip(.vertical)],
            options: .init(alternatives: [request]))
        first.storesResult = .png
        let task = loader.imageTask(with: first)
        let transfer = try await transport.transfer(0)
        await loader.remove(request)
        transfer.answer([], status: 503, fields: fresh)
        try await transport.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await task.value.source == .network)
        await expectNothing(of: request, in: loader)
        #expect(fixture.bytesOnDisk() == 0 && loader.memory.counters.entries == 0)
    }

    @Test("a revalidation in the background that a removed stale file has led to stores nothing")
    func background() async throws {
        let stale = HeldTransport.Answer(
            SampleImages.jpeg,
            fields: ["Cache-Control": "max-age=0, stale-while-revalidate=600", "ETag": "\"1\""])
        let earlier = loader(nil, HeldTransport { _ in stale })
        _ = try await earlier.image(for: request)
        await earlier.flush()
        let gate = LookGate(.read)
        let answering = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(gate, answering)
        await arm(gate, loader, with: nil)
        let task = loader.imageTask(with: request)
        try await gate.reached()
        await loader.remove(request)
        gate.open()
        #expect(try await task.value.source == .stale)
        await expectNothing(of: request, in: loader)
        #expect(answering.started.count == 0)
    }

    @Test("an outdated load writes nothing for other machines")
    func shared() async throws {
        let store = try StoreServer()
        let request = ImageRequest("https://origin.example/a.png")
        let loader = loader(shared: try SharedFixture.tier(store.address))
        await arm(gate, loader)
        let task = loader.imageTask(with: request)
        try await gate.reached()
        await loader.remove(request)
        gate.open()
        try await transport.transfer().answer(SampleImages.png, fields: fresh)
        _ = try await task.value
        await expectNothing(of: request, in: loader)
        #expect(store.count("PUT") == 0)
    }

    @Test("an outdated load leaves no partial body")
    func partial() async throws {
        let loader = loader()
        await arm(gate, loader)
        let task = loader.imageTask(with: request)
        try await gate.reached()
        await loader.remove(request)
        gate.open()
        let transfer = try await transport.transfer()
        transfer.respond(200, ["ETag": "\"1\"", "Content-Length": "900000"])
        transfer.send(Array(SampleImages.png(bytes: 900_000).prefix(800_000)))
        transfer.fail(.connectionLost(url: "", received: 800_000, reason: ""))
        await #expect(throws: ImageLoadingError.self) { try await task.value }
        #expect(fixture.names(in: "partial").isEmpty)
        // A killed process would leave what is written while it comes.
        #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/partial"))
    }

    @Test("a local file that was removed from memory before the load came to it is not kept")
    func local() async throws {
        let path = fixture.folder.file("a.png")
        try Data(SampleImages.png).write(to: URL(filePath: path))
        let local = ImageRequest(URL(filePath: path))
        let loader = loader()
        let task = loader.imageTask(
            with: ImageRequest("http://localhost/first.png", options: .init(alternatives: [local])))
        let transfer = try await transport.transfer()
        await loader.remove(local)
        transfer.answer([], status: 404)
        #expect(try await task.value.source == .local)
        await expectNothing(of: local, in: loader)
    }

    @Test("removing other images outdates hardly any load")
    func others() async throws {
        var kept = 0
        for number in 0..<10 {
            let gate = LookGate()
            let loader = loader(gate, HeldTransport { _ in .fresh(SampleImages.png) })
            let request = ImageRequest("http://localhost/\(number).png")
            await arm(gate, loader)
            let task = loader.imageTask(with: request)
            try await gate.reached()
            await loader.remove(ImageRequest("http://localhost/other.png"))
            gate.open()
            _ = try await task.value
            if loader.disk?.contains(request.key) == true { kept += 1 }
        }
        // Two images are told apart by a short hash.
        #expect(kept > 5)
    }
}
