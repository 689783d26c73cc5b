import ImageCodecs
import TestTraits
import Testing

@Suite("BMP", .bounded)
struct BMPTests {
    private static let names = ["rgb", "palette", "runs", "rgb565"]

    @Test("the pixels are those of ImageMagick", arguments: names)
    func pixels(name: String) throws {
        let bitmap = try ImageDecoders.standard.decode(Resources.bytes("BMP/\(name).bmp"))
        let reference = try ImageDecoders.standard.decode(Resources.bytes("BMP/\(name).png"))
        let difference = try #require(bitmap.difference(to: reference))
        // Five and six bits can be scaled to eight in two ways.
        #expect(difference.largest <= (name == "rgb565" ? 1 : 0) && bitmap.damage == nil && bitmap.isOpaque)
    }

    /// A BMP of 2 x 2 pixels of 32 bits, with a mask for alpha if `hasAlpha`, top-down if `height` is negative.
    private func file(hasAlpha: Bool, height: Int32 = 2, compression: UInt8? = nil) -> [UInt8] {
        let length: UInt8 = hasAlpha ? 108 : 40
        var file =
            Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 14 + length, 0, 0, 0, length, 0, 0, 0, 2, 0, 0, 0]
        for shift in stride(from: 0, to: 32, by: 8) {
            file.append(UInt8(truncatingIfNeeded: height >> Int32(shift)))
        }
        file += [1, 0, 32, 0, compression ?? (hasAlpha ? 3 : 0), 0, 0, 0]
        file += [UInt8](repeating: 0, count: 20)
        if hasAlpha {
            file += [0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF]
            file += [UInt8](repeating: 0, count: 52)
        }
        return file + [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    }

    @Test("rows come from the bottom, or from the top; alpha counts only with a mask")
    func rows() throws {
        let opaque = try ImageDecoders.standard.decode(file(hasAlpha: false))
        #expect(opaque.pixels == [11, 10, 9, 255, 15, 14, 13, 255, 3, 2, 1, 255, 7, 6, 5, 255])
        let alpha = try ImageDecoders.standard.decode(file(hasAlpha: true, height: -2))
        let levels: [UInt8] = [3, 2, 1, 4, 7, 6, 5, 8, 11, 10, 9, 12, 15, 14, 13, 16]
        #expect(alpha.pixels == levels)
        // The mask for alpha counts without those of the colours too.
        #expect(
            try ImageDecoders.standard.decode(file(hasAlpha: true, height: -2, compression: 0)).pixels
                == levels)
        var empty = file(hasAlpha: true)
        for index in 1...4 { empty[empty.count - 17 + index * 4] = 0 }
        #expect(try ImageDecoders.standard.decode(empty).isOpaque)
    }

    @Test("run lengths without their end, and pixels whose place is inside the headers, are whole")
    func lenient() throws {
        let file = try Resources.bytes("BMP/runs.bmp")
        let whole = try ImageDecoders.standard.decode(file)
        let end = try ImageDecoders.standard.decode(Array(file.dropLast(2)))
        #expect(end == whole)
        for name in ["rgb", "palette"] {
            var file = try Resources.bytes("BMP/\(name).bmp")
            let expected = try ImageDecoders.standard.decode(file)
            file[10] = 0
            file[11] = 0
            #expect(try ImageDecoders.standard.decode(file).pixels == expected.pixels)
        }
    }

    @Test("a cut file is incomplete, a wrong depth corrupt, a JPEG in a BMP not supported")
    func wrong() throws {
        let cut = try ImageDecoders.standard.decode(Array(file(hasAlpha: false).dropLast(4)))
        #expect(cut.damage != nil && cut.pixels.prefix(4) == [11, 10, 9, 255])
        var depth = file(hasAlpha: false)
        depth[28] = 7
        #expect(corruptSegment(depth) == "bits of a pixel in BMP")
        #expect(unsupportedFeature(file(hasAlpha: false, compression: 4)) == "BMP with compression 4")
    }
}
