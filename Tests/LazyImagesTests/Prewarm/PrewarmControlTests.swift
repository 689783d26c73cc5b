import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("A prewarmer's priority and control", .bounded)
struct PrewarmControlTests {
    private let folder: TemporaryFolder
    private let held = HeldTransport()

    init() throws { folder = try TemporaryFolder() }

    @Test("the main actor runs it with a trailing closure that changes its own state")
    @MainActor func fromTheMainActor() async throws {
        var count = 0
        let loader = FileLoader(disk: disk, transport: HeldTransport { _ in .fresh(SampleImages.png) })
        let summary = await Prewarmer(loader).run(try requests(3)) { _ in count += 1 }
        #expect(summary.fetched == 3 && count == 3)
    }

    @Test(
        "visible loads go before prewarming, unless its priority is higher",
        arguments: [nil, .high] as [ImageRequest.Priority?])
    func priority(chosen: ImageRequest.Priority?) async throws {
        let loader = oneAtATime
        let requests = try requests(3)
        let run = Task {
            guard let chosen else { return await Prewarmer(loader).run(requests) }
            return await Prewarmer(loader).run(requests, priority: chosen)
        }
        let first = try await held.transfer(0)
        try await eventually { loader.downloader.waitingCount == 2 }
        let seen = try await loader.callers(1, of: ImageRequest("http://localhost/seen"))
        try await eventually { loader.downloader.waitingCount == 3 }
        first.answer(SampleImages.png)
        let second = try await held.transfer(1)
        #expect((second.request.url.path == "/seen") == (chosen == nil))
        second.answer(SampleImages.png)
        for index in 2..<4 { try await held.transfer(index).answer(SampleImages.png) }
        #expect(await seen.outcomes[0].error == nil)
        #expect(await run.value.fetched == 3)
    }

    @Test("a paused prewarmer starts nothing and finishes running loads; resumed it does the rest")
    func pause() async throws {
        let loader = FileLoader(disk: disk, transport: held)
        let prewarmer = Prewarmer(loader, concurrency: 1)
        let (requests, reported) = (try requests(3), Tally())
        let run = Task { await prewarmer.run(requests) { _ in reported.add() } }
        let first = try await held.transfer(0)
        prewarmer.isPaused = true
        first.answer(SampleImages.png)
        try await reported.wait(for: 1)
        #expect(held.started.count == 1)
        prewarmer.isPaused = false
        for index in 1..<3 { try await held.transfer(index).answer(SampleImages.png) }
        #expect(await run.value.fetched == 3)
    }

    @Test("a stopped prewarmer ends its loads in order and starts none, even when paused")
    func stop() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held), concurrency: 2)
        let requests = try requests(10)
        let run = Task { await prewarmer.run(requests) { _ in } }
        let started = try await held.transfers(2)
        prewarmer.isPaused = true
        started[0].answer(SampleImages.png)
        prewarmer.finish()
        prewarmer.isPaused = false
        started[1].answer(SampleImages.png)
        let summary = await run.value
        #expect(summary.fetched == 2 && summary.cancelled == 8 && summary.failed == 0)
        #expect(await prewarmer.run(requests).cancelled == 10)
        #expect(held.started.count == 2)
    }

    @Test("cancelled while it is paused, it ends")
    func cancelledWhilePaused() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held))
        prewarmer.isPaused = true
        let requests = try requests(50)
        let run = Task { await prewarmer.run(requests) }
        run.cancel()
        #expect(await run.value.cancelled == 50)
    }

    @Test("stopping some images affects running and waiting ones, in this run only")
    func stopSome() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held), concurrency: 2)
        let (requests, reported) = (try requests(5), Shared<[Int]>([]))
        let run = Task {
            await prewarmer.run(requests) { result in reported.change { $0.append(result.index) } }
        }
        let started = try await held.transfers(2)
        let first = started[0].request.url.path == "/0" ? 0 : 1
        // The second runs and the fourth waits. The third takes the second's slot.
        prewarmer.cancel([requests[1], requests[3]])
        try await started[1 - first].cancellation.wait(for: 1)
        let fields: HeaderFields = ["Cache-Control": "max-age=3600"]
        started[first].answer(SampleImages.png, fields: fields)
        for index in 2..<4 { try await held.transfer(index).answer(SampleImages.png, fields: fields) }
        let summary = await run.value
        #expect(summary.fetched == 3 && summary.cancelled == 2 && summary.failed == 0)
        #expect(reported.value.sorted() == [0, 2, 4])
        #expect(Set(held.requests.map(\.url.path)) == ["/0", "/1", "/2", "/4"])
        let later = Task { await prewarmer.run(requests) }
        for index in 4..<6 { try await held.transfer(index).answer(SampleImages.png) }
        #expect(await later.value.fetched == 2)
    }

    @Test("an image that is stopped during a pause does not start afterwards")
    func stopSomePaused() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held))
        let requests = try requests(2)
        prewarmer.isPaused = true
        let run = Task { await prewarmer.run(requests) }
        try await eventually { prewarmer.waitingCount == 2 }
        prewarmer.cancel([requests[0]])
        try await eventually { prewarmer.waitingCount == 1 }
        prewarmer.isPaused = false
        try await held.transfer(0).answer(SampleImages.png)
        #expect(await run.value.cancelled == 1)
        #expect(held.requests.map(\.url.path) == ["/1"])
    }

    @Test("stopping an image does not end a transfer that other callers wait for")
    func stopShared() async throws {
        let loader = FileLoader(disk: disk, transport: held)
        let prewarmer = Prewarmer(loader)
        let requests = try requests(1)
        let run = Task { await prewarmer.run(requests) }
        let transfer = try await held.transfer(0)
        let seen = try await loader.callers(1, of: requests[0])
        prewarmer.cancel(requests)
        #expect(await run.value.cancelled == 1)
        transfer.answer(SampleImages.png)
        #expect(await seen.outcomes[0].error == nil && transfer.cancellation.count == 0)
    }

    @Test("the memory tier has the images at the requested size, and the disk tier has the files")
    func toMemory() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.jpeg) }
        let loader = ImageLoader(disk: disk, transport: transport, pressure: nil)
        let size = ImageSize(width: 2, height: 3)
        let requests = try requests(3).map { ImageRequest($0.url, targetSize: size) }
        let summary = await Prewarmer(loader).run(requests)
        #expect(summary.fetched == 3 && summary.failed == 0 && summary.bytesFetched == 3 * 159)
        for request in requests {
            #expect(loader.cachedImage(for: request)?.bitmap.size == size)
            #expect(loader.disk?.contains(request.key) == true)
        }
        let hits = loader.disk?.counters.hits
        let again = await Prewarmer(loader).run(requests)
        #expect(again.alreadyCached == 3 && transport.started.count == 3)
        #expect(loader.disk?.counters.hits == hits, "images in memory are not read from disk")
    }

    @Test("with the disk as destination, the prewarmer of an ImageLoader decodes nothing")
    func toDisk() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.jpeg) }
        let loader = ImageLoader(disk: disk, transport: transport, pressure: nil)
        let requests = try requests(2)
        #expect(await Prewarmer(loader, destination: .disk).run(requests).fetched == 2)
        #expect(loader.memory.counters.stores == 0)
        // Loads from disk to memory, without the network.
        #expect(await Prewarmer(loader).run(requests).alreadyCached == 2)
        #expect(loader.memory.counters.entries == 2 && transport.started.count == 2)
    }

    @Test("with memory as destination, an image that cannot be decoded is a failure")
    func undecodable() async throws {
        var damaged = SampleImages.png
        // Another method of compression than zlib's: there is no row.
        damaged[41] ^= 0xFF
        let transport = HeldTransport { [damaged] _ in .fresh(damaged) }
        let loader = ImageLoader(disk: disk, transport: transport, pressure: nil)
        let requests = try requests(1)
        #expect(await Prewarmer(loader, destination: .disk).run(requests).fetched == 1)
        #expect(await Prewarmer(loader).run(requests).failed == 1)
    }

    private var disk: DiskCache { DiskCache(folder: folder.path) }

    /// Without a disk tier: a claim on a shared folder may let another transfer go first.
    private var oneAtATime: FileLoader {
        return FileLoader(disk: nil, configuration: .with { $0.transfersPerHost = 1 }, transport: held)
    }

    private func requests(_ count: Int) throws -> [ImageRequest] {
        (0..<count).map { ImageRequest("http://localhost/\($0)") }
    }
}
