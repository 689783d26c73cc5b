import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("The timing of a load", .bounded)
struct LoadTimingTests {
    private let held = HeldTransport()
    private let loader: FileLoader

    init() {
        loader = FileLoader(
            memory: nil, disk: nil, configuration: .with { $0.transfersPerHost = 1 }, transport: held)
    }

    private func timed(_ path: String) async throws -> (code: String?, timing: LoadTiming) {
        let (file, timing) = await loader.timedFile(
            for: try ImageRequest(URL(typed: "http://localhost/" + path)))
        if case .failure(let error) = file { return (error.code, timing) }
        return (nil, timing)
    }

    @Test("the wait for a slot and the transfer are measured separately")
    func queued() async throws {
        async let first = timed("1")
        let transfer = try await held.transfer()
        async let second = timed("2")
        try await loader.downloader.waitForPriority(.normal, of: ImageRequest("http://localhost/2"))
        let clock = ContinuousClock()
        let start = clock.now
        let least = clock.now - start
        transfer.answer(SampleImages.png)
        try await held.transfer(1).answer(SampleImages.png)
        let (one, two) = (try await first, try await second)
        #expect(one.code == nil && two.code == nil)
        #expect(two.timing.queued >= least)
        #expect(two.timing.own + two.timing.queued == two.timing.total && two.timing.own > .zero)
    }

    @Test("a load that is cancelled before it has a slot has only waited")
    func cancelled() async throws {
        async let first = timed("1")
        let transfer = try await held.transfer()
        let second = Task { try await timed("2") }
        try await loader.downloader.waitForPriority(.normal, of: ImageRequest("http://localhost/2"))
        second.cancel()
        let two = try await second.value
        #expect(two.code == "cancelled" && two.timing.own == .zero && two.timing.total > .zero)
        transfer.answer(SampleImages.png)
        #expect(try await first.code == nil)
    }

    @Test("the timing of an image includes its file's, and the time until the file was there")
    func image() async throws {
        let images = ImageLoader(files: loader, pressure: nil)
        let request = ImageRequest("http://localhost/1", cachePolicy: .returnCacheElseLoad)
        async let loading = images.timedImage(for: request)
        try await held.transfer().answer(SampleImages.png)
        let (image, file, timing) = await loading
        #expect(try image.get().source == .network)
        #expect(file?.bytes.count == SampleImages.png.count && file?.source == .network)
        #expect(timing.own > .zero)
        let again = await images.timedImage(for: request)
        #expect(try again.image.get().source == .memory)
        #expect(again.file == nil && again.timing.queued == .zero)
    }

    @Test("the timing has a file that cannot be decoded, and no file that failed")
    func undecodable() async throws {
        let images = ImageLoader(files: loader, pressure: nil)
        let avif = Data([0, 0, 0, 14] + Array("ftypavif".utf8) + [0, 0]).base64EncodedString()
        let (image, file, _) = await images.timedImage(
            for: try ImageRequest(URL(typed: "data:image/avif;base64," + avif)))
        #expect(image.error?.code == "undecodable" && file?.bytes.count == 14)
        let failed = await images.timedImage(for: ImageRequest("data:,x"))
        #expect(failed.image.error?.code == "not-an-image" && failed.file == nil)
    }

    @Test("a load without a transfer does not wait for a slot")
    func local() async throws {
        let (_, timing) = await loader.timedFile(for: ImageRequest("data:,x"))
        #expect(timing.queued == .zero && timing.total > .zero)
    }
}
