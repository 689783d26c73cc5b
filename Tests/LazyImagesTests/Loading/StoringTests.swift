import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Storing the caller's bytes", .bounded)
struct StoringTests {
    private let folder: TemporaryFolder
    private let transport = HeldTransport()
    private let request: ImageRequest
    private let now = Shared(1_000_000_000)

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.png")
    }

    private func loader() -> ImageLoader {
        ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), transport: transport, pressure: nil,
            clock: WallClock { [now] in now.value })
    }

    @Test("later loads find them at every size, also in another process, and they stay fresh")
    func found() async throws {
        let first = loader()
        let file = try await first.store(Data(SampleImages.jpeg), for: request)
        #expect(file.header?.format == .jpeg && file.source == .local)
        #expect(try await first.image(for: request).source == .disk)
        await first.flush()
        now.change { $0 += 20 * 365 * 86_400 }
        let small = ImageRequest(request.url, targetSize: ImageSize(width: 2, height: 2))
        let image = try await loader().image(for: small)
        #expect(image.source == .disk && image.bitmap.size.width <= 2)
        #expect(transport.started.count == 0)
    }

    @Test("they replace the stored file and its decoded images")
    func replaced() async throws {
        let loader = loader()
        try await loader.store(SampleImages.png, for: request)
        #expect(try await loader.image(for: request).header.format == .png)
        try await loader.store(SampleImages.jpeg, for: request)
        #expect(try await loader.image(for: request).header.format == .jpeg)
    }

    @Test("a loader without a disk tier keeps them in memory")
    func ephemeral() async throws {
        let loader = ImageLoader.ephemeral(transport: transport, pressure: nil)
        try await loader.store(SampleImages.png, for: request)
        #expect(try await loader.image(for: request).source == .decoded)
        let files = FileLoader.ephemeral(transport: transport)
        try await files.store(SampleImages.png, for: request)
        #expect(try await files.file(for: request).source == .memory)
    }

    @Test(
        "refused bytes are an error, and the stored file stays",
        arguments: [
            ([], "empty"), (Array("text".utf8), "not-an-image"),
            (Array(SampleImages.png.prefix(60)), "truncated"), (SampleImages.png(bytes: 201), "too-large"),
            (SampleImages.jpeg, "checksum-mismatch"),
        ] as [([UInt8], String)])
    func refused(bytes: [UInt8], code: String) async throws {
        let loader = FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: .with { $0.maximumBytes = 200 },
            transport: transport)
        let checked = ImageRequest(
            request.url, options: .init(checksum: ImageBytes(SampleImages.png).checksum))
        try await loader.store(SampleImages.png, for: checked)
        await #expect {
            try await loader.store(bytes, for: checked)
        } throws: { ($0 as? ImageLoadingError)?.code == code }
        #expect(try await loader.file(for: checked).bytes.array == SampleImages.png)
    }
}
