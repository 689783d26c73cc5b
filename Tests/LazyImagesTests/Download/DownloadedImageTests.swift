import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("DownloadedImage", .bounded)
struct DownloadedImageTests {
    private let address = "https://example.org/a.jpg"

    @Test("the bytes decide the format, not the Content-Type")
    func format() throws {
        let png = try image(SampleImages.png, type: "text/html")
        #expect(png.header?.format == .png)
        #expect(png.header?.size?.width == 2 && png.header?.size?.height == 3)
        #expect(try image(SampleImages.jpeg, type: "image/png").header?.format == .jpeg)
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
    func noImage(text: String, reason: String) {
        #expect(throws: ImageLoadingError.notAnImage(url: address, reason: reason)) {
            _ = try image(Array(text.utf8))
        }
    }

    @Test("a JPEG cut anywhere is refused, without an expected length")
    func cutJPEG() {
        let jpeg = SampleImages.jpeg
        for count in 4..<jpeg.count {
            #expect(throws: ImageLoadingError.truncated(url: address, received: count, expected: nil)) {
                _ = try image(Array(jpeg[..<count]))
            }
        }
    }

    @Test("a PNG cut anywhere is refused")
    func cutPNG() {
        let png = SampleImages.png
        for count in 8..<png.count {
            #expect(throws: ImageLoadingError.truncated(url: address, received: count, expected: nil)) {
                _ = try image(Array(png[..<count]))
            }
        }
    }

    @Test("where any content is accepted, bytes that are not a whole image have no header")
    func anyContent() throws {
        #expect(try image(Array("text".utf8), any: true).header == nil)
        #expect(try image(Array(SampleImages.png.dropLast()), any: true).header == nil)
        #expect(try image(SampleImages.png, any: true).header != nil)
    }

    private func image(_ bytes: [UInt8], type: String = "image/jpeg", any: Bool = false) throws
        -> DownloadedImage
    {
        var configuration = ImageDownloader.Configuration()
        configuration.acceptsAnyContent = any
        return try DownloadedImage(
            ResponseHead(status: 200, fields: ["Content-Type": type]),
            from: #require(URL(string: address)), body: ImageBytes(bytes), configuration)
    }
}
