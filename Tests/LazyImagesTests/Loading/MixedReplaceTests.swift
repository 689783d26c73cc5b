import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

/// A camera's stream, in which each picture replaces the one before.
@Suite("Pictures that replace each other", .bounded)
struct MixedReplaceTests {
    private let folder: TemporaryFolder
    private let gates = [Gate(), Gate(), Gate()]

    init() throws { folder = try TemporaryFolder() }

    private func loader() -> ImageLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.timeouts = .patient
        configuration.maximumBytes = 4096
        return ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration, pressure: nil)
    }

    private func part(_ picture: [UInt8], type: String) -> [UInt8] {
        Array("--cut\r\nContent-Type: \(type)\r\nContent-Length: \(picture.count)\r\n\r\n".utf8) + picture
            + Array("\r\n".utf8)
    }

    /// Sends each part when its gate opens.
    private func origin(_ parts: [[UInt8]], end: String) throws -> ScriptedOrigin {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=cut\r\n"
            + "Cache-Control: max-age=3600\r\nConnection: close\r\n\r\n"
        return try ScriptedOrigin(
            [.readHead, .send(head)] + zip(gates, parts).flatMap { [.wait($0), .sendBytes($1)] } + [
                .send(end)
            ])
    }

    @Test("each part is a preview, the last part is the result, and no tier stores it")
    func parts() async throws {
        let origin = try origin(
            [
                part(SampleImages.png, type: "image/png"), part(SampleImages.jpeg, type: "image/jpeg"),
                part(SampleImages.png, type: "image/png"),
            ], end: "--cut\r\nContent-Type: image/png\r\n\r\nhalf of the next")
        let loader = loader()
        let request = ImageRequest(origin.url("/camera"))
        let task = loader.imageTask(with: request)
        var previews = task.previews.makeAsyncIterator()
        let pictures = try [SampleImages.png, SampleImages.jpeg].map { try ImageDecoders.standard.decode($0) }
        for number in 0..<2 {
            gates[number].open()
            let preview = try #require(await previews.next())
            #expect(preview.number == number + 1 && preview.bitmap.size == pictures[number].size)
        }
        gates[2].open()
        let image = try await task.value
        #expect(image.bitmap == pictures[0] && image.header.format == .png && image.source == .network)
        await loader.flush()
        #expect(loader.cachedImage(for: request) == nil)
        #expect(try await loader.image(for: request).source == .network)
        #expect(origin.requests.count == 2)
    }

    @Test(
        "a stream without a whole part is truncated; a part over the limit is too large, and many small parts are not"
    )
    func limits() async throws {
        for gate in gates { gate.open() }
        let half = try origin([Array("--cut\r\nContent-Type: image/png\r\n\r\nhalf".utf8)], end: "")
        await #expect { _ = try await loader().image(for: ImageRequest(half.url())) } throws: { error in
            (error as? ImageLoadingError)?.code == "truncated"
        }
        let large = try origin([part([UInt8](repeating: 1, count: 5000), type: "image/png")], end: "--cut--")
        await #expect { _ = try await loader().image(for: ImageRequest(large.url())) } throws: {
            error in
            (error as? ImageLoadingError)?.code == "too-large"
        }
        let many = (0..<200).flatMap { _ in part(SampleImages.png, type: "image/png") }
        let passing = try origin([many], end: "--cut--")
        #expect(try await loader().image(for: ImageRequest(passing.url())).source == .network)
    }
}
