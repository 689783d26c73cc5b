import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

/// The races of callers, removals and slots with the end of a download, each in one fixed order.
@Suite("Races of one flight", .bounded)
struct FlightRacesTests {
    private let fixture: DiskFixture
    private let transport = HeldTransport()

    init() throws { fixture = try DiskFixture() }

    private func request(_ name: String = "a", _ size: Int? = nil) throws -> ImageRequest {
        ImageRequest("http://localhost/\(name)", targetSize: size.map { ImageSize(width: $0, height: $0) })
    }

    @Test("join, finish: a caller that looked on disk before the file was stored makes no second request")
    func joinAndFinish() async throws {
        let gate = LookGate()
        let loader = ImageLoader(disk: fixture.cache(calls: gate.calls), transport: transport, pressure: nil)
        async let first = loader.image(for: request("a", 1))
        let transfer = try await transport.transfer()
        // 1. B looks on disk, and will find nothing.
        gate.arm()
        let second = loader.imageTask(with: try request("a", 2))
        try await gate.reached()
        // 2. A's download stores its file, and ends.
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await first
        // 3. B joins a download that is over, 4. and looks again.
        gate.open()
        #expect(try await second.value.source == .disk)
        #expect(transport.started.count == 1)
    }

    @Test("remove, store: callers get the file, and no tier keeps it", arguments: [0, 1, 2])
    func removeAndStore(step: Int) async throws {
        let loader = ImageLoader(
            disk: fixture.cache(), configuration: .once, transport: transport, pressure: nil)
        let request = try request()
        async let image = loader.image(for: request)
        let transfer = try await transport.transfer()
        let png = SampleImages.png
        if step == 0 { await loader.remove(request) }
        transfer.respond(200, ["Cache-Control": "max-age=60", "Content-Length": "\(png.count)"])
        if step == 1 { await loader.remove(request) }
        transfer.send(Array(png[..<20]))
        if step == 2 { await loader.remove(request) }
        transfer.send(Array(png[20...]))
        transfer.finish()
        #expect(try await image.source == .network)
        #expect(loader.cachedImage(for: request) == nil)
        async let again = loader.image(for: request)
        try await transport.transfer(1).answer(png)
        #expect(try await again.source == .network)
    }

    @Test("remove, store: a file whose write has not begun is not written")
    func removeStaged() async throws {
        let gate = LookGate(.rename)
        let disk = fixture.cache(calls: gate.calls)
        let loader = FileLoader(disk: disk, configuration: .once, transport: transport)
        let request = try request()
        gate.arm(with: nil)
        async let file = loader.file(for: request)
        try await transport.transfer().answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await file
        try await gate.reached()
        async let removed: Void = loader.remove(request)
        try await eventually { disk.body(request.key) == nil }
        gate.open()
        await removed
        let stored: DiskCache.Entry? = await disk.entry(for: request.key)
        #expect(stored == nil && loader.cachedFile(for: request) == nil)
    }

    @Test(
        "priority, entering: a priority that changes before or while a transfer waits for its slot counts",
        arguments: [
            (true, [ImageRequest.Priority.high]), (false, [.high]), (true, [.high, .low]),
            (false, [.high, .low]),
        ])
    func priorityAndEntering(isBefore: Bool, priorities: [ImageRequest.Priority]) async throws {
        let gate = LookGate()
        let loader = ImageLoader(
            disk: fixture.cache(calls: gate.calls), configuration: .with { $0.transfers = 1 },
            transport: transport, pressure: nil)
        let downloader = loader.files.downloader
        let x = loader.imageTask(with: try request("x"))
        _ = try await transport.transfer(0)
        let z = loader.imageTask(with: try request("z"))
        try await eventually { downloader.waitingCount == 1 }
        var low = try request("y")
        low.priority = .low
        if isBefore { gate.arm() }
        let y = loader.imageTask(with: low)
        if isBefore {
            try await gate.reached()
        } else {
            try await eventually { downloader.waitingCount == 2 }
        }
        for priority in priorities { y.priority = priority }
        gate.open()
        try await eventually { downloader.waitingCount == 2 }
        for index in 0..<3 { try await transport.transfer(index).answer(SampleImages.png) }
        for task in [x, y, z] { _ = try await task.value }
        let order = transport.requests.map { $0.url.lastPathComponent }
        #expect(order == (priorities.last == .high ? ["x", "y", "z"] : ["x", "z", "y"]))
    }

    @Test("a load in a cancelled task is cancelled, without a request")
    func cancelledBefore() async throws {
        let loader = FileLoader.ephemeral(transport: transport)
        let downloader = ImageDownloader(transport: transport)
        let never = Tally()
        let request = try request()
        let loads: [@Sendable () async throws -> LoadedFile] = [
            { try await loader.file(for: request) }, { try await downloader.download(request) },
        ]
        for load in loads {
            let task = Task {
                try? await never.wait(for: 1)
                return try await load()
            }
            task.cancel()
            let error = ImageLoadingError.cancelled(url: "http://localhost/a")
            await #expect(throws: error) { try await task.value }
        }
        #expect(transport.started.count == 0)
    }

    @Test("a load that is cancelled in the queue downloads nothing")
    func cancelledInTheQueue() async throws {
        let downloader = ImageDownloader(transport: transport, configuration: .with { $0.transfers = 1 })
        let first = try await downloader.callers(1, of: ImageRequest("http://localhost/1"))
        let queued = try await downloader.callers(1, of: ImageRequest("http://localhost/2"))
        let last = try await downloader.callers(1, of: ImageRequest("http://localhost/3"))
        queued.tasks[0].cancel()
        #expect(await queued.outcomes[0].error == .cancelled(url: "http://localhost/2"))
        try await transport.transfer(0).answer(SampleImages.png)
        try await transport.transfer(1).answer(SampleImages.png)
        for callers in [first, last] { #expect(await callers.outcomes[0].error == nil) }
        #expect(transport.requests.map(\.url.path) == ["/1", "/3"])
    }

    @Test("cancellation is not a failure")
    func cancellationIsNoFailure() async throws {
        let loader = FileLoader(disk: nil, transport: transport)
        let callers = try await loader.callers(1, of: try request())
        let transfer = try await transport.transfer()
        callers.tasks[0].cancel()
        try await transfer.cancellation.wait(for: 1)
        #expect(await callers.outcomes[0].error == .cancelled(url: "http://localhost/a"))
        // No retry and no fallback follow: the next request is the next load's.
        for number in 1...10 {
            let next = try await loader.callers(1, of: ImageRequest("http://localhost/\(number)"))
            try await transport.transfer(number).answer(SampleImages.png)
            #expect(await next.outcomes[0].error == nil)
        }
        #expect(transport.requests.map(\.url.lastPathComponent) == ["a"] + (1...10).map { "\($0)" })
        #expect(loader.memory?.counters.stores == 10)
    }

    // MARK: Slots

    @Test("six challenges that nobody answers hold no slot, and their callers can leave")
    func silentAuthenticator() async throws {
        let silent = SilentAuthenticator()
        let answering = HeldTransport { request in
            request.url.path.hasPrefix("/locked")
                ? HeldTransport.Answer([], status: 401, fields: ["WWW-Authenticate": "Basic realm=\"x\""])
                : .fresh(SampleImages.png)
        }
        let loader = FileLoader.ephemeral(
            configuration: .with { $0.authenticator = silent }, transport: answering)
        let locked = try (0..<6).map { number in
            let request = try request("locked\(number)")
            return Task { try await loader.file(for: request) }
        }
        try await silent.asked.wait(for: 1)
        try await answering.started.wait(for: 6)
        #expect(try await loader.file(for: request("open")).source == .network)
        for task in locked {
            task.cancel()
            await #expect(throws: ImageLoadingError.self) { try await task.value }
        }
        silent.answer.add()
    }

    @Test("a closure that never returns is given up at the total timeout, and its slot is free")
    func endlessClosure() async throws {
        let loader = FileLoader.ephemeral(
            configuration: .with { ($0.timeouts.total, $0.transfers) = (.milliseconds(1), 1) },
            transport: transport)
        let never = Tally()
        defer { never.add() }
        let request = ImageRequest(id: "never") { () async throws -> [UInt8] in
            while never.count == 0 { try? await Task.sleep(for: .milliseconds(10)) }
            return []
        }
        await #expect(throws: ImageLoadingError.timedOut(url: "id:never", phase: .total, seconds: 0.001)) {
            try await loader.file(for: request)
        }
        #expect(loader.downloader.activity.abandonedCount == 1)
        // On a busy machine its time may run out too.
        let next = Task { try await loader.file(for: self.request("b")) }
        _ = try await transport.transfer()
        next.cancel()
        _ = await next.result
    }

    @Test("a host sees its limit once: an upload waits for the slots of its loader's downloads")
    func sharedSlots() async throws {
        let loader = FileLoader.ephemeral(
            configuration: .with { $0.transfersPerHost = 1 }, transport: transport)
        async let file = loader.file(for: request("a"))
        let running = try await transport.transfer(0)
        let uploader = Uploader(loader)
        let upload = uploader.task(for: try UploadRequest("http://localhost/b", .put))
        try await eventually { loader.downloader.waitingCount == 1 }
        #expect(transport.started.count == 1)
        running.answer(SampleImages.png)
        try await transport.transfer(1).answer([], status: 204)
        #expect(try await upload.value.status == 204)
        _ = try await file
    }
}
