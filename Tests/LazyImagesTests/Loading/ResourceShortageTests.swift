import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Shortage of threads and descriptors", .bounded)
struct ResourceShortageTests {
    private let system = LimitedThreads(0)

    @Test("a transport without a thread throws an error, and works once there is one")
    func transport() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        let transport = CurlTransport(configuration: .init(), startThread: system.start)
        let receiver = RecordingReceiver()
        let request = TransportRequest(url: origin.url())
        let error = await transport.error(for: request, into: receiver)
        #expect(error?.code == "resources-short" && error?.isRetryable == true)
        #expect(error?.description.contains("gives no thread") == true)
        system.give(1)
        #expect(try await transport.perform(request, into: receiver).status == 200)
        #expect(receiver.bytes == [1, 2, 3])
    }

    @Test("an inbox without resources refuses its orders, later ones too")
    func refusedInbox() async throws {
        let inbox = try CurlInbox()
        inbox.refuse(ResourceShortage(missing: .memory, code: ENOMEM))
        #expect(inbox.mailbox.isClosed)
        let request = TransportRequest(url: try URL(typed: "http://localhost/"))
        let outcome = await CurlJob(number: 1, request: request, inbox: inbox)
            .outcome(into: RecordingReceiver())
        #expect(
            outcome
                == .failure(
                    .resourcesShort(
                        url: "http://localhost/", reason: "the system gives no memory: Cannot allocate memory"
                    )))
    }

    @Test("a disk tier without threads misses, loses and counts stores, and works once there are threads")
    func diskTier() async throws {
        let folder = try TemporaryFolder()
        let stored = DiskCache(folder: folder.file("cache"))
        await stored.put([1], for: key("a"))
        let cache = DiskCache(
            folder: folder.file("cache"), limit: 1 << 20, calls: FileCalls(), startThread: system.start)
        #expect(await cache.entry(for: key("a")) == nil)
        await cache.put([2], for: key("b"))
        #expect(cache.body(key("b")) == nil)
        #expect(cache.counters.faults > 0)
        #expect(cache.counters.lastFault?.contains("cannot start a thread for the cache") == true)
        system.give(10)
        #expect(await cache.entry(for: key("a"))?.body.array == [1])
        await cache.put([2], for: key("b"))
        #expect(DiskCache(folder: folder.file("cache")).body(key("b")) == [2])
    }

    @Test("a load that failed for lack of resources is retried, and does not count against the host")
    func retried() async throws {
        let transport = HeldTransport()
        let retry = RetryPolicy(firstPause: .zero, failuresOfHost: 1)
        let downloader = ImageDownloader(transport: transport, configuration: .with { $0.retry = retry })
        let caller = try await downloader.callers(1, of: ImageRequest("http://localhost/a.png"))
        try await transport.transfer(0).fail(.resourcesShort(url: "", reason: ""))
        try await transport.transfer(1).answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
    }
}
