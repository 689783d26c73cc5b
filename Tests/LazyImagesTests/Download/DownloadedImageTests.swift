import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("What a download accepts", .bounded)
struct DownloadedImageTests {
    private let address = "https://example.org/a.jpg"

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

    @Test(
        "a picture cut anywhere after its signature is refused, without an expected length",
        arguments: [(SampleImages.jpeg, 4), (SampleImages.png, 8)])
    func cut(picture: [UInt8], signature: Int) async {
        for count in signature..<picture.count {
            await #expect(throws: ImageLoadingError.truncated(url: address, received: count, expected: nil)) {
                _ = try await image(Array(picture[..<count]))
            }
        }
    }

    @Test("where any content is accepted, bytes that are not a whole image have no header")
    func anyContent() async throws {
        #expect(try await image(Array("text".utf8), any: true).header == nil)
        #expect(try await image(Array(SampleImages.png.dropLast()), any: true).header == nil)
        #expect(try await image(SampleImages.png, any: true).header != nil)
    }

    private func image(_ bytes: [UInt8], any acceptsAny: Bool = false) async throws -> LoadedFile {
        let downloader = ImageDownloader(
            configuration: .with { $0.acceptsAnyContent = acceptsAny },
            transport: HeldTransport { _ in HeldTransport.Answer(bytes) })
        return try await downloader.download(ImageRequest(URL(typed: address)))
    }
}
