import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Nothing wrong is stored, and wrong entries are replaced", .bounded)
struct CacheIntegrityTests {
    private let folder: TemporaryFolder
    private let address = "http://localhost/a.png"

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "an answer that is not a whole image is an error, and leaves both tiers empty",
        arguments: [
            ("not-an-image", HeldTransport.Answer(Array("<html>login</html>".utf8))),
            ("truncated", HeldTransport.Answer(Array(SampleImages.jpeg.dropLast(20)))),
            ("truncated", HeldTransport.Answer(Array(SampleImages.png.dropLast(2)))),
            ("truncated", HeldTransport.Answer(SampleImages.png, fields: ["Content-Length": "71"])),
            ("empty", HeldTransport.Answer([])),
            ("encoded-content", HeldTransport.Answer(SampleImages.png, fields: ["Content-Encoding": "gzip"])),
            ("too-large", HeldTransport.Answer(SampleImages.png(bytes: 2000))),
            ("too-large", HeldTransport.Answer(SampleImages.png, fields: ["Content-Length": "2000"])),
            ("http-status", HeldTransport.Answer(SampleImages.png, status: 206)),
            ("http-status", HeldTransport.Answer(SampleImages.png, status: 403)),
            ("http-status", HeldTransport.Answer([], status: 304)),
            ("redirect-loop", HeldTransport.Answer([], status: 302, fields: ["Location": "/b"])),
            ("redirect-refused", HeldTransport.Answer([], status: 302, fields: ["Location": "file:///a"])),
            ("checksum-mismatch", HeldTransport.Answer(SampleImages.jpeg)),
        ])
    func badAnswers(code: String, answer: HeldTransport.Answer) async throws {
        let transport = HeldTransport { _ in answer }
        let loader = loader(transport)
        let request = try ImageRequest(
            .text(address), options: .init(checksum: ImageBytes(SampleImages.png).checksum))
        #expect(await loader.error(for: request)?.code == code)
        await loader.flush()
        #expect(loader.memory?.counters.stores == 0)
        #expect(loader.disk?.counters.stores == 0)
        #expect(await DiskCache(folder: folder.file("cache")).verify().entries == 0)
        // The next request asks the network again.
        let started = transport.started.count
        #expect(await loader.error(for: request)?.code == code)
        #expect(transport.started.count == started * 2)
    }

    @Test("a truncated image is never stored: the connection breaks in the body, over real sockets")
    func halfImage() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 159\r\n\r\n"),
            .sendBytes(Array(SampleImages.jpeg.prefix(100))),
        ])
        let loader = loader(CurlTransport())
        #expect(await loader.error(for: ImageRequest(.url(origin.url())))?.code == "truncated")
        #expect(loader.disk?.counters.stores == 0)
    }

    @Test(
        "a stored entry that is not a whole image is a miss, and is replaced",
        arguments: [
            Array("no image".utf8), Array(SampleImages.png.prefix(40)), Array(SampleImages.jpeg.dropLast(9)),
            [0],
        ])
    func undecodable(bytes: [UInt8]) async throws {
        let request = try ImageRequest(.text(address))
        let disk = try await disk(with: bytes, for: request)
        let loader = loader(HeldTransport { _ in HeldTransport.Answer(SampleImages.png) })
        #expect(try await loader.file(for: request).source == .network)
        await loader.flush()
        #expect(await disk.entry(for: request.key)?.body.array == SampleImages.png)
    }

    /// A disk tier that has other bytes under the answer to a request.
    private func disk(with bytes: [UInt8], for request: ImageRequest) async throws -> DiskCache {
        let earlier = loader(HeldTransport { _ in HeldTransport.Answer(SampleImages.png) })
        var request = request
        request.cachePolicy = .useProtocol
        _ = try await earlier.file(for: request)
        await earlier.flush()
        let disk = DiskCache(folder: folder.file("cache"))
        let answer: DiskCache.Entry = try #require(await disk.entry(for: request.key))
        await disk.store(bytes, metadata: answer.metadata, for: request.key)
        await disk.flush()
        return disk
    }

    @Test("a stored entry without its response is a miss, and is replaced")
    func withoutResponse() async throws {
        let request = try ImageRequest(.text(address))
        let disk = DiskCache(folder: folder.file("cache"))
        await disk.store(SampleImages.png, for: request.key)
        await disk.flush()
        let loader = loader(HeldTransport { _ in HeldTransport.Answer(SampleImages.png) })
        #expect(try await loader.file(for: request).source == .network)
    }

    @Test("offline, a stored entry that is not an image is not returned")
    func undecodableOffline() async throws {
        var request = try ImageRequest(.text(address))
        request.cachePolicy = .cacheOnly
        _ = try await disk(with: Array(SampleImages.jpeg.dropLast(9)), for: request)
        #expect(await loader(HeldTransport()).error(for: request) == .notCached(url: address))
    }

    @Test(
        "other content is stored where any content is accepted, and is not an image for a loader that wants one"
    )
    func anyContent() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.acceptsAnyContent = true
        let text = Array("text".utf8)
        let disk = DiskCache(folder: folder.file("cache"))
        let transport = HeldTransport { _ in .fresh(text) }
        let loader = FileLoader(disk: disk, configuration: configuration, transport: transport)
        let request = try ImageRequest(.text(address))
        let image = try await loader.file(for: request)
        #expect(image.bytes.array == text && image.header == nil)
        loader.memory?.removeAll()
        #expect(try await loader.file(for: request).source == .disk)
        await loader.flush()
        #expect(await self.loader(transport).error(for: request)?.code == "not-an-image")
    }

    @Test("after the disk folder is deleted under a running loader, the image is a miss and is stored again")
    func wipedFolder() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let request = try ImageRequest(.text(address))
        _ = try await loader.file(for: request)
        await loader.flush()
        try FileManager.default.removeItem(atPath: folder.file("cache"))
        loader.memory?.removeAll()
        #expect(try await loader.file(for: request).source == .network)
        await loader.flush()
        loader.memory?.removeAll()
        #expect(try await loader.file(for: request).source == .disk)
        #expect(transport.started.count == 2)
    }

    @Test("an unwritable disk loses the entry, not the image")
    func unwritableDisk() async throws {
        try Data("a file where the folder should be".utf8).write(to: URL(filePath: folder.file("cache")))
        let loader = loader(HeldTransport { _ in HeldTransport.Answer(SampleImages.png) })
        #expect(try await loader.file(for: try ImageRequest(.text(address))).source == .network)
        await loader.flush()
        #expect(loader.disk?.counters.stores == 0)
        #expect(loader.disk?.counters.lastFault != nil)
    }

    private func loader(_ transport: any Transport) -> FileLoader {
        var configuration = ImageDownloader.Configuration()
        configuration.maximumBytes = 1000
        configuration.retry = .never
        return FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration, transport: transport)
    }
}
