import ImageCodecs
import TestTraits
import Testing

@Suite("The content mode fill", .bounded)
struct FillTests {
    private let decoders = ImageDecoders.standard

    private func fill(
        _ width: Int, _ height: Int, _ anchor: ImageContentMode.Anchor = .center
    ) -> ImageSizing {
        ImageSizing(ImageSize(width: width, height: height), mode: .fill(anchor))
    }

    /// A grey PNG whose pixels are numbered from 0.
    private func numbered(_ width: Int, _ height: Int) -> [UInt8] {
        let pixels = (0..<UInt8(width * height)).flatMap { level -> [UInt8] in [level, level, level, 255] }
        return PNGEncoder().encode(Bitmap(width: width, height: height, pixels: pixels))
    }

    private func levels(_ bitmap: Bitmap) -> [UInt8] {
        stride(from: 0, to: bitmap.pixels.count, by: 4).map { bitmap.pixels[$0] }
    }

    @Test(
        "the result has the target size; a smaller picture gives the target's shape",
        arguments: [
            ((50, 75), (10, 10), (10, 10)), ((50, 75), (30, 20), (30, 20)),
            ((50, 75), (50, 75), (50, 75)), ((1000, 8), (300, 2), (300, 2)),
            ((100, 125), (2, 2), (2, 2)), ((7, 5), (3, 3), (3, 3)),
            // Smaller than the target in one direction, or in both.
            ((100, 40), (80, 80), (40, 40)), ((100, 40), (200, 40), (100, 20)), ((10, 10), (30, 60), (5, 10)),
            ((3, 3), (1000, 1), (3, 1)), ((4, 4), (Int.max, Int.max), (4, 4)),
            // Targets of size zero.
            ((4, 4), (0, 3), (1, 3)), ((4, 4), (-1, Int.min), (1, 1)),
        ])
    func sizes(picture: (Int, Int), target: (Int, Int), expected: (Int, Int)) throws {
        let whole = Bitmap(
            width: picture.0, height: picture.1,
            pixels: [UInt8](repeating: 255, count: picture.0 * picture.1 * 4))
        let file = PNGEncoder().encode(whole)
        let size = ImageSize(width: expected.0, height: expected.1)
        #expect(try decoders.decode(file, sizing: fill(target.0, target.1)).size == size)
    }

    @Test("the anchor decides which part stays")
    func anchors() throws {
        let wide = numbered(5, 2)
        let tall = numbered(2, 5)
        let expected: [ImageContentMode.Anchor: ([UInt8], [UInt8])] = [
            .center: ([1, 2, 6, 7], [2, 3, 4, 5]), .top: ([1, 2, 6, 7], [0, 1, 2, 3]),
            .bottom: ([1, 2, 6, 7], [6, 7, 8, 9]), .left: ([0, 1, 5, 6], [2, 3, 4, 5]),
            .right: ([3, 4, 8, 9], [2, 3, 4, 5]), .topLeft: ([0, 1, 5, 6], [0, 1, 2, 3]),
            .topRight: ([3, 4, 8, 9], [0, 1, 2, 3]), .bottomLeft: ([0, 1, 5, 6], [6, 7, 8, 9]),
            .bottomRight: ([3, 4, 8, 9], [6, 7, 8, 9]),
        ]
        for anchor in ImageContentMode.Anchor.allCases {
            let (ofWide, ofTall) = try #require(expected[anchor])
            #expect(try levels(decoders.decode(wide, sizing: fill(2, 2, anchor))) == ofWide, "\(anchor)")
            #expect(try levels(decoders.decode(tall, sizing: fill(2, 2, anchor))) == ofTall, "\(anchor)")
        }
    }

    @Test(
        "a picture that covers the target is cropped exactly",
        arguments: [
            "JPEG/baseline-420.jpg", "JPEG/progressive-420.jpg", "JPEG/baseline-411.jpg", "JPEG/grey.jpg",
            "PngSuite/basi6a08.png", "PngSuite/basn6a08.png", "PngSuite/tbbn3p08.png",
        ])
    func cropped(name: String) throws {
        let file = try Resources.bytes(name)
        let source = try #require(try decoders.header(of: file).size)
        for (width, height) in [(9, 9), (7, 3), (3, 8), (14, 5), (source.width, 4)] {
            // The side with less surplus decides.
            let box =
                width * source.height >= height * source.width
                ? ImageSize(width: width, height: source.height)
                : ImageSize(width: source.width, height: height)
            let whole = try decoders.decode(file, fitting: box)
            for anchor in ImageContentMode.Anchor.allCases {
                #expect(
                    try decoders.decode(file, sizing: fill(width, height, anchor))
                        == crop(whole, width, height, anchor))
            }
        }
    }

    @Test("the anchor holds for the displayed picture", arguments: UInt8(1)...8)
    func turned(orientation: UInt8) throws {
        let bytes = try Resources.bytes("JPEG/baseline-420.jpg")
        let file = JPEGWriter.start + JPEGWriter.exif(orientation: orientation) + bytes.dropFirst(2)
        for (width, height) in [(9, 4), (4, 9), (60, 20)] {
            for anchor in [ImageContentMode.Anchor.topLeft, .right, .bottom, .center] {
                let sizing = fill(width, height, anchor)
                let filled = try decoders.decode(file, sizing: sizing)
                // A decoder without fill, whose pictures are cropped once they are upright.
                let expected = try ImageDecoders([FittingDecoder()]).decode(file, sizing: sizing)
                #expect(filled == expected, "\(anchor)")
            }
        }
    }

    @Test("pictures of a custom decoder without fill are cropped, and decoded no larger than needed")
    func ownDecoder() throws {
        let file = try Resources.bytes("JPEG/baseline-420.jpg")
        let own = ImageDecoders([FittingDecoder(largest: ImageSize(width: 30, height: 20))])
        #expect(
            try own.decode(file, sizing: fill(12, 12)) == (try decoders.decode(file, sizing: fill(12, 12))))
        #expect(
            try own.decode(file, sizing: ImageSizing(ImageSize(width: 12, height: 12)))
                == (try decoders.decode(file, fitting: ImageSize(width: 12, height: 12))))
    }

    @Test("previews are cropped as the image is")
    func previews() throws {
        let file = try Resources.bytes("JPEG/progressive-420.jpg")
        var previews = JPEGPreviews(sizing: fill(9, 9, .bottomRight))
        #expect(try previews.append(file))
        #expect(try previews.picture() == decoders.decode(file, sizing: fill(9, 9, .bottomRight)))
    }

    @Test("a truncated file is incomplete, wherever it was cut")
    func cut() throws {
        let bytes = try Resources.bytes("JPEG/baseline-420.jpg")
        let top = try decoders.decode(Array(bytes.prefix(bytes.count - 40)), sizing: fill(20, 2, .top))
        #expect(top.damage != nil && top.size == ImageSize(width: 20, height: 2))
        #expect(try decoders.decode(bytes, sizing: fill(20, 2, .top)).damage == nil)
    }

    private func crop(_ bitmap: Bitmap, _ width: Int, _ height: Int, _ anchor: ImageContentMode.Anchor)
        -> Bitmap
    {
        let (right, down) = (bitmap.width - width, bitmap.height - height)
        let (left, top) =
            switch anchor {
            case .center: (right / 2, down / 2)
            case .top: (right / 2, 0)
            case .bottom: (right / 2, down)
            case .left: (0, down / 2)
            case .right: (right, down / 2)
            case .topLeft: (0, 0)
            case .topRight: (right, 0)
            case .bottomLeft: (0, down)
            case .bottomRight: (right, down)
            }
        var pixels: [UInt8] = []
        for row in top..<top + height {
            let start = row * bitmap.width + left
            pixels += bitmap.pixels[start * 4..<(start + width) * 4]
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }
}

/// A custom JPEG decoder that supports only fit.
private struct FittingDecoder: ImageDecoding {
    let formats: Set<ImageFormat> = [.jpeg]
    var largest = ImageSize(width: .max, height: .max)

    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let bitmap = try JPEGDecoder().decode(bytes, fitting: target, limits: limits)
        #expect(bitmap.width <= largest.width && bitmap.height <= largest.height)
        return bitmap
    }
}
