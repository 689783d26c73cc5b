import ImageCodecs
import TestTraits
import Testing

@Suite("Lists of decoders", .bounded)
struct ImageDecodersTests {
    /// A custom decoder: every GIF is one red pixel.
    private struct RedGIF: ImageDecoding {
        let formats: Set<ImageFormat> = [.gif]

        func decode(
            _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
        ) throws(ImageDecodingError) -> Bitmap {
            Bitmap(width: 1, height: 1, pixels: [255, 0, 0, 255])
        }
    }

    /// A custom format: one black pixel, whatever follows the first byte.
    private struct OneDot: ImageDecoding {
        static let dot = ImageFormat("dot", mediaType: "image/x-dot")
        static let size = ImageSize(width: 1, height: 1)

        var formats: Set<ImageFormat> { [Self.dot] }
        var beginning: UInt8 = 1

        func format(of bytes: Span<UInt8>) -> ImageFormat? {
            bytes.count > 0 && bytes[0] == beginning ? Self.dot : nil
        }

        func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
            ImageHeader(format: Self.dot, size: Self.size)
        }

        func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
            throw .truncated(offset: bytes.count)
        }

        func decode(
            _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
        ) throws(ImageDecodingError) -> Bitmap {
            Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 255])
        }
    }

    private let gif = Array("GIF89a\u{01}\0\u{01}\0".utf8)

    @Test("the error names a format without a decoder")
    func unsupported() {
        #expect(unsupportedFeature([0xFF, 0x0A]) == "JPEG XL")
        #expect(unsupportedFeature(Array("<svg>".utf8)) == "SVG")
        #expect(decodingError(Array("hello".utf8)) == .unrecognized)
        #expect(decodingError([]) == .unrecognized)
    }

    @Test("a custom decoder decodes its formats")
    func ownDecoder() throws {
        let decoders = ImageDecoders([RedGIF()] + ImageDecoders.standard.decoders)
        #expect(try decoders.decode(gif).pixels == [255, 0, 0, 255])
        #expect(decoders.mediaTypes == ["image/gif", "image/jpeg", "image/png", "image/webp", "image/bmp"])
    }

    @Test("a decoder may recognise a format of its own")
    func unknownFormat() throws {
        let decoders = ImageDecoders(ImageDecoders.standard.decoders + [OneDot()])
        let file: [UInt8] = [1, 2, 3]
        #expect(decodingError(file) == .unrecognized)
        #expect(decoders.format(of: file) == OneDot.dot)
        #expect(try decoders.header(of: file) == ImageHeader(format: OneDot.dot, size: OneDot.size))
        #expect(try decoders.decode(file).size == OneDot.size)
        #expect(throws: ImageDecodingError.truncated(offset: 3)) { try decoders.checkComplete(file) }
        #expect(
            decoders.mediaTypes == [
                "image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/x-dot",
            ])
    }

    @Test("a format without a decoder is still recognised, with its size")
    func knownFormat() throws {
        let decoders = ImageDecoders([OneDot()])
        #expect(decoders.format(of: gif) == .gif)
        #expect(try decoders.header(of: gif).size == ImageSize(width: 1, height: 1))
        #expect(decoders.format(of: PNGWriter.signature) == .png)
        #expect(throws: ImageDecodingError.unsupported(feature: "GIF")) { try decoders.decode(gif) }
        #expect(decoders.format(of: []) == nil)
        #expect(throws: ImageDecodingError.unrecognized) { try decoders.header(of: [9, 9]) }
    }

    @Test("the first of two decoders that recognise a file decodes it, also instead of the library's")
    func order() throws {
        let file = JPEGWriter.grey
        #expect(ImageDecoders.standard.format(of: file) == .jpeg)
        let decoders = ImageDecoders([OneDot(beginning: 0xFF)] + ImageDecoders.standard.decoders)
        #expect(decoders.format(of: file) == OneDot.dot)
        #expect(try decoders.decode(file).size == OneDot.size)
    }

    @Test("an error's description can follow a file's name")
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
        #expect(ImageDecodingError.unrecognized.description == "not an image of a known format")
    }

    @Test("a bitmap's cost is its bytes")
    func cost() {
        let bitmap = Bitmap(width: 2, height: 3, pixels: [UInt8](repeating: 255, count: 24))
        #expect(bitmap.cost == 24)
        #expect(bitmap.isOpaque)
        #expect(!Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 254]).isOpaque)
    }
}
