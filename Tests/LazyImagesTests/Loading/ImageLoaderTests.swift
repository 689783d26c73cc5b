import FoundationEssentials
import ImageCodecs
import Synchronization
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("ImageLoader", .bounded)
struct ImageLoaderTests {
    private let folder: TemporaryFolder
    private let request: ImageRequest
    private let decoder = CountingDecoder()
    private let fresh = HeldTransport { _ in .fresh(SampleImages.jpeg) }

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.jpg")
    }

    private func loader(_ transport: any Transport, disk: Bool = true) -> ImageLoader {
        var configuration = ImageDownloader.Configuration(decoders: ImageDecoders([decoder]))
        configuration.retry = .never
        return ImageLoader(
            disk: disk ? DiskCache(folder: folder.file("cache")) : nil, configuration: configuration,
            transport: transport, pressure: nil)
    }

    private func fitting(_ width: Int, _ height: Int) -> ImageRequest {
        var request = request
        request.targetSize = ImageSize(width: width, height: height)
        return request
    }

    @Test("memory returns the decoded image; another loader decodes the file on disk, without a request")
    func tiers() async throws {
        let first = loader(fresh)
        #expect(first.cachedImage(for: request) == nil)
        let image = try await first.image(for: request)
        #expect(image.source == .network && image.url == request.url && image.header.format == .jpeg)
        #expect(image.bitmap == (try ImageDecoders.standard.decode(SampleImages.jpeg)))
        let again = try await first.image(for: request)
        #expect(again.source == .memory && again.sharesPixels(with: image))
        #expect(first.cachedImage(for: request) === again)
        #expect(first.memory.counters.bytes == 4 * 5 * 4)
        await first.flush()
        #expect(try await loader(fresh).image(for: request).source == .disk)
        #expect(decoder.count == 2 && fresh.started.count == 1)
    }

    @Test("each size is an image of its own, decoded from one file", arguments: [true, false])
    func sizes(hasDisk: Bool) async throws {
        let loader = loader(fresh, disk: hasDisk)
        let small = try await loader.image(for: fitting(2, 3))
        #expect(small.bitmap.size == ImageSize(width: 2, height: 3))
        #expect(small.header.size == ImageSize(width: 4, height: 5), "the header is the file's")
        #expect(loader.cachedImage(for: request) == nil)
        let whole = try await loader.image(for: request)
        #expect(whole.source == (hasDisk ? .disk : .decoded))
        #expect(whole.bitmap.size == ImageSize(width: 4, height: 5))
        #expect(try await loader.image(for: fitting(2, 3)).sharesPixels(with: small))
        #expect(fresh.started.count == 1)
    }

    @Test("an image with the content mode fill is cropped, and kept beside the one that fits")
    func filling() async throws {
        let loader = loader(fresh)
        let size = ImageSize(width: 2, height: 2)
        let fitted = ImageRequest(request.url, targetSize: size)
        let filled = ImageRequest(request.url, targetSize: size, contentMode: .fill(.top))
        #expect(try await loader.image(for: fitted).bitmap.size == ImageSize(width: 2, height: 2))
        let image = try await loader.image(for: filled)
        #expect(image.bitmap.size == size && image.header.size == ImageSize(width: 4, height: 5))
        let sizing = ImageSizing(size, mode: .fill(.top))
        #expect(image.bitmap == (try ImageDecoders.standard.decode(SampleImages.jpeg, sizing: sizing)))
        #expect(try await loader.image(for: filled).sharesPixels(with: image))
        #expect(loader.cachedImage(for: fitted)?.sharesPixels(with: image) == false)
        #expect(fresh.started.count == 1)
    }

    @Test("callers of one size share a load, and callers of several sizes share the transfer")
    func sharing() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let whole = loader.callers(3, of: request)
        let small = loader.callers(2, of: fitting(2, 3))
        // Fresh: the load of the other size may begin only after the transfer has ended, and must not revalidate it.
        try await held.transfer().answer(SampleImages.jpeg, fields: ["Cache-Control": "max-age=3600"])
        for callers in [whole, small] {
            let images = try await callers.outcomes.map { try $0.get() }
            #expect(images.allSatisfy { $0 === images[0] })
        }
        #expect(decoder.count == 2 && held.started.count == 1)
    }

    @Test("a task keeps its given priority, also for a cached image")
    func taskPriority() async throws {
        let loader = loader(fresh)
        let first = loader.imageTask(with: request)
        first.priority = .veryHigh
        _ = try await first.value
        #expect(first.priority == .veryHigh)
        let low = loader.imageTask(with: ImageRequest(request.url, priority: .low))
        #expect(try await low.value.source == .memory && low.priority == .low)
    }

    @Test("a file that cannot be decoded is an error, and is removed from disk if it is corrupt")
    func damaged() async throws {
        var damaged = SampleImages.png
        // Another method of compression than zlib's: there is no row.
        damaged[41] ^= 0xFF
        for (bytes, stays) in [(damaged, false), (Array("GIF89a".utf8) + [4, 0, 5, 0, 0, 0, 0, 0x3B], true)] {
            let transport = HeldTransport { _ in .fresh(bytes) }
            let loader = loader(transport)
            for _ in 0..<2 {
                await #expect(throws: ImageLoadingError.self) { try await loader.image(for: request) }
                await loader.flush()
            }
            #expect(transport.started.count == (stays ? 1 : 2))
            #expect(loader.memory.counters.entries == 0)
            #expect(loader.disk?.contains(request.key) == stays)
            await loader.disk?.remove(request.key)
        }
    }

    @Test("a reload, and a request with a checksum, skip the images in memory")
    func passingMemory() async throws {
        let loader = loader(fresh)
        _ = try await loader.image(for: request)
        var reload = request
        reload.cachePolicy = .reload
        #expect(try await loader.image(for: reload).source == .network)
        let sum = ImageBytes(SampleImages.jpeg).checksum
        let checked = ImageRequest(request.url, options: .init(checksum: sum))
        #expect(try await loader.image(for: checked).source == .disk)
        let wrong = ImageRequest(
            request.url, options: .init(checksum: String(repeating: "0", count: 64)))
        await #expect(throws: ImageLoadingError.self) { try await loader.image(for: wrong) }
        #expect(try await loader.image(for: request).source == .memory, "the cached image stays")
    }

    @Test(
        "a stale image is returned by cachedImage, and is revalidated by a load")
    func stale() async throws {
        let transport = HeldTransport { request in
            request.fields["if-none-match"] == nil
                ? HeldTransport.Answer(
                    SampleImages.jpeg, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
                : HeldTransport.Answer([], status: 304, fields: ["ETag": "\"1\""])
        }
        let loader = loader(transport)
        _ = try await loader.image(for: request)
        #expect(loader.cachedImage(for: request) != nil)
        #expect(try await loader.image(for: request).source == .revalidated)
        #expect(transport.requests.count == 2)
    }
}

/// Decodes JPEG and PNG, and counts the files.
final class CountingDecoder: ImageDecoding {
    private let decoded = Atomic(0)
    let formats: Set<ImageFormat> = [.jpeg, .png]

    var count: Int { decoded.load(ordering: .relaxed) }

    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        decoded.add(1, ordering: .relaxed)
        return try ImageDecoders.standard.decode(bytes, fitting: target, limits: limits)
    }
}
