import ImageCodecs
import TestTraits
import Testing

@Suite("GIF", .bounded)
struct GIFTests {
    private static let names = ["photo", "interlaced", "animated", "transparent", "small-frame"]

    @Test("the pixels are those of ImageMagick", arguments: names)
    func pixels(name: String) throws {
        let bitmap = try ImageDecoders.standard.decode(Resources.bytes("GIF/\(name).gif"))
        let reference = try ImageDecoders.standard.decode(Resources.bytes("GIF/\(name).png"))
        #expect(bitmap.size == reference.size && bitmap.damage == nil)
        #expect(visible(bitmap) == visible(reference))
    }

    /// The pixels without the colours of those that are transparent.
    private func visible(_ bitmap: Bitmap) -> [UInt8] {
        var pixels = bitmap.pixels
        for index in stride(from: 0, to: pixels.count, by: 4) where pixels[index + 3] == 0 {
            pixels.replaceSubrange(index..<index + 3, with: [0, 0, 0])
        }
        return pixels
    }

    /// A GIF of 2 x 2 pixels with a palette of black, white, red and green, and its blocks.
    private func file(_ blocks: [UInt8]...) -> [UInt8] {
        let palette: [UInt8] = [0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0]
        return Array("GIF89a".utf8) + [2, 0, 2, 0, 0x81, 0, 0] + palette + blocks.joined() + [0x3B]
    }

    /// An image whose codes of three bits, from the lowest, are given: 4 clears, 5 ends.
    private func image(
        column: UInt8 = 0, row: UInt8 = 0, width: UInt8 = 2, height: UInt8 = 2, codes: [Int]
    ) -> [UInt8] {
        var data: [UInt8] = []
        for (index, code) in codes.enumerated() {
            for bit in 0..<3 {
                if (index * 3 + bit) % 8 == 0 { data.append(0) }
                if code >> bit & 1 == 1 { data[data.count - 1] |= 1 << UInt8((index * 3 + bit) % 8) }
            }
        }
        return [0x2C, column, 0, row, 0, width, 0, height, 0, 0, 2, UInt8(data.count)] + data + [0]
    }

    private func control(delay: UInt8 = 0, transparent: UInt8? = nil, disposal: UInt8 = 0) -> [UInt8] {
        [0x21, 0xF9, 4, disposal << 2 | (transparent == nil ? 0 : 1), delay, 0, transparent ?? 0, 0]
    }

    // An image of all pixels, one of the last, and one of the first.
    private var all: [UInt8] { image(codes: [4, 1, 1, 4, 1, 1, 5]) }
    private var corner: [UInt8] { image(column: 1, row: 1, width: 1, height: 1, codes: [4, 2, 5]) }
    private var other: [UInt8] { image(width: 1, height: 1, codes: [4, 3, 5]) }

    private let loop: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]

    /// The index of each pixel's colour; nil for a transparent one.
    private func indices(_ file: [UInt8]) throws -> [Int?] {
        let pixels = try ImageDecoders.standard.decode(file).pixels
        let colours: [[UInt8]] = [
            [0, 0, 0, 255], [255, 255, 255, 255], [255, 0, 0, 255], [0, 255, 0, 255],
        ]
        return stride(from: 0, to: pixels.count, by: 4).map {
            colours.firstIndex(of: Array(pixels[$0..<$0 + 4]))
        }
    }

    @Test("a clear code may be missing at the beginning, and the end code too")
    func codes() throws {
        #expect(try indices(file(image(codes: [4, 1, 2]))) == [1, 2, 0, 0])
        #expect(try indices(file(image(codes: [1, 2, 4, 3, 0]))) == [1, 2, 3, 0])
        #expect(try indices(file(image(codes: [4, 1, 6, 1, 5]))) == [1, 1, 1, 1])
        #expect(try indices(file(image(codes: [4, 4, 3, 5, 2]))) == [3, nil, nil, nil])
    }

    @Test("an undefined code, and a first code that is no literal, end the image")
    func wrongCodes() throws {
        #expect(try indices(file(image(codes: [4, 1, 7]))) == [1, nil, nil, nil])
        #expect(corruptSegment(file(image(codes: [4, 6]))) == "LZW code")
        #expect(corruptSegment(file(image(codes: [4, 1, 7]))) == "LZW code")
        #expect(corruptSegment(file([0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 12, 1, 0, 0])) == "LZW code size")
    }

    @Test("several images without a delay make one picture; the first with a delay ends the first frame")
    func composition() throws {
        #expect(try indices(file(all, corner, other)) == [3, 1, 1, 2])
        #expect(try indices(file(all, control(delay: 5), corner, other)) == [1, 1, 1, 2])
        #expect(try indices(file(loop, all, corner, other)) == [1, 1, 1, 1])
        #expect(try indices(file(loop, control(delay: 9), all, corner)) == [1, 1, 1, 1])
    }

    @Test("an image is disposed of before the next: kept, cleared, or what was there before")
    func disposal() throws {
        #expect(try indices(file(all, control(disposal: 2), corner, other)) == [3, 1, 1, nil])
        #expect(try indices(file(all, control(disposal: 3), corner, other)) == [3, 1, 1, 1])
    }

    @Test("the screen grows to the first image; a later one is cut off; one of no size is nothing")
    func outside() throws {
        let far = image(column: 1, row: 1, codes: [4, 2, 3, 4, 1, 0, 5])
        #expect(try indices(file(far)) == [nil, nil, nil, nil, 2, 3, nil, 1, 0])
        #expect(try indices(file(all, far)) == [1, 1, 1, 2])
        #expect(try indices(file(all, image(column: 9, row: 9, codes: [4, 2, 5]))) == [1, 1, 1, 1])
        let beside = image(column: 9, row: 1, codes: [4, 2, 5])
        #expect(try indices(file(all, control(disposal: 3), beside, other)) == [3, 1, 1, 1])
        #expect(try indices(file(image(width: 0, height: 0, codes: []))) == [nil, nil, nil, nil])
    }

    @Test("a transparent pixel leaves what is there; one past the colour table is black, and damage")
    func transparency() throws {
        #expect(
            try indices(file(all, control(transparent: 2), image(codes: [4, 2, 3, 4, 3, 2, 5]))) == [
                1, 3, 3, 1,
            ])
        var short = file(image(codes: [4, 1, 2, 3, 5]))
        short[10] = 0x80
        short.removeSubrange(19..<25)
        #expect(corruptSegment(short) == "image data points past the colour table")
        #expect(try indices(short) == [1, 0, 0, nil])
    }

    @Test(
        "one pixel without a colour table and without data is transparent; with data and no table it is black"
    )
    func withoutColours() throws {
        let start = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2]
        let empty = try ImageDecoders.standard.decode(start + [0, 0x3B])
        #expect(empty.pixels == [0, 0, 0, 0] && empty.damage == nil)
        let black = try ImageDecoders.standard.decode(start + [1, 0b0000_1100, 0, 0x3B])
        #expect(black.pixels == [0, 0, 0, 255] && black.damage == nil)
    }

    @Test(
        "a file that is damaged behind its first image shows that; a loop shows it alone, however many follow"
    )
    func later() throws {
        let cut = file(all, corner).dropLast(9)
        #expect(try indices(Array(cut)) == [1, 1, 1, 1])
        let whole = [0x2C, 0, 0, 0, 0, 0, 8, 0, 8, 0, 2, 0] as [UInt8]
        #expect(decodingError(file(loop, all, Array(repeatElement(whole, count: 9_000).joined()))) == nil)
    }

    @Test("a size of nought, and images of too many pixels, are refused")
    func limits() throws {
        var none = file(image(width: 0, height: 0, codes: []))
        none[6] = 0
        #expect(corruptSegment(none) == "size of the logical screen")
        none = file(all)
        (none[6], none[8]) = (0, 0)
        #expect(try indices(none) == [1, 1, 1, 1])
        var large = file(image(codes: [4, 1, 5]))
        large.replaceSubrange(6..<10, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(exceededLimit(large) == .pixels)
        let whole = [0x2C, 0, 0, 0, 0, 0, 8, 0, 8, 0, 2, 0] as [UInt8]
        #expect(exceededLimit(file(Array(repeatElement(whole, count: 10_000).joined()))) == .pixels)
        let dot = image(width: 1, height: 1, codes: [4, 1, 5])
        #expect(
            corruptSegment(file(Array(repeatElement(dot, count: 10_001).joined()))) == "number of GIF images")
    }

    @Test("the trailer may be missing, and nothing else")
    func trailer() throws {
        let file = try Resources.bytes("GIF/photo.gif")
        try ImageDecoders.standard.checkComplete(Array(file.dropLast()))
        #expect(try ImageDecoders.standard.decode(Array(file.dropLast())).damage == nil)
        #expect(throws: ImageDecodingError.self) {
            try ImageDecoders.standard.checkComplete(Array(file.dropLast(12)))
        }
    }

    @Test("a part of an interlaced image shows earlier rows in place of missing ones")
    func interlaced() throws {
        let file = try Resources.bytes("GIF/interlaced.gif")
        let whole = try ImageDecoders.standard.decode(file)
        let part = try ImageDecoders.standard.decode(Array(file.prefix(file.count / 2)))
        #expect(part.damage != nil && part.isOpaque)
        #expect(part.pixels.prefix(whole.width * 4) == whole.pixels.prefix(whole.width * 4))
    }

    @Test("comments are stripped; the pixels and the animation stay")
    func stripped() throws {
        let comment: [UInt8] = [0x21, 0xFE, 6] + Array("secret".utf8) + [0]
        let file = file(loop, comment, control(delay: 5), all, comment, all)
        let stripped = try ImageMetadata.strip(file)
        #expect(stripped == self.file(loop, control(delay: 5), all, all))
        #expect(try ImageMetadata.strip(stripped) == stripped)
    }
}
