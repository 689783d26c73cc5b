import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("FileLoader", .bounded)
struct FileLoaderTests {
    private let folder: TemporaryFolder
    private let request: ImageRequest
    private let answering = HeldTransport { _ in
        HeldTransport.Answer(SampleImages.png, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=3600"])
    }

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.png")
    }

    @Test("memory answers before the disk, the disk before the network")
    func tiers() async throws {
        let loader = loader(answering)
        #expect(loader.cachedFile(for: request) == nil)
        #expect(try await loader.file(for: request).source == .network)
        #expect(loader.cachedFile(for: request)?.source == .memory)
        #expect(try await loader.file(for: request).source == .memory)
        loader.memory?.removeAll()
        let stored = try await loader.file(for: request)
        #expect(stored.source == .disk)
        #expect(stored.bytes.array == SampleImages.png)
        #expect(stored.header?.format == .png && stored.status == 200 && stored.url == request.url)
        #expect(try await loader.file(for: request).source == .memory)
        #expect(answering.started.count == 1)
    }

    @Test("reload requests the file and replaces it in the tiers")
    func reload() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let first = try await loader.callers(1, of: request)
        try await held.transfer(0).answer(SampleImages.png, fields: ["Cache-Control": "max-age=3600"])
        #expect(await first.outcomes[0].error == nil)
        var reload = request
        reload.cachePolicy = .reload
        let second = try await loader.callers(1, of: reload)
        try await held.transfer(1).answer(SampleImages.jpeg, fields: ["Cache-Control": "max-age=3600"])
        #expect(try await second.outcomes[0].get().source == .network)
        #expect(loader.cachedFile(for: request)?.bytes.array == SampleImages.jpeg)
        loader.memory?.removeAll()
        await loader.flush()
        #expect(try await loader.file(for: request).bytes.array == SampleImages.jpeg)
        #expect(await entryCount() == 1)
    }

    @Test("a failed reload keeps the file in the tiers")
    func failedReload() async throws {
        let storing = loader(answering)
        _ = try await storing.file(for: request)
        await storing.flush()
        let failing = loader(HeldTransport { _ in HeldTransport.Answer([], status: 503) })
        var reload = request
        reload.cachePolicy = .reload
        #expect(await failing.error(for: reload)?.code == "http-status")
        #expect(try await failing.file(for: request).source == .disk)
    }

    @Test("callers of one file share one transfer, and different files do not")
    func sharing() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let same = try await loader.callers(20, of: request)
        let other = try await loader.callers(1, of: ImageRequest("http://localhost/b.png"))
        for transfer in try await held.transfers(2) { transfer.answer(SampleImages.png) }
        for callers in [same, other] {
            for outcome in await callers.outcomes { #expect(try outcome.get().source == .network) }
        }
        #expect(held.started.count == 2)
        await loader.flush()
        #expect(loader.disk?.counters.stores == 2)
    }

    @Test(
        "a caller with a wrong checksum does not fail the others, and one with the right checksum has it checked"
    )
    func checksumsOfSharers() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let sum = ImageBytes(SampleImages.png).checksum
        let address = "http://localhost/a.png"
        let logs = [ProgressLog(), ProgressLog(), ProgressLog()]
        let requests = [
            try ImageRequest(URL(typed: address), options: .init(checksum: "00")),
            try ImageRequest(URL(typed: address), options: .init(checksum: sum)), request,
        ]
        async let wrong = loader.error(for: requests[0], progress: logs[0].continuation)
        async let right = loader.error(for: requests[1], progress: logs[1].continuation)
        async let any = loader.error(for: requests[2], progress: logs[2].continuation)
        let transfer = try await held.transfer()
        transfer.respond()
        // A caller that has got the head waits for the transfer.
        for log in logs { #expect(await log.first()?.received == 0) }
        transfer.send(SampleImages.png)
        transfer.finish()
        let mismatch = ImageLoadingError.checksumMismatch(
            url: address, expected: "00", found: sum)
        let outcomes = await [wrong, right, any]
        #expect(outcomes == [mismatch, nil, nil])
        #expect(held.started.count == 1)
    }

    @Test("cached bytes are not used for a request with another checksum")
    func checksumOfTheCached() async throws {
        let loader = loader(answering)
        _ = try await loader.file(for: request)
        let wrong = ImageRequest("http://localhost/a.png", options: .init(checksum: "00"))
        #expect(await loader.error(for: wrong)?.code == "checksum-mismatch")
        #expect(answering.started.count == 2)
        #expect(try await loader.file(for: request).source == .memory)
    }

    @Test("progress reaches every caller of a load, and ends with it")
    func progress() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let (first, second) = (ProgressLog(), ProgressLog())
        async let one = loader.file(for: request, progress: first.continuation)
        let transfer = try await held.transfer()
        transfer.respond(200, ["Content-Length": "70", "Cache-Control": "max-age=3600"])
        async let two = loader.file(for: request, progress: second.continuation)
        #expect(await second.first() == TransferProgress(received: 0, expected: 70))
        transfer.send(SampleImages.png)
        transfer.finish()
        _ = try await (one, two)
        #expect(await first.untilFinished().map(\.received) == [0, 70])
        #expect(await second.untilFinished().map(\.received) == [70])
        let third = ProgressLog()
        _ = try await loader.file(for: request, progress: third.continuation)
        #expect(await third.untilFinished().isEmpty)
    }

    @Test("a file and a data URL are read directly, and leave the disk empty")
    func local() async throws {
        let path = folder.file("a b.png")
        try Data(SampleImages.png).write(to: URL(filePath: path))
        let loader = loader(HeldTransport())
        let data = "data:image/png;base64," + Data(SampleImages.png).base64EncodedString()
        for request in [ImageRequest(URL(filePath: path)), try ImageRequest(URL(typed: data))] {
            let image = try await loader.file(for: request)
            #expect(image.source == .local && image.status == nil)
            #expect(image.bytes.array == SampleImages.png)
            #expect(try await loader.file(for: request).source == .memory)
        }
        await loader.flush()
        #expect(await entryCount() == 0)
        #expect(await loader.error(for: ImageRequest("data:,text"))?.code == "not-an-image")
        let limited = ImageRequest(URL(filePath: path), options: .init(checksum: "00"))
        #expect(await loader.error(for: limited)?.code == "checksum-mismatch")
    }

    private func loader(_ transport: HeldTransport) -> FileLoader {
        FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: .once, transport: transport)
    }

    private func entryCount() async -> Int {
        await DiskCache(folder: folder.file("cache")).verify().entries
    }
}
