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
        case .finished(.success, _): "image"
        case .finished(.failure(let error), _): error.code
        }
    }

    private func read(
        _ events: AsyncStream<ImageTask.Event>
    ) async -> (names: [String], metrics: LoadMetrics?) {
        var (names, metrics): ([String], LoadMetrics?) = ([], nil)
        for await event in events {
            names.append(name(event))
            if case .finished(_, let measured) = event { metrics = measured }
        }
        return (names, metrics)
    }

    @Test("a load waits, starts, progresses and finishes, with the metrics of all of it")
    func network() async throws {
        // A sequence has the events from when it is made, however late its reader begins.
        let events = loader.task(for: request).events
        async let reading = read(events)
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
        let task = loader.task(for: request)
        let transfer = try await held.transfer()
        transfer.respond()
        transfer.send(Array(SampleImages.png[..<20]))
        var events = task.events.makeAsyncIterator()
        var early: [String] = []
        while early.last != "20", let event = await events.next() { early.append(name(event)) }
        #expect(early == ["waiting", "started", "20"])
        let later = task.events
        async let reading = read(later)
        transfer.send(Array(SampleImages.png[20...]))
        transfer.finish()
        let metrics = await reading.metrics
        var last: LoadMetrics?
        while let event = await events.next() {
            if case .finished(_, let measured) = event { last = measured }
        }
        #expect(metrics != nil && metrics == last)
    }

    @Test("an image in memory, a failure and a cancelled load finish at once")
    func others() async throws {
        let first = loader.task(for: request)
        try await held.transfer().answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await first.value
        let hit = await read(loader.task(for: request).events)
        #expect(hit.names == ["image"] && hit.metrics == LoadMetrics(source: .memory))
        let missing = loader.task(for: ImageRequest("http://localhost/b.png"))
        try await held.transfer(1).answer([], status: 404)
        let failed = await read(missing.events)
        #expect(failed.names.last == "http-status" && failed.metrics?.source == nil)
        let left = loader.task(for: ImageRequest("http://localhost/c.png"))
        _ = try await held.transfer(2)
        left.cancel()
        #expect(await read(left.events).names == ["waiting", "cancelled"])
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
        var (names, metrics): ([String], LoadMetrics?) = ([], nil)
        for await event in task.events {
            names.append(name(event))
            if case .waiting = event { reads.add() }
            if case .finished(_, let measured) = event { metrics = measured }
        }
        #expect(names == ["waiting", "started", "5", "preview 1", "image"])
        #expect(metrics == LoadMetrics(source: .local, total: .seconds(2), received: 9))
    }
}
