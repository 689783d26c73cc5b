import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

/// An image format that only the test's decoder knows.
@Suite("A program's own format", .bounded)
struct CustomFormatTests {
    private let folder: TemporaryFolder
    private let request: ImageRequest
    private let decoders = ImageDecoders(ImageDecoders.standard.decoders + [DotsDecoder()])
    private let transport = HeldTransport { _ in .fresh(DotsDecoder.sample) }

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.dots")
    }

    private func loader(_ decoders: ImageDecoders?, disk: Bool = true) -> ImageLoader {
        ImageLoader(
            disk: disk ? DiskCache(folder: folder.file("cache")) : nil,
            configuration: configuration(decoders ?? .standard),
            transport: transport, pressure: nil)
    }

    private func configuration(_ decoders: ImageDecoders = .standard) -> ImageDownloader.Configuration {
        var configuration = ImageDownloader.Configuration.once
        configuration.decoders = decoders
        return configuration
    }

    @Test("it is requested, recognised and decoded, and kept in memory and on disk")
    func everyTier() async throws {
        let first = loader(decoders)
        let image = try await first.image(for: request)
        #expect(
            transport.requests.map { $0.fields["Accept"] }
                == [
                    "image/jpeg, image/png, image/webp, image/gif, image/bmp, image/x-dots, image/*;q=0.5, "
                        + "*/*;q=0.1"
                ])
        #expect(image.header == ImageHeader(format: .dots, size: ImageSize(width: 2, height: 1)))
        #expect(image.bitmap.pixels == [7, 7, 7, 255, 9, 9, 9, 255])
        #expect(try await first.image(for: request).source == .memory)
        await first.flush()
        var offline = request
        offline.cachePolicy = .cacheOnly
        let again = try await loader(decoders).image(for: offline)
        #expect(again.source == .disk && again.header.format == .dots && again.bitmap == image.bitmap)
        #expect(transport.started.count == 1)
    }

    @Test("without its decoder it is not requested, and is not an image")
    func unknown() async throws {
        let error = await #expect(throws: ImageLoadingError.self) {
            _ = try await loader(nil).image(for: request)
        }
        #expect(error?.code == "not-an-image")
        #expect(
            transport.requests.map { $0.fields["Accept"] }
                == ["image/jpeg, image/png, image/webp, image/gif, image/bmp, image/*;q=0.5, */*;q=0.1"])
    }

    @Test("a file that its decoder finds truncated is an error, and is not kept")
    func cut() async throws {
        let transport = HeldTransport { _ in .fresh(DotsDecoder.sample.dropLast()) }
        let disk = DiskCache(folder: folder.file("cache"))
        let files = FileLoader(disk: disk, configuration: configuration(decoders), transport: transport)
        let error = ImageLoadingError.truncated(url: request.url.displayText, received: 7, expected: nil)
        await #expect(throws: error) { _ = try await files.file(for: request) }
        await files.flush()
        #expect(await disk.entry(for: request.key) == nil)
    }

    @Test(
        "an ImageLoader decodes the formats that its FileLoader recognises, unless the request has its own decoders"
    )
    func sharedFiles() async throws {
        let files = FileLoader(disk: nil, configuration: configuration(decoders), transport: transport)
        #expect(try await files.file(for: request).header?.format == .dots)
        let image = try await ImageLoader(files: files, pressure: nil).image(for: request)
        #expect(image.header.format == .dots)
        var told = request
        told.options.decoders = .standard
        await #expect(
            throws: ImageLoadingError.undecodable(url: request.url.displayText, reason: .unrecognized)
        ) { _ = try await ImageLoader(files: files, pressure: nil).image(for: told) }
        let ephemeral = ImageLoader.ephemeral(configuration: configuration(decoders), transport: transport)
        #expect(try await ephemeral.image(for: request).header.format == .dots)
        let privateFiles = FileLoader.ephemeral(configuration: configuration(decoders), transport: transport)
        #expect(try await privateFiles.file(for: request).header?.format == .dots)
    }

    @Test("a local file is recognised too")
    func localFile() async throws {
        let path = folder.file("a.dots")
        try Data(DotsDecoder.sample).write(to: URL(filePath: path))
        let image = try await loader(decoders, disk: false).image(
            for: ImageRequest(URL(typed: "file://" + path)))
        #expect(image.source == .local && image.header.format == .dots)
    }
}

extension ImageFormat {
    fileprivate static let dots = ImageFormat("dots", mediaType: "image/x-dots")
}

/// Reads the word "dots", a width, a height, and one grey level per pixel.
private struct DotsDecoder: ImageDecoding {
    static let sample = Array("dots".utf8) + [2, 1, 7, 9]

    let formats: Set<ImageFormat> = [.dots]

    func format(of bytes: Span<UInt8>) -> ImageFormat? {
        guard bytes.count >= 4 else { return nil }
        for (index, byte) in "dots".utf8.enumerated() where bytes[index] != byte { return nil }
        return .dots
    }

    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        guard bytes.count >= 6 else { throw .truncated(offset: bytes.count) }
        return ImageHeader(format: .dots, size: ImageSize(width: Int(bytes[4]), height: Int(bytes[5])))
    }

    func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let size = try header(of: bytes).size, bytes.count >= 6 + size.width * size.height else {
            throw .truncated(offset: bytes.count)
        }
    }

    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try checkComplete(bytes)
        let (width, height) = (Int(bytes[4]), Int(bytes[5]))
        var pixels: [UInt8] = []
        for index in 6..<6 + width * height { pixels += [bytes[index], bytes[index], bytes[index], 255] }
        return Bitmap(width: width, height: height, pixels: pixels)
    }
}
