import ImageCodecs
import TestTraits
import Testing

@Suite("Formats by signature", .bounded)
struct ImageFormatTests {
    private func format(_ bytes: [UInt8]) -> ImageFormat? { ImageFormat(detecting: bytes.span) }
    private func format(_ text: String) -> ImageFormat? { format(Array(text.utf8)) }

    @Test("each format has its signature")
    func magicNumbers() {
        #expect(format([0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
        #expect(format(PNGWriter.signature) == .png)
        #expect(format("GIF87a") == .gif)
        #expect(format("GIF89a") == .gif)
        #expect(format("RIFF....WEBPVP8 ") == .webp)
        #expect(format([0, 0, 0, 28] + Array("ftypavif".utf8)) == .avif)
        #expect(format([0, 0, 0, 28] + Array("ftypmif1\0\0\0\0miafavis".utf8)) == .avif)
        #expect(format([0, 0, 0, 24] + Array("ftypheic\0\0\0\0mif1heic".utf8)) == .heic)
        #expect(format([0, 0, 0, 24] + Array("ftypmif1\0\0\0\0mif1heic".utf8)) == .heic)
        #expect(format([0xFF, 0x0A, 0xFA]) == .jxl)
        #expect(format([0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]) == .jxl)
        #expect(format(Array("II*\0".utf8)) == .tiff)
        #expect(format(Array("MM\0*".utf8)) == .tiff)
        #expect(format(Array("II+\0".utf8)) == .tiff)
        #expect(format(Array("BM".utf8) + Array(repeating: 0, count: 12) + [40, 0, 0, 0]) == .bmp)
    }

    @Test(
        "SVG is recognised after a prologue, comments and white space",
        arguments: [
            "<svg xmlns=\"\">", "<svg>", "<svg:svg>", "\u{FEFF} <svg/>",
            "<?xml version=\"1.0\"?>\n<!-- a <b> --><!DOCTYPE svg><svg >",
        ])
    func svg(text: String) { #expect(format(text) == .svg) }

    @Test(
        "similar beginnings are not recognised",
        arguments: [
            "", "BMW is a maker of cars, and no bitmap", "RIFF....WAVE", "<html><svg></svg></html>",
            "<svgfoo>", "<svg",
            "<!-- <svg>", "<?xml ", "....ftypisom", "II*.", "GIF88a", "plain text <svg>",
        ])
    func noFormat(text: String) { #expect(format(text) == nil) }

    @Test("SVG must begin within the first 1024 bytes")
    func svgFarDown() {
        #expect(format(String(repeating: " ", count: 1000) + "<svg>") == .svg)
        #expect(format(String(repeating: " ", count: 1024) + "<svg>") == nil)
    }

    @Test("media types and file extensions are the usual ones")
    func names() {
        #expect(ImageFormat.jpeg.mediaType == "image/jpeg")
        #expect(ImageFormat.svg.mediaType == "image/svg+xml")
        #expect(ImageFormat.jpeg.fileExtension == "jpg")
        #expect(ImageFormat.webp.fileExtension == "webp")
        #expect("\(ImageFormat.png)" == "png")
    }
}
