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
        "a stored entry that is not a whole image is a miss, and is replaced",
        arguments: [
            Array("no image".utf8), Array(SampleImages.png.prefix(40)), Array(SampleImages.jpeg.dropLast(9)),
            [0],
        ])
    func undecodable(bytes: [UInt8]) async throws {
        let request = try ImageRequest(URL(typed: address))
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
        await disk.put(bytes, metadata: answer.metadata, for: request.key)
        return disk
    }

    @Test("a stored entry without its response is a miss, and is replaced")
    func withoutResponse() async throws {
        let request = try ImageRequest(URL(typed: address))
        let disk = DiskCache(folder: folder.file("cache"))
        await disk.put(SampleImages.png, for: request.key)
        let loader = loader(HeldTransport { _ in HeldTransport.Answer(SampleImages.png) })
        #expect(try await loader.file(for: request).source == .network)
    }

    @Test("offline, a stored entry that is not an image is not returned")
    func undecodableOffline() async throws {
        var request = try ImageRequest(URL(typed: address))
        request.cachePolicy = .cacheOnly
        _ = try await disk(with: Array("text".utf8), for: request)
        #expect(await loader(HeldTransport()).error(for: request) == .notCached(url: address))
    }

    @Test(
        "other content is stored where any content is accepted, and is not an image for a loader that wants one"
    )
    func anyContent() async throws {
        let text = Array("text".utf8)
        let disk = DiskCache(folder: folder.file("cache"))
        let transport = HeldTransport { _ in .fresh(text) }
        let loader = FileLoader(
            disk: disk, configuration: .with { $0.acceptsAnyContent = true }, transport: transport)
        let request = try ImageRequest(URL(typed: address))
        let image = try await loader.file(for: request)
        #expect(image.bytes.array == text && image.header == nil)
        loader.memory?.removeAll()
        #expect(try await loader.file(for: request).source == .disk)
        await loader.flush()
        #expect(await self.loader(transport).error(for: request)?.code == "not-an-image")
    }

    private func loader(_ transport: any Transport) -> FileLoader {
        FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: .once, transport: transport)
    }
}
