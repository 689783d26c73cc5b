import ImageCodecs
import Testing

@Suite("Lists of decoders", .timeLimit(.minutes(10)))
struct ImageDecodersTests {
    /// A program's own decoder: every GIF is one red pixel.
    private struct RedGIF: ImageDecoding {
        let formats: Set<ImageFormat> = [.gif]

        func decode(
            _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
        ) throws(ImageDecodingError) -> Bitmap {
            Bitmap(width: 1, height: 1, pixels: [255, 0, 0, 255])
        }
    }

    private let gif = Array("GIF89a\u{01}\0\u{01}\0".utf8)

    @Test("a format nobody reads is named in the error")
    func unsupported() {
        #expect(unsupportedFeature(gif) == "GIF")
        #expect(unsupportedFeature(Array("RIFF\0\0\0\0WEBP".utf8)) == "WebP")
        #expect(unsupportedFeature(Array("<svg>".utf8)) == "SVG")
        #expect(decodingError(Array("hello".utf8)) == .unrecognised)
        #expect(decodingError([]) == .unrecognised)
    }

    @Test("a program's own decoder is asked for its formats")
    func ownDecoder() throws {
        let decoders = ImageDecoders(ImageDecoders.standard.decoders + [RedGIF()])
        #expect(try decoders.decode(gif).pixels == [255, 0, 0, 255])
        #expect(decoders.mediaTypes == ["image/jpeg", "image/png", "image/gif"])
    }

    @Test("errors read as what follows a file's name")
    func descriptions() {
        #expect(ImageDecodingError.truncated(offset: 9).description == "cut off after 9 bytes")
        #expect(
            ImageDecodingError.corrupt(segment: "scan header", offset: 9).description
                == "corrupt at byte 9: scan header")
        #expect(
            ImageDecodingError.unsupported(feature: "WebP").description == "decoding of WebP is not supported"
        )
        #expect(
            ImageDecodingError.tooLarge(.side, value: 20, maximum: 10).description
                == "too large: 20 pixels a side, at most 10 allowed")
        #expect(ImageDecodingError.unrecognised.description == "not an image of a known format")
    }

    @Test("a bitmap costs its bytes")
    func cost() {
        let bitmap = Bitmap(width: 2, height: 3, pixels: [UInt8](repeating: 255, count: 24))
        #expect(bitmap.cost == 24)
        #expect(bitmap.isOpaque)
        #expect(!Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 254]).isOpaque)
    }
}
