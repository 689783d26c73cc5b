import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

/// The races of callers, removals and slots with the end of a download, each in one fixed order.
@Suite("Races of one flight", .bounded)
struct FlightRacesTests {
    private let fixture: DiskFixture
    private let transport = HeldTransport()

    init() throws { fixture = try DiskFixture() }

    private func configuration(
        _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) -> ImageDownloader.Configuration {
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        change(&configuration)
        return configuration
    }

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
        let second = loader.task(for: try request("a", 2))
        try await gate.reached()
        // 2. A's download stores its file, and ends.
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        _ = try await first
        // 3. B joins a download that is over, 4. and looks again.
        gate.open()
        #expect(try await second.value.source == .disk)
        #expect(transport.started.count == 1)
    }

    @Test("cancel, finish: what an abandoned transfer brings late changes nothing")
    func cancelAndFinish() async throws {
        let stubborn = StubbornTransport()
        let loader = stubbornLoader(stubborn)
        let request = try request()
        let abandoned = try await abandonedTransfer(of: request, by: loader, stubborn)
        async let second = loader.file(for: request)
        let transfer = try await stubborn.transfer(1)
        transfer.answer(SampleImages.png)
        #expect(try await second.bytes.array == SampleImages.png)
        abandoned.answer(SampleImages.jpeg)
        try await eventually { loader.downloader.transferCount == 0 }
        await loader.flush()
        #expect(loader.cachedFile(for: request)?.bytes.array == SampleImages.png)
        let stored: DiskCache.Entry? = await loader.disk?.entry(for: request.key)
        #expect(stored?.body.array == SampleImages.png)
    }

    @Test("cancel, finish: a transfer whose whole body had arrived is kept, if nobody has asked again")
    func abandonedButWhole() async throws {
        let stubborn = StubbornTransport()
        let loader = stubbornLoader(stubborn)
        let request = try request()
        let abandoned = try await abandonedTransfer(of: request, by: loader, stubborn)
        abandoned.answer(SampleImages.png)
        try await eventually { loader.cachedFile(for: request) != nil }
    }

    private func stubbornLoader(_ transport: StubbornTransport) -> FileLoader {
        FileLoader(disk: fixture.cache(), configuration: configuration(), transport: transport)
    }

    /// The first transfer of a request, whose only caller has left.
    private func abandonedTransfer(
        of request: ImageRequest, by loader: FileLoader, _ transport: StubbornTransport
    ) async throws -> StubbornTransport.Transfer {
        let caller = Task { try await loader.file(for: request) }
        let transfer = try await transport.transfer(0)
        caller.cancel()
        await #expect(throws: ImageLoadingError.cancelled(url: "http://localhost/a")) {
            try await caller.value
        }
        return transfer
    }

    @Test("remove, store: callers get the file, and no tier keeps it", arguments: [0, 1, 2])
    func removeAndStore(step: Int) async throws {
        let loader = ImageLoader(
            disk: fixture.cache(), configuration: configuration(), transport: transport, pressure: nil)
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
        let loader = FileLoader(disk: disk, configuration: configuration(), transport: transport)
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
            disk: fixture.cache(calls: gate.calls), configuration: configuration { $0.transfers = 1 },
            transport: transport, pressure: nil)
        let downloader = loader.files.downloader
        let x = loader.task(for: try request("x"))
        _ = try await transport.transfer(0)
        let z = loader.task(for: try request("z"))
        try await eventually { downloader.waitingCount == 1 }
        var low = try request("y")
        low.priority = .low
        if isBefore { gate.arm() }
        let y = loader.task(for: low)
        if isBefore { try await gate.reached() } else { try await eventually { downloader.waitingCount == 2 } }
        for priority in priorities { y.priority = priority }
        gate.open()
        try await eventually { downloader.waitingCount == 2 }
        for index in 0..<3 { try await transport.transfer(index).answer(SampleImages.png) }
        for task in [x, y, z] { _ = try await task.value }
        let order = transport.requests.map { $0.url.lastPathComponent }
        #expect(order == (priorities.last == .high ? ["x", "y", "z"] : ["x", "z", "y"]))
    }

    @Test("a claim of another process holds no slot: another picture of the host passes")
    func claim() async throws {
        let other = HeldTransport()
        let first = FileLoader(disk: fixture.cache(), configuration: configuration(), transport: other)
        let second = FileLoader(
            disk: fixture.cache(), configuration: configuration { $0.transfersPerHost = 1 },
            transport: transport)
        async let theirs = first.file(for: request("a"))
        let fetching = try await other.transfer()
        async let waiting = second.file(for: request("a"))
        try await eventually { second.downloader.transferCount == 1 }
        async let passing = second.file(for: request("b"))
        try await transport.transfer().answer(SampleImages.png)
        _ = try await passing
        fetching.answer(SampleImages.jpeg, fields: ["Cache-Control": "max-age=60"])
        #expect(try await theirs.source == .network)
        let found = try await waiting
        #expect(found.source == .disk && found.bytes.array == SampleImages.jpeg)
        #expect(transport.started.count == 1)
    }

    @Test("a waiting transfer that is cancelled lets the next one pass", arguments: [true, false])
    func cancelledInTheQueue(cancelsFirst: Bool) async throws {
        let loader = FileLoader.ephemeral(
            configuration: configuration { $0.transfers = 1 }, transport: transport)
        let x = Task { try await loader.file(for: request("x")) }
        let running = try await transport.transfer(0)
        let y = Task { try await loader.file(for: request("y")) }
        try await eventually { loader.downloader.transferCount == 2 }
        let z = Task { try await loader.file(for: request("z")) }
        try await eventually { loader.downloader.transferCount == 3 }
        if cancelsFirst {
            y.cancel()
            await #expect(throws: ImageLoadingError.self) { try await y.value }
            running.answer(SampleImages.png)
        } else {
            running.answer(SampleImages.png)
            y.cancel()
            _ = await y.result
        }
        try await eventually { transport.requests.last?.url.lastPathComponent == "z" }
        try await transport.transfer(transport.requests.count - 1).answer(SampleImages.png)
        #expect(try await z.value.source == .network)
        _ = try await x.value
    }

    @Test("a load in a cancelled task is cancelled, without a request")
    func cancelledBefore() async throws {
        let loader = FileLoader.ephemeral(transport: transport)
        let never = Tally()
        let request = try request()
        let task = Task {
            try? await never.wait(for: 1)
            return try await loader.file(for: request)
        }
        task.cancel()
        await #expect(throws: ImageLoadingError.cancelled(url: "http://localhost/a")) { try await task.value }
        #expect(transport.started.count == 0)
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
            configuration: configuration { $0.authenticator = silent }, transport: answering)
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

    @Test("a transport that never ends is given up at the total timeout, and its slot is free")
    func endlessTransport() async throws {
        let stubborn = StubbornTransport()
        let loader = FileLoader.ephemeral(
            configuration: configuration { configuration in
                configuration.transfers = 1
                configuration.timeouts.total = .milliseconds(1)
            }, transport: stubborn)
        let url = "http://localhost/a"
        await #expect(throws: ImageLoadingError.timedOut(url: url, phase: .total, seconds: 0.001)) {
            try await loader.file(for: request("a"))
        }
        #expect(loader.downloader.activity.abandonedCount == 1)
        async let next = loader.file(for: request("b"))
        try await stubborn.transfer(1).answer(SampleImages.png)
        _ = try await next
    }

    @Test("a closure that never returns is given up at the total timeout")
    func endlessClosure() async throws {
        let loader = FileLoader.ephemeral(
            configuration: configuration { $0.timeouts.total = .milliseconds(1) }, transport: transport)
        let never = Tally()
        let request = ImageRequest(
            .data(id: "never") { () async throws -> [UInt8] in
                while never.count == 0 { try? await Task.sleep(for: .milliseconds(10)) }
                return []
            })
        await #expect(throws: ImageLoadingError.self) { try await loader.file(for: request) }
        #expect(loader.downloader.activity.abandonedCount == 1)
        never.add()
    }

    @Test("a host sees its limit once: an upload waits for the slots of its loader's downloads")
    func sharedSlots() async throws {
        let loader = FileLoader.ephemeral(
            configuration: configuration { $0.transfersPerHost = 1 }, transport: transport)
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

/// A transport that does not end when its task is cancelled.
private final class StubbornTransport: Transport {
    final class Transfer: Sendable {
        private let receiver: any BodyReceiver
        private let head = Shared<ResponseHead?>(nil)
        private let ended = Tally()

        init(_ receiver: any BodyReceiver) { self.receiver = receiver }

        func answer(_ body: [UInt8]) {
            let head = ResponseHead(
                status: 200, fields: ["Cache-Control": "max-age=60", "Content-Length": "\(body.count)"])
            if receiver.receive(head) { _ = receiver.receive(body.span) }
            self.head.change { $0 = head }
            ended.add()
        }

        func end() async -> ResponseHead {
            // Not in the calling task, whose cancellation ends the wait.
            await Task { [ended, head] in
                try? await ended.wait(for: 1)
                return head.value ?? ResponseHead(status: 0)
            }.value
        }
    }

    private let transfers = Shared<[Transfer]>([])
    private let started = Tally()

    func transfer(_ index: Int) async throws -> Transfer {
        try await started.wait(for: index + 1)
        return transfers.value[index]
    }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        let transfer = Transfer(receiver)
        transfers.change { $0.append(transfer) }
        started.add()
        return await transfer.end()
    }
}
