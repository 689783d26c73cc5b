import TestSupport
import Testing

@testable import LazyImages

/// A part of another program that prewarms, as an actor.
private actor Library {
    private(set) var outcomes: [String] = []
    private let prewarmer: Prewarmer

    init(_ prewarmer: Prewarmer) { self.prewarmer = prewarmer }

    func fill(_ requests: [ImageRequest]) async -> Prewarmer.Summary {
        await prewarmer.run(requests) { result in
            outcomes.append(result.request.url.path)
        }
    }
}

@Suite("A prewarmer's priority and control", .timeLimit(.minutes(30)))
struct PrewarmControlTests {
    private let folder: TemporaryFolder
    private let held = HeldTransport()

    init() throws { folder = try TemporaryFolder() }

    @Test("an actor runs it with a trailing closure that changes the actor")
    func fromAnActor() async throws {
        let library = Library(
            Prewarmer(FileLoader(disk: disk, transport: HeldTransport { _ in .fresh(SampleImages.png) })))
        #expect(await library.fill(try requests(3)).fetched == 3)
        #expect(await library.outcomes.sorted() == ["/0", "/1", "/2"])
    }

    @Test("the main actor runs it with a trailing closure that changes its own state")
    @MainActor func fromTheMainActor() async throws {
        var count = 0
        let loader = FileLoader(disk: disk, transport: HeldTransport { _ in .fresh(SampleImages.png) })
        let summary = await Prewarmer(loader).run(try requests(3)) { _ in count += 1 }
        #expect(summary.fetched == 3 && count == 3)
    }

    @Test("what is loaded to be looked at goes before it")
    func priority() async throws {
        let loader = oneAtATime
        let requests = try requests(3)
        let waiting = waiting(in: loader)
        let run = Task { await Prewarmer(loader).run(requests) }
        let first = try await held.transfer(0)
        try await waiting.reaches(3)
        let seen = try await loader.callers(1, of: try ImageRequest("http://localhost/seen"))
        try await waiting.reaches(4)
        first.answer(SampleImages.png)
        let second = try await held.transfer(1)
        #expect(second.request.url.path == "/seen")
        second.answer(SampleImages.png)
        for index in 2..<4 { try await held.transfer(index).answer(SampleImages.png) }
        #expect(await seen.outcomes[0].error == nil)
        #expect(await run.value.fetched == 3)
    }

    @Test("its priority can be chosen")
    func chosenPriority() async throws {
        let loader = oneAtATime
        let requests = try requests(2)
        let waiting = waiting(in: loader)
        let run = Task { await Prewarmer(loader).run(requests, priority: .high) }
        let first = try await held.transfer(0)
        try await waiting.reaches(2)
        let other = try await loader.callers(1, of: try ImageRequest("http://localhost/other"))
        try await waiting.reaches(3)
        first.answer(SampleImages.png)
        let second = try await held.transfer(1)
        #expect(second.request.url.path != "/other")
        second.answer(SampleImages.png)
        try await held.transfer(2).answer(SampleImages.png)
        _ = await other.outcomes
        #expect(await run.value.fetched == 2)
    }

    @Test("paused, it begins nothing, what runs goes on, and resumed it does the rest")
    func pause() async throws {
        let loader = FileLoader(disk: disk, transport: held)
        let prewarmer = Prewarmer(loader, concurrency: 1)
        let (requests, reported) = (try requests(3), Tally())
        let run = Task { await prewarmer.run(requests) { _ in reported.add() } }
        let first = try await held.transfer(0)
        prewarmer.pause()
        first.answer(SampleImages.png)
        try await reported.reaches(1)
        #expect(held.started.count == 1)
        prewarmer.resume()
        for index in 1..<3 { try await held.transfer(index).answer(SampleImages.png) }
        #expect(await run.value.fetched == 3)
    }

    @Test("stopped, it ends what runs in order and begins nothing, although it is paused")
    func stop() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held), concurrency: 2)
        let requests = try requests(10)
        let run = Task { await prewarmer.run(requests) { _ in } }
        let started = try await held.transfers(2)
        prewarmer.pause()
        started[0].answer(SampleImages.png)
        prewarmer.stop()
        prewarmer.resume()
        started[1].answer(SampleImages.png)
        let summary = await run.value
        #expect(summary.fetched == 2 && summary.cancelled == 8 && summary.failed == 0)
        #expect(await prewarmer.run(requests).cancelled == 10)
        #expect(held.started.count == 2)
    }

    @Test("cancelled while it is paused, it ends")
    func cancelledWhilePaused() async throws {
        let prewarmer = Prewarmer(FileLoader(disk: disk, transport: held))
        prewarmer.pause()
        let requests = try requests(50)
        let run = Task { await prewarmer.run(requests) }
        run.cancel()
        #expect(await run.value.cancelled == 50)
    }

    /// Counts the transfers that have lined up for their place.
    private func waiting(in loader: FileLoader) -> Tally {
        let (events, count) = (loader.downloader.activity.events, Tally())
        Task { for await event in events { if case .waiting = event.kind { count.add() } } }
        return count
    }

    private var disk: DiskCache { DiskCache(folder: folder.path) }

    private var oneAtATime: FileLoader {
        var configuration = ImageDownloader.Configuration()
        configuration.transfersPerHost = 1
        return FileLoader(disk: disk, configuration: configuration, transport: held)
    }

    private func requests(_ count: Int) throws -> [ImageRequest] {
        try (0..<count).map { try ImageRequest("http://localhost/\($0)") }
    }
}
