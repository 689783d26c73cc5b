import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Files from a request's closure", .bounded)
struct FileLoaderDataTests {
    private let folder: TemporaryFolder
    private let calls = Tally()
    private let transport = HeldTransport()

    private struct Failure: Error, CustomStringConvertible {
        let description = "the library is locked"
    }

    init() throws { folder = try TemporaryFolder() }

    private func loader(maximumBytes: Int = 1 << 20, retry: RetryPolicy = .never) -> FileLoader {
        var configuration = ImageDownloader.Configuration()
        configuration.maximumBytes = maximumBytes
        configuration.retry = retry
        return FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration, transport: transport)
    }

    /// A request that returns `bytes` and counts its calls.
    private func request(
        id: String = "asset-7", _ bytes: [UInt8] = SampleImages.png,
        policy: ImageRequest.CachePolicy = .useProtocol, checksum: String? = nil
    ) -> ImageRequest {
        ImageRequest(id: id, cachePolicy: policy, options: .init(checksum: checksum)) { [calls] in
            calls.add()
            return bytes
        }
    }

    @Test(
        "the closure is called once; memory and disk answer later, in another process too; a reload calls it again"
    )
    func tiers() async throws {
        let first = loader()
        let file = try await first.file(for: request())
        #expect(
            file.source == .local && file.bytes.array == SampleImages.png && file.header?.format == .png)
        #expect(try await first.file(for: request()).source == .memory)
        await first.flush()
        let other = try await loader().file(for: request())
        #expect(other.source == .disk && other.bytes.array == SampleImages.png && calls.count == 1)
        #expect(try await first.file(for: request(policy: .reload)).source == .local)
        #expect(calls.count == 2 && transport.started.count == 0)
    }

    @Test(
        "an id with the characters of a URL or a path is only an id, and its URL has no host",
        arguments: ["//[", "//:x", "///x", "//films/x", "/etc/passwd", "asset-7", ""])
    func oddID(id: String) async throws {
        let url = request(id: id).url
        #expect(url.host() == nil)
        #expect(URLComponents(url: url, resolvingAgainstBaseURL: true)?.host == nil, "\(url)")
        let file = try await loader().file(for: request(id: id))
        #expect(file.source == .local && file.bytes.array == SampleImages.png)
    }

    @Test("decoded images of it are kept in memory, at every size")
    func images() async throws {
        let loader = ImageLoader(files: loader(), pressure: nil)
        let small = ImageRequest(
            id: "asset-7", targetSize: ImageSize(width: 1, height: 1), contentMode: .fill
        ) { [calls] in
            calls.add()
            return SampleImages.png
        }
        async let smallImage = loader.image(for: small)
        async let image = loader.image(for: request())
        #expect(try await smallImage.bitmap.size == ImageSize(width: 1, height: 1))
        #expect(try await image.bitmap.size == ImageSize(width: 2, height: 3))
        for request in [small, request()] {
            #expect(try await loader.image(for: request).source == .memory)
        }
        #expect(calls.count == 1)
    }

    @Test("callers share one call, and the last cancelled caller cancels it")
    func sharing() async throws {
        let (opened, cancelled) = (Tally(), Tally())
        let request = ImageRequest(id: "asset-7") { [calls] in
            calls.add()
            do {
                try await opened.wait(for: 1)
            } catch {
                cancelled.add()
                throw error
            }
            return SampleImages.png
        }
        let loader = loader()
        let leaving = try await loader.callers(2, of: request)
        try await calls.wait(for: 1)
        for task in leaving.tasks { task.cancel() }
        for outcome in await leaving.outcomes { #expect(outcome.error == .cancelled(url: "id:asset-7")) }
        try await cancelled.wait(for: 1)
        let staying = try await loader.callers(3, of: request)
        try await calls.wait(for: 2)
        opened.add()
        for outcome in await staying.outcomes { #expect(try outcome.get().source == .local) }
        #expect(calls.count == 2)
    }

    @Test("an error that the closure throws when cancelled is a cancellation")
    func cancelled() async throws {
        let opened = Tally()
        let request = ImageRequest(id: "asset-7") { [calls] in
            calls.add()
            try await opened.wait(for: 1)
            return [UInt8]()
        }
        let downloader = ImageDownloader()
        let events = downloader.activity.events
        let load = Task { try await downloader.download(request) }
        try await calls.wait(for: 1)
        load.cancel()
        await #expect(throws: ImageLoadingError.cancelled(url: "id:asset-7")) { _ = try await load.value }
        // The caller has left. The attempt tells how the closure's error was read.
        for await event in events {
            guard case .failed(let error, _) = event.kind else { continue }
            #expect(error == .cancelled(url: "id:asset-7"))
            break
        }
    }

    @Test("an error that the closure throws keeps its description, and is not stored")
    func failure() async throws {
        let fails = Shared(true)
        let request = ImageRequest(id: "asset 7") {
            if fails.value { throw Failure() }
            return Data(SampleImages.png)
        }
        let loader = loader()
        let failed = await loader.error(for: request)
        #expect(
            failed
                == .dataFailed(
                    url: "id:asset%207", reason: "the request's closure failed: the library is locked"))
        #expect(failed?.code == "data-failed" && failed?.isRetryable == false)
        #expect(
            failed.map { "\($0)" } == "id:asset%207: the request's closure failed: the library is locked"
        )
        fails.change { $0 = false }
        #expect(try await loader.file(for: request).source == .local)
    }

    @Test("an error of the library passes unchanged, except the cancellation of another load")
    func ownErrors() async {
        let lost = ImageLoadingError.connectionLost(url: "smb://nas/a", received: 3, reason: "gone")
        #expect(
            await loader().error(for: ImageRequest(id: "a") { () -> [UInt8] in throw lost }) == lost)
        let others: [any Error] = [ImageLoadingError.cancelled(url: "b"), CancellationError()]
        for other in others {
            #expect(
                await loader().error(for: ImageRequest(id: "a") { () -> [UInt8] in throw other })?.code
                    == "data-failed")
        }
    }

    @Test("a transient error is retried, and does not count against any host")
    func retries() async throws {
        let retry = RetryPolicy(attempts: 3, firstPause: .zero, failuresOfHost: 1)
        let loader = loader(retry: retry)
        let failing = ImageRequest(id: "a") { [calls] () -> [UInt8] in
            calls.add()
            throw ImageLoadingError.connectionFailed(url: "smb://nas/a", reason: "asleep")
        }
        #expect(await loader.error(for: failing)?.code == "connection-failed")
        #expect(calls.count == 3)
        #expect(try await loader.file(for: request()).source == .local)
    }

    @Test("closures wait for slots as transfers do")
    func turns() async throws {
        let loader = FileLoader.ephemeral(
            configuration: .with { $0.transfersPerHost = 1 }, transport: transport)
        let opened = Tally()
        let holding = ImageRequest(id: "first") { [calls] in
            calls.add()
            try await opened.wait(for: 1)
            return SampleImages.png
        }
        let first = try await loader.callers(1, of: holding)
        try await calls.wait(for: 1)
        let second = try await loader.callers(1, of: request(id: "second"))
        #expect(calls.count == 1)
        opened.add()
        for callers in [first, second] { _ = try await callers.outcomes[0].get() }
        #expect(calls.count == 2 && transport.started.count == 0)
    }

    @Test(
        "the size limit and the checksum hold for its bytes too",
        arguments: [
            ([], nil, "empty"), (Array("text".utf8), nil, "not-an-image"),
            (Array(SampleImages.png.prefix(20)), nil, "truncated"),
            (SampleImages.png(bytes: 201), nil, "too-large"), (SampleImages.png, "00", "checksum-mismatch"),
        ] as [([UInt8], String?, String)])
    func checked(bytes: [UInt8], checksum: String?, code: String) async throws {
        let loader = loader(maximumBytes: 200)
        #expect(await loader.error(for: request(bytes, checksum: checksum))?.code == code)
        await loader.flush()
        #expect(await DiskCache(folder: folder.file("cache")).verify().entries == 0)
        #expect(try await loader.file(for: request(SampleImages.png(bytes: 200))).source == .local)
    }

    @Test("cacheOnly asks the tiers and never the closure")
    func cacheOnly() async throws {
        let loader = loader()
        #expect(await loader.error(for: request(policy: .cacheOnly)) == .notCached(url: "id:asset-7"))
        #expect(calls.count == 0)
        _ = try await loader.file(for: request())
        loader.memory?.removeAll()
        #expect(try await loader.file(for: request(policy: .cacheOnly)).source == .disk)
    }
}
