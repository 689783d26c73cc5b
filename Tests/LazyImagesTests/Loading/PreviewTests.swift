import Coalescing
import FoundationEssentials
import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// The body of a picture that arrives piece by piece, with previews of 62 x 93 pixels for a load.
private struct ArrivingPicture {
    // One thread: a job that runs on it waits for all that started before.
    private let threads = BlockingThreads(count: 1)
    private let body: BodyBuffer

    init(of url: URL, for load: ImageFlight) {
        let decoder = FileDecoder(decoders: .standard, limits: .standard, pressure: nil, threads: threads)
        let request = ImageRequest(url, targetSize: ImageSize(width: 62, height: 93))
        let download = DownloadFlight { .cancelled(url: "") }
        let caller = download.firstCaller(0)
        let update = { @Sendable in PreviewMaker.update(load, from: caller, request, decoder) }
        load.observe(by: update)
        update()
        body = BodyBuffer(
            url: url, maximumBytes: 1 << 24, budget: BodyBudget(limit: 1 << 24), spillFolder: nil,
            flight: download, threads: threads)
        #expect(body.receive(ResponseHead(status: 200)))
    }

    /// Receives the pieces, and waits for the previews that they give.
    func receive(_ pieces: [[UInt8]]) async throws {
        for piece in pieces {
            let isTaken = body.receive(piece.span)
            #expect(isTaken)
        }
        try await threads.run {}
    }
}

/// Previews of a progressive poster. The server sends each scan when the test opens its gate.
@Suite("Previews", .bounded)
struct PreviewTests {
    private let jpeg: ProgressiveSample

    init() throws { jpeg = try ProgressiveSample() }

    /// A loader without retries and without a disk tier.
    private func loader(_ transport: any Transport = CurlTransport()) -> ImageLoader {
        var configuration = ImageDownloader.Configuration.once
        // The server waits for the test, which may be slow on a busy machine.
        configuration.timeouts = .patient
        return ImageLoader(disk: nil, configuration: configuration, transport: transport, pressure: nil)
    }

    /// The request at an eighth of the size, which decodes fast.
    private func small(_ request: ImageRequest) -> ImageRequest {
        var request = request
        request.targetSize = ImageSize(width: 62, height: 93)
        return request
    }

    @Test(
        "a preview follows each scan once the data has doubled, each is nearer to the image, and none is kept"
    )
    func scanByScan() async throws {
        let gates = jpeg.pieces.map { _ in Gate() }
        let origin = try ScriptedOrigin(jpeg.script(gates))
        let loader = loader()
        let request = small(ImageRequest(origin.url("/nosferatu.jpg")))
        let load = loader.imageTask(with: request)
        var shown: [ImagePreview] = []
        var last = 0
        var nextPreview = load.previews.makeAsyncIterator()
        var nextProgress = load.progress.makeAsyncIterator()
        for (piece, gate) in zip(jpeg.pieces.dropLast(), gates) {
            gate.open()
            if piece.upperBound >= 2 * last {
                shown.append(try #require(await nextPreview.next()))
                last = piece.upperBound
            }
            while let told = await nextProgress.next(), told.received < piece.upperBound {}
            #expect(loader.cachedImage(for: request) == nil)
        }
        gates.last?.open()
        let image = try await load.value
        #expect(shown.count == 3)
        // The last and longest piece may arrive in parts.
        while let preview = await nextPreview.next() { shown.append(preview) }
        #expect(shown.map(\.number) == Array(1...shown.count))
        #expect(shown.count <= 4)
        #expect(shown.allSatisfy { $0.bitmap.damage != nil && $0.bitmap.size == image.bitmap.size })
        let differences = shown.map { difference($0.bitmap, image.bitmap) }
        #expect(
            differences == differences.sorted(by: >) && differences.allSatisfy { $0 > 0 }, "\(differences)")
        let kept = try #require(loader.cachedImage(for: request))
        #expect(loader.memory.counters.stores == 1 && kept.bitmap.damage == nil)
    }

    @Test("the next preview comes when the data has doubled, not before")
    func doubling() async throws {
        let pieces = jpeg.pieces.dropLast().map { Array(jpeg.bytes[$0]) }
        #expect(try await previewCounts(after: pieces) == [1, 2, 2, 2, 2, 3, 3, 3, 3])
    }

    @Test("there are at most six previews, however often the data doubles")
    func most() async throws {
        var sent = 0
        let pieces = jpeg.pieces.dropLast().map { piece in
            let scan = jpeg.bytes[max(0, piece.lowerBound - 2)..<piece.upperBound - 2]
            // Doubles the data with comments, which a decoder skips.
            let bytes = scan + ProgressiveSample.comments(max(4, sent - scan.count))
            sent += bytes.count
            return Array(bytes)
        }
        #expect(try await previewCounts(after: pieces) == [1, 2, 3, 4, 5, 6, 6, 6, 6])
    }

    /// The number of previews after each piece, once the loader has handled it.
    private func previewCounts(after pieces: [[UInt8]]) async throws -> [Int] {
        let shown = Lock<[Int]>([])
        let url = ImageRequest("http://localhost/a.jpg").url
        let load = ImageFlight { .cancelled(url: "") }
        let listener = LoadListener(isDemanding: true) { event in
            if case .preview(let preview) = event { shown.withLock { $0.append(preview.number) } }
        }
        _ = load.join(0, listener: listener)
        let arriving = ArrivingPicture(of: url, for: load)
        var counts: [Int] = []
        for piece in pieces {
            try await arriving.receive([piece])
            counts.append(shown.withLock { $0.count })
        }
        #expect(shown.withLock { $0 } == Array(1...(counts.last ?? 0)))
        return counts
    }

    @Test("once the last reader has stopped there are no previews, until another one reads")
    func stopping() async throws {
        let url = ImageRequest("http://localhost/a.jpg").url
        let load = ImageFlight { .cancelled(url: "") }
        let made = Tally()
        let listener = LoadListener { event in if case .preview = event { made.add() } }
        let caller = try #require(load.join(0, listener: listener))
        let task = ImageTask(ImageRequest(url), caller)
        let arriving = ArrivingPicture(of: url, for: load)
        func send(_ pieces: Range<Int>) async throws {
            try await arriving.receive(jpeg.pieces[pieces].map { Array(jpeg.bytes[$0]) })
        }
        func readOne() async throws {
            let previews = task.previews
            try await send(0..<0)
            for await _ in previews { break }
        }
        try await send(0..<1)
        #expect(made.count == 0)
        try await readOne()
        #expect(made.count == 1 && !load.isDemanded)
        try await send(1..<5)
        #expect(made.count == 1)
        try await readOne()
        #expect(made.count == 2 && !load.isDemanded)
    }

    @Test("a cancelled load finishes its previews, and so does a lost connection")
    func ends() async throws {
        let gates = jpeg.pieces.map { _ in Gate() }
        let origin = try ScriptedOrigin(jpeg.script(gates))
        let loader = loader()
        let load = loader.imageTask(with: small(ImageRequest(origin.url())))
        var next = load.previews.makeAsyncIterator()
        gates[0].open()
        #expect(await next.next()?.number == 1)
        load.cancel()
        for gate in gates.dropFirst() { gate.open() }
        #expect(await next.next() == nil)
        await #expect(throws: ImageLoadingError.self) { try await load.value }

        let broken = try ScriptedOrigin(Array(jpeg.script(gates).prefix(4)) + [.reset])
        let other = loader.imageTask(with: small(ImageRequest(broken.url())))
        let others = other.previews
        await #expect(throws: ImageLoadingError.self) { try await other.value }
        #expect(await others.reduce(0) { count, _ in count + 1 } <= 1)
        #expect(loader.memory.counters.stores == 0)
    }

    @Test("under critical memory pressure there are no previews")
    func pressure() async throws {
        let transport = HeldTransport()
        let pressure = MemoryPressure()
        let loader = ImageLoader(disk: nil, transport: transport, pressure: pressure)
        var request = small(ImageRequest("http://localhost/a.jpg"))
        request.priority = .high
        let load = loader.imageTask(with: request)
        let previews = load.previews
        let transfer = try await transport.transfer()
        transfer.respond()
        pressure.report(.critical)
        for piece in jpeg.pieces { transfer.send(Array(jpeg.bytes[piece])) }
        transfer.finish()
        await #expect(throws: ImageLoadingError.self) { try await load.value }
        #expect(await previews.first { _ in true } == nil)
    }

    @Test(
        "of the callers of one load only those that want previews get them, and an image from memory has none"
    )
    func sharing() async throws {
        let transport = HeldTransport()
        let loader = loader(transport)
        let request = small(ImageRequest("http://localhost/a.jpg"))
        async let plain = loader.image(for: request)
        let transfer = try await transport.transfer()
        transfer.respond(200, ["Cache-Control": "max-age=3600"])
        transfer.send(Array(jpeg.bytes[jpeg.pieces[0]]))
        let curious = loader.imageTask(with: request)
        var next = curious.previews.makeAsyncIterator()
        // A caller that joins gets the present progress at once.
        _ = await curious.progress.first { _ in true }
        #expect(await next.next()?.number == 1)
        transfer.send(Array(jpeg.bytes[jpeg.pieces[1]]))
        transfer.send(Array(jpeg.bytes[jpeg.pieces[1].upperBound...]))
        transfer.finish()
        #expect(try await plain === curious.value)
        while let preview = await next.next() { #expect(preview.number > 1) }
        let cached = loader.imageTask(with: request)
        #expect(try await cached.value.source == .memory)
        #expect(await cached.previews.first { _ in true } == nil)
    }

    @Test("a JPEG that is not progressive loads without previews")
    func others() async throws {
        let transport = HeldTransport()
        let loader = loader(transport)
        let load = loader.imageTask(with: ImageRequest("http://localhost/a"))
        let previews = load.previews
        let transfer = try await transport.transfer()
        transfer.respond()
        for byte in SampleImages.jpeg { transfer.send([byte]) }
        transfer.finish()
        #expect(try await load.value.bitmap.damage == nil)
        #expect(await previews.first { _ in true } == nil)
    }

    /// The mean difference of the bytes of two bitmaps.
    private func difference(_ one: Bitmap, _ other: Bitmap) -> Double {
        let sum = zip(one.pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(one.pixels.count)
    }
}
