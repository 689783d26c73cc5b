import ImageCodecs
import TestTraits
import Testing

@Suite("Exif orientation", .bounded)
struct OrientationTests {
    /// A file with an orientation inserted after its SOI.
    private func file(_ name: String, orientation: UInt8) throws -> [UInt8] {
        let bytes = try Resources.bytes("JPEG/\(name).jpg")
        return JPEGWriter.start + JPEGWriter.exif(orientation: orientation) + bytes.dropFirst(2)
    }

    /// The displayed position of the stored pixel (x, y) in a picture of `width` x `height` as stored, by
    /// Exif's definitions: "the 0th row is the visual left side" and so on.
    private func shown(_ x: Int, _ y: Int, width: Int, height: Int, orientation: UInt8) -> (Int, Int) {
        let (right, bottom) = (width - 1 - x, height - 1 - y)
        return switch orientation {
        case 1: (x, y)
        case 2: (right, y)
        case 3: (right, bottom)
        case 4: (x, bottom)
        case 5: (y, x)
        case 6: (bottom, x)
        case 7: (bottom, right)
        default: (y, right)
        }
    }

    @Test("each of the eight orientations is turned upright", arguments: UInt8(1)...8)
    func turned(orientation: UInt8) throws {
        let stored = try ImageDecoders.standard.decode(file("baseline-420", orientation: 1))
        let turned = try ImageDecoders.standard.decode(file("baseline-420", orientation: orientation))
        #expect(
            turned.size
                == (orientation < 5 ? stored.size : ImageSize(width: stored.height, height: stored.width)))
        var wrong = 0
        for y in 0..<stored.height {
            for x in 0..<stored.width {
                let (column, row) = shown(
                    x, y, width: stored.width, height: stored.height, orientation: orientation)
                let from = (y * stored.width + x) * 4
                let to = (row * turned.width + column) * 4
                if stored.pixels[from..<from + 4] != turned.pixels[to..<to + 4] { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test("a target size holds for the displayed picture")
    func target() throws {
        let turned = try ImageDecoders.standard.decode(
            file("baseline-420", orientation: 6), fitting: ImageSize(width: 21, height: 10))
        #expect(turned.size == ImageSize(width: 6, height: 10))
    }

    @Test(
        "a corrupt Exif segment loses the orientation, not the picture",
        arguments: [
            [], [0x4D, 0x4D], [0x4D, 0x4D, 0, 0x2A, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0xFF, 0xFF], [0x49, 0x49, 0x2A, 0, 0xFF, 0xFF, 0xFF, 0x7F],
            [0x58, 0x58, 0, 0x2A, 0, 0, 0, 8],
        ] as [[UInt8]])
    func damaged(tiff: [UInt8]) throws {
        let exif = JPEGWriter.segment(0xE1, [0x45, 0x78, 0x69, 0x66, 0, 0] + tiff)
        let file = JPEGWriter.start + exif + JPEGWriter.grey.dropFirst(2)
        #expect(try ImageDecoders.standard.decode(file).size == ImageSize(width: 8, height: 8))
    }
}
