import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("The events of a task", .bounded)
struct ImageTaskEventsTests {
    private let held = HeldTransport()
    private let loader: ImageLoader
    private let request: ImageRequest

    init() throws {
        loader = ImageLoader(disk: nil, configuration: .once, transport: held, pressure: nil)
        request = ImageRequest("http://localhost/a.png")
    }

    private func name(_ event: ImageTask.Event) -> String {
        switch event {
        case .waiting: "waiting"
        case .started: "started"
        case .progress(let progress): "\(progress.received)"
        case .preview(let preview): "preview \(preview.number)"
        case .finished(.success): "image"
        case .finished(.failure(let error)): error.code
        }
    }

    private func read(
        _ task: ImageTask, _ events: AsyncStream<ImageTask.Event>? = nil
    ) async -> (names: [String], metrics: LoadMetrics?) {
        var names: [String] = []
        for await event in events ?? task.events { names.append(name(event)) }
        return (names, task.metrics)
    }

    @Test("a load waits, starts, progresses and finishes, with the metrics of all of it")
    func network() async throws {
        // A sequence has the events from when it is made, however late its reader begins.
        let task = loader.imageTask(with: request)
        let events = task.events
        #expect(task.metrics == nil)
        async let reading = read(task, events)
        let transfer = try await held.transfer()
        transfer.respond()
        transfer.send(Array(SampleImages.png[..<20]))
        transfer.send(Array(SampleImages.png[20...]))
        transfer.finish()
        let (names, metrics) = await reading
        #expect(names.first == "waiting" && names.last == "image")
        #expect(names.contains("started") && names.contains("\(SampleImages.png.count)"))
        let measured = try #require(metrics)
        #expect(measured.source == .network && measured.received == SampleImages.png.count)
        let (first, file) = (try #require(measured.firstByte), try #require(measured.file))
        #expect(measured.queued <= first && first <= file && file <= measured.total)
        #expect(measured.decoding == measured.total - file)
    }

    @Test("a late reader gets what came last, and the same metrics")
    func late() async throws {
        let task = loader.imageTask(with: request)
        let transfer = try await held.transfer()
        transfer.respond()
        transfer.send(Array(SampleImages.png[..<20]))
        var events = task.events.makeAsyncIterator()
        var early: [String] = []
        while early.last != "20", let event = await events.next() { early.append(name(event)) }
        #expect(early == ["waiting", "started", "20"])
        let later = task.events
        async let reading = read(task, later)
        transfer.send(Array(SampleImages.png[20...]))
        transfer.finish()
        let metrics = await reading.metrics
        while await events.next() != nil {}
        #expect(metrics != nil && metrics == task.metrics)
        // The load has ended.
        #expect(await read(task).names == ["waiting", "image"])
    }

    @Test("an image in memory, a failure and a cancelled load finish at once")
    func others() async throws {
        let first = loader.imageTask(with: request)
        try await held.transfer().answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await first.value
        let hit = await read(loader.imageTask(with: request))
        #expect(hit.names == ["image"] && hit.metrics == LoadMetrics(source: .memory))
        let missing = loader.imageTask(with: ImageRequest("http://localhost/b.png"))
        try await held.transfer(1).answer([], status: 404)
        let failed = await read(missing)
        #expect(failed.names.last == "http-status" && failed.metrics != nil && failed.metrics?.source == nil)
        guard case .failure(let error) = await missing.result else {
            Issue.record("an image")
            return
        }
        #expect(error.code == "http-status" && error.url == "http://localhost/b.png" && !error.isCancelled)
        let left = loader.imageTask(with: ImageRequest("http://localhost/c.png"))
        _ = try await held.transfer(2)
        left.cancel()
        #expect(await read(left).names == ["waiting", "cancelled"])
    }

    @Test("a program's own loader sends events")
    func feed() async throws {
        let image = LoadedImage(
            bitmap: Bitmap(width: 1, height: 1, pixels: [1, 2, 3, 4]),
            header: ImageHeader(format: .png, size: ImageSize(width: 1, height: 1)), url: request.url)
        let reads = Tally()
        let task = ImageTask(
            request,
            feeding: { _, feed async throws(ImageLoadingError) in
                // Ignored: only the end of a test cancels the task.
                try? await reads.wait(for: 1)
                feed.started(queued: .seconds(1))
                feed.progress(TransferProgress(received: 5, expected: 9))
                if feed.wantsPreviews { feed.preview(ImagePreview(bitmap: image.bitmap, number: 1)) }
                feed.measured(LoadMetrics(source: .local, total: .seconds(2), received: 9))
                return image
            })
        var names: [String] = []
        for await event in task.events {
            names.append(name(event))
            if case .waiting = event { reads.add() }
        }
        #expect(names == ["waiting", "started", "5", "preview 1", "image"])
        #expect(task.metrics == LoadMetrics(source: .local, total: .seconds(2), received: 9))
    }
}
