import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Loading with processors", .bounded)
struct ProcessorLoadingTests {
    private let folder: TemporaryFolder
    private let transport = HeldTransport { _ in .fresh(SampleImages.jpeg) }
    private let decoder = CountingDecoder()
    private let source: Bitmap

    init() throws {
        folder = try TemporaryFolder()
        source = try ImageDecoders.standard.decode(SampleImages.jpeg)
    }

    private func loader() -> ImageLoader {
        ImageLoader(
            disk: DiskCache(folder: folder.file("cache")),
            configuration: .init(decoders: ImageDecoders([decoder])),
            transport: transport, pressure: nil)
    }

    private func request(_ processors: [any ImageProcessing], size: ImageSize? = nil) throws -> ImageRequest {
        ImageRequest("http://localhost/a.jpg", targetSize: size, processors: processors)
    }

    /// A step that counts how often it runs.
    private func counted(_ tally: Tally) -> ImageProcessor {
        ImageProcessor("counted") { image in
            tally.add()
            return image
        }
    }

    @Test("the result is the processed image, and memory keeps it beside the image as it is")
    func result() async throws {
        let loader = loader()
        let turned = try await loader.image(for: request([.rotate(90), .flip(.vertical)]))
        #expect(turned.bitmap == (try source.processed(by: [.rotate(90), .flip(.vertical)])))
        #expect(turned.header.size == source.size, "the header is the file's")
        #expect(try await loader.image(for: request([])).bitmap == source)
        let again = try await loader.image(for: request([.rotate(90), .flip(.vertical)]))
        #expect(again.source == .memory && again.bitmap == turned.bitmap)
        #expect(try await loader.image(for: request([.flip(.vertical), .rotate(90)])).source == .disk)
        #expect(transport.started.count == 1)
    }

    @Test("equal pipelines share a load and a result: a first step that resizes is the target size")
    func equal() async throws {
        let size = ImageSize(width: 2, height: 2)
        let loader = loader()
        let tally = Tally()
        let first = try request([counted(tally)], size: size)
        let second = try request([.resize(size: size), counted(tally)])
        let images = try await withThrowingTaskGroup { group in
            for request in [first, second, first, second] {
                group.addTask { try await loader.image(for: request) }
            }
            return try await group.reduce(into: []) { $0.append($1.bitmap) }
        }
        #expect(Set(images).count == 1 && images[0].size == source.size.fitted(into: size))
        #expect(tally.count == 1 && decoder.count == 1)
        #expect(first == (try request([counted(tally)], size: size)))
        #expect(try first != request([], size: size) && first != request([counted(tally)]))
        #expect(LoadKey(first) == LoadKey(second))
    }

    @Test("the names of two steps are never the name of one")
    func names() throws {
        let loader = loader()
        let one = try request([ImageProcessor("a|8:custom b") { $0 }])
        let two = try request([ImageProcessor("a") { $0 }, ImageProcessor("b") { $0 }])
        #expect(one != two && LoadKey(one) != LoadKey(two))
        #expect(loader.cachedImage(for: one) == nil)
    }

    @Test("an impossible parameter fails the load before a request is sent")
    func parameters() async throws {
        let error = await #expect(throws: ImageLoadingError.self) {
            try await loader().image(for: request([.gaussianBlur(radius: .nan)]))
        }
        #expect(error?.code == "processing-failed" && error?.isRetryable == false)
        #expect(error.map { "\($0)" }?.contains("blur nan: the radius must be 0 to 10,000") == true)
        #expect(transport.started.count == 0)
    }

    @Test("a step that fails fails the load; the file stays, and memory has no image")
    func failing() async throws {
        struct Fault: Error {}
        let loader = loader()
        let broken = try request([ImageProcessor("broken") { _ in throw Fault() }])
        await #expect(
            throws: ImageLoadingError.processingFailed(
                url: "http://localhost/a.jpg", reason: .failed(processor: "custom broken", reason: "Fault()"))
        ) { try await loader.image(for: broken) }
        #expect(loader.cachedImage(for: broken) == nil)
        #expect(try await loader.image(for: request([])).source == .disk)
    }

    @Test("remove takes the results of all pipelines out of memory")
    func removal() async throws {
        let loader = loader()
        _ = try await loader.image(for: request([.circle()]))
        await loader.remove(try request([]))
        #expect(loader.cachedImage(for: try request([.circle()])) == nil)
        _ = try await loader.image(for: request([.circle()]))
        #expect(transport.started.count == 2)
    }

    @Test(
        "a stored result is decoded alone, in another loader too",
        arguments: [
            ImageRequest.ResultFormat.png, .jpeg(quality: 100),
        ])
    func storing(format: ImageRequest.ResultFormat) async throws {
        let tally = Tally()
        var request = try request([.flip(.horizontal), counted(tally)])
        request.storesResult = format
        let first = loader()
        let made = try await first.image(for: request)
        await first.flush()
        let found = try await loader().image(for: request)
        #expect(tally.count == 1 && found.source == .disk && found.header == made.header)
        for (one, other) in zip(made.bitmap.pixels, found.bitmap.pixels) {
            #expect(abs(Int(one) - Int(other)) <= (format == .png ? 0 : 12))
        }
        request.storesResult = nil
        _ = try await loader().image(for: request)
        #expect(tally.count == 2, "a request that does not ask for it does not use it")
    }

    @Test("a changed file never gives the result of the old one")
    func changed() async throws {
        let first = loader()
        var request = try request([.circle()])
        request.storesResult = .jpeg(quality: 90)
        let circle = try await first.image(for: request)
        #expect(!circle.bitmap.isOpaque)
        _ = try await first.store(SampleImages.png, for: request)
        await first.flush()
        let changed = try await loader().image(for: request)
        #expect(changed.bitmap.size != circle.bitmap.size)
        await first.remove(request)
        #expect(try await loader().image(for: request).bitmap == circle.bitmap, "a PNG: it has alpha")
    }
}
