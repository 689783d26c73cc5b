import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("What a download accepts", .bounded)
struct DownloadedImageTests {
    private let address = "https://example.org/a.jpg"

    @Test("the bytes decide the format, not the Content-Type")
    func format() async throws {
        let png = try await image(SampleImages.png, type: "text/html")
        #expect(png.header?.format == .png)
        #expect(png.header?.size?.width == 2 && png.header?.size?.height == 3)
        #expect(try await image(SampleImages.jpeg, type: "image/png").header?.format == .jpeg)
    }

    @Test(
        "bytes that are not an image are refused, and the error says what they look like",
        arguments: [
            ("<!DOCTYPE html><p>", "it is a web page"), ("\n <HTML lang=de>", "it is a web page"),
            ("Not found", "it is text: \"Not found\""),
            ("line\r\nbreak", "it is text: \"line  break\""),
            ("\u{1B}[31mred", "its first bytes match no known format"),
            ("\u{1}\u{2}\u{3}", "its first bytes match no known format"),
        ])
    func noImage(text: String, reason: String) async {
        await #expect(throws: ImageLoadingError.notAnImage(url: address, reason: reason)) {
            _ = try await image(Array(text.utf8))
        }
    }

    @Test("a JPEG cut anywhere is refused, without an expected length")
    func cutJPEG() async {
        let jpeg = SampleImages.jpeg
        for count in 4..<jpeg.count {
            await #expect(throws: ImageLoadingError.truncated(url: address, received: count, expected: nil)) {
                _ = try await image(Array(jpeg[..<count]))
            }
        }
    }

    @Test("a PNG cut anywhere is refused")
    func cutPNG() async {
        let png = SampleImages.png
        for count in 8..<png.count {
            await #expect(throws: ImageLoadingError.truncated(url: address, received: count, expected: nil)) {
                _ = try await image(Array(png[..<count]))
            }
        }
    }

    @Test("where any content is accepted, bytes that are not a whole image have no header")
    func anyContent() async throws {
        #expect(try await image(Array("text".utf8), any: true).header == nil)
        #expect(try await image(Array(SampleImages.png.dropLast()), any: true).header == nil)
        #expect(try await image(SampleImages.png, any: true).header != nil)
    }

    private func image(
        _ bytes: [UInt8], type: String = "image/jpeg", any: Bool = false
    ) async throws -> LoadedFile {
        var configuration = ImageDownloader.Configuration()
        configuration.acceptsAnyContent = any
        let answer = HeldTransport.Answer(bytes, fields: ["Content-Type": type])
        let downloader = ImageDownloader(
            configuration: configuration, transport: HeldTransport { _ in answer })
        return try await downloader.download(ImageRequest(.text(address)))
    }
}
