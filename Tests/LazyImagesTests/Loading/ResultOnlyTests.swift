import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

/// `storesResult: .only`: a result on disk without its original.
@Suite("Results without their originals", .bounded)
struct ResultOnlyTests {
    private let folder: TemporaryFolder
    private let transport: HeldTransport
    private let file: [UInt8]
    private let picture: Bitmap

    init() throws {
        folder = try TemporaryFolder()
        transport = HeldTransport()
        file = try Samples.jpeg(120, 180)
        picture = try ImageDecoders.standard.decode(file)
    }

    private func loader(memory: MemoryCache<LoadedFile>? = nil) -> ImageLoader {
        let files = FileLoader(
            memory: memory, disk: DiskCache(folder: folder.file("cache")), transport: transport)
        return ImageLoader(files: files, pressure: nil)
    }

    /// A request without a resizing step: its result has exactly the pixels of the processed picture.
    private func request(
        _ processors: [any ImageProcessing] = [.flip(.horizontal)],
        storing format: ImageRequest.ResultFormat? = .only(.png)
    ) -> ImageRequest {
        var request = ImageRequest("http://localhost/a.jpg", processors: processors)
        request.storesResult = format
        return request
    }

    private static let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]
    private static let stale: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]

    /// Loads an image that one transfer brings.
    private func load(
        _ request: ImageRequest, _ fields: HeaderFields = fresh, transfer: Int = 0
    ) async throws -> LoadedImage {
        let loader = loader()
        let task = loader.imageTask(with: request)
        try await transport.transfer(transfer).answer(file, fields: fields)
        let result = await task.result
        // Whatever became of the load: another loader finds what it has stored only then.
        await loader.flush()
        return try result.get()
    }

    /// Returns when a load has joined its transfer.
    private func join(_ task: ImageTask) async {
        for await event in task.events { if case .started = event { return } }
    }

    private var original: ImageRequest {
        ImageRequest("http://localhost/a.jpg", cachePolicy: .cacheOnly)
    }

    @Test("another loader finds the result without its original, by each cache policy")
    func found() async throws {
        let made = try await load(request())
        #expect(made.source == .network && made.header.size == picture.size)
        for policy in [ImageRequest.CachePolicy.useProtocol, .returnCacheElseLoad, .cacheOnly] {
            var again = request()
            again.cachePolicy = policy
            let found = try await loader().image(for: again)
            #expect(found.source == .disk && found.bitmap == made.bitmap && found.damage == nil)
        }
        #expect(await loader().contains(request()))
        #expect(await loader().contains(original) == false)
        await #expect(throws: ImageLoadingError.notCached(url: "http://localhost/a.jpg")) {
            try await loader().image(for: original)
        }
        await #expect(throws: ImageLoadingError.notCached(url: "http://localhost/a.jpg")) {
            try await loader().files.file(for: original)
        }
        #expect(transport.started.count == 1)
    }

    @Test("the disk has fewer bytes than the original has")
    func size() async throws {
        var small = request([.resize(size: ImageSize(width: 12, height: 18))])
        _ = try await load(small)
        #expect(DiskCache(folder: folder.file("cache")).counters.bytes < file.count)
        small.storesResult = .png
        #expect(try await loader().image(for: small).source == .disk, "the same result")
    }

    @Test("a size that is not stored needs a transfer, and then has its result too")
    func anotherSize() async throws {
        _ = try await load(request())
        let turned = try await load(request([.rotate(90)]), transfer: 1)
        #expect(turned.bitmap == (try picture.processed(by: [.rotate(90)])))
        #expect(try await loader().image(for: request([.rotate(90)])).bitmap == turned.bitmap)
        #expect(try await loader().image(for: request()).source == .disk)
        #expect(transport.started.count == 2)
    }

    @Test("a stale result is revalidated; each size that waits gets its own pixels")
    func revalidated() async throws {
        _ = try await load(request(), Self.stale)
        _ = try await load(request([.rotate(90)]), Self.stale, transfer: 1)
        let loader = loader()
        let tasks = [loader.imageTask(with: request()), loader.imageTask(with: request([.rotate(90)]))]
        let transfer = try await transport.transfer(2)
        #expect(transfer.request.fields["if-none-match"] == "\"1\"")
        for task in tasks { await join(task) }
        transfer.answer([], status: 304, fields: Self.fresh)
        let images = [try await tasks[0].value, try await tasks[1].value]
        #expect(images.map(\.source) == [.revalidated, .revalidated])
        #expect(images[0].bitmap == (try picture.processed(by: [.flip(.horizontal)])))
        #expect(images[1].bitmap == (try picture.processed(by: [.rotate(90)])))
        await loader.flush()
        #expect(try await self.loader().image(for: request()).source == .disk, "fresh again")
        #expect(transport.started.count == 3)
    }

    @Test("a changed file gives a new result")
    func changed() async throws {
        _ = try await load(request(), Self.stale)
        let loader = loader()
        let task = loader.imageTask(with: request())
        try await transport.transfer(1).answer(SampleImages.png, fields: Self.fresh)
        let changed = try await task.value
        #expect(changed.header.format == .png)
        await loader.flush()
        #expect(try await self.loader().image(for: request()).bitmap == changed.bitmap)
        #expect(await self.loader().contains(original) == false)
    }

    @Test("a stale result is shown while the server fails, or while a background revalidation runs")
    func staleAnswers() async throws {
        _ = try await load(
            request(),
            ["Cache-Control": "max-age=0, stale-while-revalidate=600, stale-if-error=600", "ETag": "\"1\""])
        let loader = loader()
        let shown = try await loader.image(for: request())
        #expect(shown.source == .stale)
        #expect(shown.bitmap == (try picture.processed(by: [.flip(.horizontal)])))
        try await transport.transfer(1).answer(SampleImages.png, fields: Self.fresh)
        await loader.flush()
        #expect(await loader.contains(original), "a new file waits for the next load")
        #expect(try await self.loader().image(for: request()).header.format == .png)
    }

    @Test("a load of the original that joins the transfer keeps it on disk")
    func joined() async throws {
        let loader = loader()
        let small = loader.imageTask(with: request())
        let transfer = try await transport.transfer()
        let whole = loader.imageTask(with: ImageRequest("http://localhost/a.jpg"))
        await join(whole)
        transfer.answer(file, fields: Self.fresh)
        _ = (try await small.value, try await whole.value)
        await loader.flush()
        #expect(try await self.loader().image(for: original).bitmap == picture)
        #expect(try await self.loader().image(for: request()).source == .disk)
        #expect(transport.started.count == 1)
    }

    @Test("a load that joins the transfer of one without a disk tier keeps the file on disk")
    func joinedWithoutDisk() async throws {
        let loader = loader()
        let passing = loader.imageTask(
            with: ImageRequest("http://localhost/a.jpg", options: .init(usesDisk: false)))
        let transfer = try await transport.transfer()
        let kept = loader.imageTask(with: request(storing: nil))
        await join(kept)
        transfer.answer(file, fields: Self.fresh)
        _ = (try await passing.value, try await kept.value)
        await loader.flush()
        #expect(try await self.loader().image(for: original).bitmap == picture)
    }

    @Test("an original that is on disk already stays")
    func originalStays() async throws {
        _ = try await load(request(storing: nil))
        let loader = loader()
        #expect(try await loader.image(for: request()).source == .disk)
        await loader.flush()
        #expect(try await self.loader().image(for: original).bitmap == picture)
    }

    @Test("a load that ends before its result is made keeps the original: no download is lost")
    func failing() async throws {
        struct Fault: Error {}
        let broken = ImageProcessor("broken") { _ in throw Fault() }
        await #expect(throws: ImageLoadingError.self) { try await load(request([broken])) }
        #expect(try await loader().image(for: request()).source == .disk)
        #expect(transport.started.count == 1)
    }

    @Test("a damaged image keeps its original: its result would look whole")
    func damaged() async throws {
        let loader = loader()
        let task = loader.imageTask(with: request())
        let part = Array(file.dropLast(file.count / 3))
        try await transport.transfer().answer(
            part, fields: ["Cache-Control": "max-age=3600", "Content-Length": "\(part.count)"])
        #expect(try await task.value.damage != nil)
        await loader.flush()
        let found = try await self.loader().image(for: request())
        #expect(found.source == .disk && found.damage != nil)
    }

    @Test("removing the image removes its results of all sizes")
    func removal() async throws {
        _ = try await load(request())
        await loader().remove(ImageRequest("http://localhost/a.jpg"))
        #expect(await loader().contains(request()) == false)
        #expect(try await load(request(), transfer: 1).source == .network)
    }

    @Test("bytes that the caller stores replace the result")
    func storing() async throws {
        _ = try await load(request())
        let loader = loader()
        try await loader.store(SampleImages.png, for: request())
        await loader.flush()
        #expect(try await self.loader().image(for: request()).header.format == .png)
    }

    @Test("a checksum holds for the original of a result")
    func checksum() async throws {
        var checked = request()
        checked.options.checksum = ImageBytes(file).checksum
        _ = try await load(checked)
        #expect(try await loader().image(for: checked).source == .disk)
        checked.options.checksum = String(repeating: "0", count: 64)
        checked.cachePolicy = .cacheOnly
        await #expect(throws: ImageLoadingError.self) { try await loader().image(for: checked) }
    }

    @Test("a closure's bytes are kept as a result only")
    func closure() async throws {
        let tally = Tally()
        var request = ImageRequest(id: "asset", processors: [.circle()]) { [file] in
            tally.add()
            return file
        }
        request.storesResult = .only(.png)
        let loader = loader()
        let made = try await loader.image(for: request)
        await loader.flush()
        #expect(try await self.loader().image(for: request).bitmap == made.bitmap)
        #expect(tally.count == 1)
        #expect(DiskCache(folder: folder.file("cache")).counters.entries == 2, "the answer and its result")
    }

    @Test("a prewarmer of the disk makes the results")
    func prewarming() async throws {
        let loader = loader()
        async let summary = Prewarmer(loader, destination: .disk).run([request()])
        try await transport.transfer().answer(file, fields: Self.fresh)
        #expect(await summary.fetched == 1)
        #expect(loader.memory.counters.entries == 0)
        #expect(try await self.loader().image(for: request()).source == .disk)
        #expect(await self.loader().contains(original) == false)
        #expect(await Prewarmer(self.loader(), destination: .disk).run([request()]).alreadyCached == 1)
    }

    @Test("a quality outside 1 to 100 fails the load before a request is sent", arguments: [0, 101, -1])
    func quality(_ quality: Int) async throws {
        for format in [ImageRequest.ResultFormat.jpeg(quality: quality), .only(.jpeg(quality: quality))] {
            let error = await #expect(throws: ImageLoadingError.self) {
                try await loader().image(for: request(storing: format))
            }
            #expect(error.map { "\($0)" }?.hasSuffix("the quality must be 1 to 100") == true)
        }
        #expect(transport.started.count == 0)
    }
}
