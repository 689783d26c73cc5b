import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("ImageDownloader", .bounded)
struct ImageDownloaderTests {
    private let transport = HeldTransport()

    @Test("ten thousand callers of one URL make one request")
    func tenThousandCallers() async throws {
        let gate = Gate()
        let png = SampleImages.png
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(png.count)\r\n\r\n"
        let origin = try ScriptedOrigin([.readHead, .wait(gate), .send(head), .sendBytes(png)])
        let downloader = ImageDownloader(configuration: configuration { $0.timeouts = .patient })
        let callers = try await downloader.callers(10_000, of: ImageRequest(.url(origin.url())))
        gate.open()
        let answered = await callers.outcomes.count { $0.error == nil }
        #expect(answered == 10_000)
        #expect(origin.heads.count == 1)
        #expect(origin.connections.count == 1)
    }

    @Test("a download returns the bytes that were sent, with format, size, status and URL")
    func answer() async throws {
        let origin = try ScriptedOrigin(.answering(SampleImages.jpeg))
        let url = origin.url("/El%20Cami%C3%B3n.jpg")
        let image = try await ImageDownloader().download(ImageRequest(.url(url)))
        #expect(image.bytes.array == SampleImages.jpeg)
        #expect(image.header?.format == .jpeg)
        #expect(image.status == 200)
        #expect(image.url == url)
        #expect(origin.heads[0].hasPrefix("GET /El%20Cami%C3%B3n.jpg HTTP/1.1\r\n"))
    }

    @Test("each caller has its own progress, and a caller that joins late gets the present one")
    func progress() async throws {
        let downloader = ImageDownloader(transport: transport)
        let request = ImageRequest("http://localhost/a.png")
        let png = SampleImages.png
        let (early, late) = (ProgressLog(), ProgressLog())
        async let first = downloader.download(request, progress: early.continuation)
        let transfer = try await transport.transfer()
        transfer.respond(200, ["Content-Length": "\(png.count)"])
        transfer.send(Array(png[..<10]))
        async let second = downloader.download(request, progress: late.continuation)
        let told = await late.first()
        #expect(told == TransferProgress(received: 10, expected: png.count))
        transfer.send(Array(png[10...]))
        transfer.finish()
        _ = try await (first, second)
        let all = await early.untilFinished().map(\.received)
        #expect(all == [0, 10, png.count])
        #expect(await late.untilFinished().map(\.received) == [png.count])
    }

    @Test("a cancelled caller gets no more progress, and its stream finishes")
    func progressOfALeaver() async throws {
        let downloader = ImageDownloader(transport: transport)
        let request = ImageRequest("http://localhost/a.png")
        let log = ProgressLog()
        let leaver = Task { try await downloader.download(request, progress: log.continuation) }
        let stayer = try await downloader.callers(1, of: request)
        let transfer = try await transport.transfer()
        transfer.respond()
        #expect(await log.first()?.received == 0)
        leaver.cancel()
        #expect(await log.untilFinished().isEmpty)
        transfer.send(SampleImages.png)
        transfer.finish()
        #expect(await stayer.outcomes[0].error == nil)
    }

    @Test("six transfers run per host and 32 in all, never more")
    func limits() async throws {
        let downloader = ImageDownloader(transport: transport)
        var callers: [Callers<LoadedFile>] = []
        for number in 0..<100 {
            let host = number < 50 ? "many" : "host\(number % 10)"
            callers.append(
                try await downloader.callers(1, of: ImageRequest("http://\(host).localhost/\(number)")))
        }
        let first = try await transport.transfers(32)
        #expect(first.count == 32)
        #expect(first.count { $0.request.url.host() == "many.localhost" } == 6)
        for index in 0..<100 { try await transport.transfer(index).answer(SampleImages.png) }
        for caller in callers { #expect(await caller.outcomes[0].error == nil) }
        #expect(transport.mostAtOnce == 32)
        #expect(transport.started.count == 100)
    }

    @Test("the highest priority starts first, and a change of priority counts while a transfer waits")
    func priorities() async throws {
        let downloader = ImageDownloader(
            transport: transport, configuration: configuration { $0.transfers = 1 })
        var waiting: [Callers<LoadedFile>] = []
        for (path, priority) in [
            ("running", ImageRequest.Priority.normal), ("low", .low), ("high", .high), ("changed", .low),
        ] {
            var request = ImageRequest("http://localhost/\(path)")
            request.priority = priority
            waiting.append(try await downloader.callers(1, of: request))
        }
        waiting[3].setPriority(.veryHigh)
        try await downloader.waitForPriority(.veryHigh, of: ImageRequest("http://localhost/changed"))
        for index in 0..<4 { try await transport.transfer(index).answer(SampleImages.png) }
        for caller in waiting { #expect(await caller.outcomes[0].error == nil) }
        #expect(transport.requests.map(\.url.path) == ["/running", "/changed", "/high", "/low"])
    }

    @Test(
        "a caller that joins raises the priority of a waiting transfer, and its cancellation lowers it again"
    )
    func priorityOfTheCallers() async throws {
        let downloader = ImageDownloader(
            transport: transport, configuration: configuration { $0.transfers = 1 })
        let running = try await downloader.callers(1, of: ImageRequest("http://localhost/running"))
        let normal = try await downloader.callers(1, of: ImageRequest("http://localhost/normal"))
        var request = ImageRequest("http://localhost/joined", options: .init(priority: .low))
        let joined = try await downloader.callers(1, of: request)
        let left = try await downloader.callers(
            1, of: ImageRequest("http://localhost/left", options: .init(priority: .low)))
        request.priority = .high
        let urgent = try await downloader.callers(1, of: request)
        let leaver = try await downloader.callers(
            1, of: ImageRequest("http://localhost/left", options: .init(priority: .veryHigh)))
        leaver.tasks[0].cancel()
        #expect(await leaver.outcomes[0].error?.code == "cancelled")
        for index in 0..<4 { try await transport.transfer(index).answer(SampleImages.png) }
        for caller in [running, normal, joined, left, urgent] {
            #expect(await caller.outcomes[0].error == nil)
        }
        #expect(transport.requests.map(\.url.path) == ["/running", "/joined", "/normal", "/left"])
    }

    @Test("a failure and a cancellation each free a slot")
    func placesComeBack() async throws {
        let downloader = ImageDownloader(
            transport: transport, configuration: configuration { $0.transfers = 1 })
        for round in 0..<6 {
            let caller = try await downloader.callers(1, of: ImageRequest("http://localhost/\(round)"))
            let transfer = try await transport.transfer(round)
            switch round % 3 {
            case 0: transfer.fail(.empty(url: ""))
            case 1: caller.tasks[0].cancel()
            default: transfer.answer(SampleImages.png)
            }
            _ = await caller.outcomes
        }
        #expect(transport.mostAtOnce == 1)
    }

    @Test("waiting for a slot does not count against a timeout")
    func waitingIsFree() async throws {
        let time = Shared(Duration.zero)
        let downloader = ImageDownloader(
            transport: transport,
            configuration: configuration {
                $0.transfers = 1
                $0.timing.now = { time.value }
            })
        let first = try await downloader.callers(1, of: ImageRequest("http://localhost/1"))
        let waiting = try await downloader.callers(1, of: ImageRequest("http://localhost/2"))
        let transfer = try await transport.transfer(0)
        // Longer than the second may take in all.
        time.change { $0 += Timeouts().total + .seconds(1) }
        transfer.answer(SampleImages.png)
        let second = try await transport.transfer(1)
        #expect(second.request.timeouts.total == Timeouts().total)
        second.answer(SampleImages.png)
        for caller in [first, waiting] { #expect(await caller.outcomes[0].error == nil) }
    }

    @Test(
        "a status without an image is an error with that status",
        arguments: [204, 206, 304, 401, 404, 429, 500, 503])
    func statuses(status: Int) async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let caller = try await downloader.callers(1, of: ImageRequest("http://localhost/a.png"))
        try await transport.transfer().answer(SampleImages.png, status: status)
        #expect(await caller.outcomes[0].error == .httpStatus(url: "http://localhost/a.png", status: status))
    }

    @Test("the library's default fields are sent, and the caller's replace them")
    func fields() async throws {
        let downloader = ImageDownloader(
            transport: transport, configuration: configuration { $0.userAgent = "Test" })
        let request = ImageRequest(
            "http://localhost/a", options: .init(fields: ["accept": "image/png", "X-A": "1", "X-a": "2"]))
        let caller = try await downloader.callers(1, of: request)
        let transfer = try await transport.transfer()
        let fields = transfer.request.fields
        #expect(fields.values(of: "Accept") == ["image/png"])
        #expect(fields.values(of: "x-a") == ["1", "2"])
        #expect(fields["User-Agent"] == "Test")
        #expect(fields["Accept-Encoding"] == "identity")
        transfer.answer(SampleImages.png)
        _ = await caller.outcomes
    }

    @Test("bytes without room in memory go to the configured folder and come back unchanged")
    func spill() async throws {
        let image = SampleImages.png(bytes: 100_000)
        let origin = try ScriptedOrigin(.answering(image))
        let downloader = ImageDownloader(configuration: configuration { $0.memoryForBodies = 50_000 })
        let downloaded = try await downloader.download(ImageRequest(.url(origin.url())))
        #expect(downloaded.bytes.source is MappedFile)
        #expect(downloaded.bytes.array == image)
    }

    private func configuration(
        _ change: (inout ImageDownloader.Configuration) -> Void
    ) -> ImageDownloader.Configuration {
        var configuration = ImageDownloader.Configuration()
        change(&configuration)
        return configuration
    }
}
