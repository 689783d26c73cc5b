import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("ImageDownloader", .bounded)
struct ImageDownloaderTests {
    private let transport = HeldTransport()

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

    @Test("waiting for a slot does not count against a timeout")
    func waitingIsFree() async throws {
        let time = Shared(Duration.zero)
        let downloader = ImageDownloader(
            transport: transport,
            configuration: .with {
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

    @Test("bytes without room in memory go to the configured folder and come back unchanged, up to the limit")
    func spill() async throws {
        let image = SampleImages.png(bytes: 100_000)
        let origin = try ScriptedOrigin(.answering(image))
        let downloader = ImageDownloader(
            configuration: .with { ($0.memoryForBodies, $0.maximumBytes) = (50_000, image.count) })
        let downloaded = try await downloader.download(ImageRequest(origin.url()))
        #expect(downloaded.bytes.source is MappedFile)
        #expect(downloaded.bytes.array == image)
    }
}
