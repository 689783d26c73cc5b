import FoundationEssentials
import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

@Suite("The options of a request", .bounded)
struct RequestOptionsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func loader(_ transport: any Transport) -> ImageLoader {
        ImageLoader(disk: DiskCache(folder: folder.file("cache")), transport: transport, pressure: nil)
    }

    @Test("a literal that is no URL, or has another scheme, is the error of the load, which asks nobody")
    func literals() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let expected = [("https://", "invalid-url"), ("ftp://example.org/a.png", "unsupported-scheme")]
        let requests = [ImageRequest("https://"), ImageRequest("ftp://example.org/a.png")]
        for (request, code) in zip(requests, expected.map(\.1)) {
            let error = await #expect(throws: ImageLoadingError.self) {
                try await loader.image(for: request)
            }
            #expect(error?.code == code)
        }
        for (text, code) in expected {
            #expect { try ImageRequest(URL(typed: text)) } throws: {
                ($0 as? ImageLoadingError)?.code == code
            }
        }
        #expect(transport.requests.isEmpty)
        let number = 7
        #expect(ImageRequest("https://example.org/\(number).png").url.path == "/7.png")
    }

    @Test("without memory an image is neither kept there nor taken from there")
    func withoutMemory() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let plain = ImageRequest("https://example.org/a.png")
        let uncached = ImageRequest("https://example.org/a.png", options: .init(usesMemory: false))
        #expect(try await loader.image(for: uncached).source == .network)
        await loader.flush()
        #expect(loader.cachedImage(for: plain) == nil)
        #expect(try await loader.image(for: plain).source == .disk)
        #expect(loader.cachedImage(for: uncached) == nil && loader.cachedImage(for: plain) != nil)
        #expect(try await loader.image(for: uncached).source == .disk)
        let files = FileLoader(disk: nil, transport: transport)
        for _ in 0..<2 { #expect(try await files.file(for: uncached).source == .network) }
        #expect(files.cachedFile(for: plain) == nil)
    }

    @Test("without the disk a file is neither kept there nor taken from there")
    func withoutDisk() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let plain = ImageRequest("https://example.org/a.png")
        let undisked = ImageRequest("https://example.org/a.png", options: .init(usesDisk: false))
        let first = loader(transport)
        #expect(try await first.image(for: undisked).source == .network)
        await first.flush()
        let second = loader(transport)
        #expect(try await second.image(for: plain).source == .network)
        await second.flush()
        #expect(try await loader(transport).image(for: undisked).source == .network)
        #expect(try await loader(transport).image(for: plain).source == .disk)
    }

    @Test("a caller's time limit ends its wait with an error, and no other caller's")
    func timeLimit() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let patient = loader.imageTask(with: ImageRequest("https://example.org/a.png"))
        let transfer = try await held.transfer()
        let hurried = ImageRequest(
            "https://example.org/a.png", options: .init(timeLimit: .milliseconds(1)))
        for attempt in 0..<2 {
            let error = await #expect(throws: ImageLoadingError.self) {
                if attempt == 0 {
                    _ = try await loader.image(for: hurried)
                } else {
                    _ = try await loader.files.file(for: hurried)
                }
            }
            #expect(error?.code == "timed-out")
        }
        let task = loader.imageTask(with: hurried)
        await #expect(throws: ImageLoadingError.self) { try await task.value }
        await #expect(throws: ImageLoadingError.self, "the error stays") { try await task.value }
        transfer.answer(SampleImages.png)
        #expect(try await patient.value.source == .network)
        #expect(held.started.count == 1)
    }

    @Test("the error of a load whose time runs out while it is decoded blames the decoding, not the transfer")
    func timeLimitOfDecoding() async throws {
        let loader = loader(HeldTransport { _ in .fresh(SampleImages.png) })
        let decoder = GatedDecoder()
        defer { decoder.gate.open() }
        var text = ""
        // With a short limit the file itself may come too late.
        for limit in [0.1, 1, 10, 100] where !text.contains("not decoded") {
            let request = ImageRequest(
                "https://example.org/\(limit).png",
                options: .init(timeLimit: .seconds(limit), decoders: ImageDecoders([decoder])))
            let error = await #expect(throws: ImageLoadingError.self) { try await loader.image(for: request) }
            #expect(error?.code == "timed-out")
            text = "\(error.map { "\($0)" } ?? "")"
        }
        #expect(text.contains("the image was not decoded within"), "\(text)")
    }

    @Test("the decoders of a request decode it, and make another image than the loader's")
    func decoders() async throws {
        /// Decodes everything to one grey pixel.
        struct Grey: ImageDecoding {
            let formats: Set<ImageFormat> = [.png]
            func format(of bytes: Span<UInt8>) -> ImageFormat? { .png }
            func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
                try PNGDecoder().header(of: bytes)
            }
            func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {}
            func decode(
                _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
            ) throws(ImageDecodingError) -> Bitmap {
                Bitmap(width: 1, height: 1, pixels: [128, 128, 128, 255])
            }
        }
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let plain = ImageRequest("https://example.org/a.png")
        let own = ImageRequest(
            "https://example.org/a.png", options: .init(decoders: ImageDecoders([Grey()])))
        #expect(try await loader.image(for: own).bitmap.size == ImageSize(width: 1, height: 1))
        let size = try ImageDecoders.standard.header(of: SampleImages.png).size
        #expect(try await loader.image(for: plain).bitmap.size == size)
        #expect(loader.cachedImage(for: own)?.bitmap.size == ImageSize(width: 1, height: 1))
        #expect(transport.requests.count == 1)
        #expect(own != plain && own.resultKey != plain.resultKey && own.key == plain.key)
    }

    @Test("after a failure the alternatives are loaded in order, and kept under their own addresses")
    func alternatives() async throws {
        let transport = HeldTransport { request in
            switch request.url.lastPathComponent {
            case "gone.png": HeldTransport.Answer([], status: 404)
            case "text.png": .fresh(Array("no image".utf8))
            default: .fresh(SampleImages.png)
            }
        }
        let loader = loader(transport)
        let request = ImageRequest(
            "https://example.org/gone.png",
            options: .init(alternatives: ["https://example.org/text.png", "https://example.org/good.png"]))
        #expect(try await loader.image(for: request).url.lastPathComponent == "good.png")
        #expect(transport.requests.map(\.url.lastPathComponent) == ["gone.png", "text.png", "good.png"])
        #expect(loader.cachedImage(for: ImageRequest("https://example.org/good.png")) != nil)
        let hopeless = ImageRequest(
            "https://example.org/text.png", options: .init(alternatives: ["https://example.org/gone.png"]))
        let error = await #expect(throws: ImageLoadingError.self) {
            try await loader.image(for: hopeless)
        }
        #expect(error?.code == "http-status", "the error of the last address")
    }

    @Test("an address whose time has run out is followed by the alternatives, each with its own time")
    func limitedAddress() async throws {
        // Only the third address answers.
        let transport = HeldTransport { request in
            request.url.lastPathComponent == "third.png" ? .fresh(SampleImages.png) : nil
        }
        let loader = loader(transport)
        let second = ImageRequest(
            "https://example.org/second.png", options: .init(timeLimit: .milliseconds(1)))
        let task = loader.imageTask(
            with: ImageRequest(
                "https://example.org/first.png",
                options: .init(
                    timeLimit: .milliseconds(1), alternatives: [second, "https://example.org/third.png"])))
        #expect(try await task.value.url.lastPathComponent == "third.png")
        let lost = loader.imageTask(
            with: ImageRequest(
                "https://example.org/fourth.png",
                options: .init(timeLimit: .milliseconds(1), alternatives: [second])))
        guard case .failure(.timedOut(let url, _, _)) = await lost.result else {
            Issue.record("another outcome")
            return
        }
        #expect(url == "https://example.org/second.png")
    }

    @Test("a URL and a text make the same request as a literal")
    func initialisers() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let text = " https://example.org/a b.png"
        let url = try URL(typed: text)
        let literal: ImageRequest = "https://example.org/a%20b.png"
        #expect(ImageRequest(text) == literal && ImageRequest(url) == literal)
        #expect(ImageRequest(url: url) == literal && ImageRequest(url: url, id: "a") != literal)
        #expect(ImageRequest("a%20b.png", relativeTo: URL(string: "https://example.org/c/../")) == literal)
        let image = try await loader.image(for: url)
        #expect(image.size == image.bitmap.size)
        #expect(try await loader.image(for: literal).source == .memory)
        #expect(transport.requests.count == 1)
    }

    @Test("requests are equal by address and options; closures by their ids")
    func equality() {
        let bytes = { @Sendable () async throws -> [UInt8] in [] }
        let others = { @Sendable () async throws -> [UInt8] in [1] }
        #expect(ImageRequest(id: "a", data: bytes) == ImageRequest(id: "a", data: others))
        #expect(ImageRequest(id: "a", data: bytes) != ImageRequest(id: "b", data: bytes))
        var request = ImageRequest("https://example.org/a.png", options: .init(variant: "one"))
        let before = request
        request.options.variant = "two"
        #expect(request != before && request.key != before.key)
        request.options.variant = "one"
        #expect(request == before && request.hashValue == before.hashValue)
        for change in [{ $0.priority = .high }, { $0.cachePolicy = .reload }]
            as [(inout ImageRequest) -> Void]
        {
            var other = before
            change(&other)
            #expect(other != before && other.key == before.key)
        }
        let changes: [(inout ImageRequest.Options) -> Void] = [
            { $0.usesMemory = false },
            { $0.usesDisk = false }, { $0.timeLimit = .seconds(1) }, { $0.fields = ["X-Page": "7"] },
            { $0.checksum = String(repeating: "a", count: 64) }, { $0.ignoredQuery = .tracking },
            { $0.alternatives = ["https://example.org/b.png"] }, { $0.decoders = .standard },
        ]
        for change in changes {
            var other = before
            change(&other.options)
            #expect(other != before && other.options != before.options)
        }
    }
}
