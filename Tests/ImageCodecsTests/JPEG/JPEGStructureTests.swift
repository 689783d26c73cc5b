import ImageCodecs
import TestTraits
import Testing

/// Valid structures that few encoders write.
@Suite("JPEG structure", .bounded)
struct JPEGStructureTests {
    private typealias JPEG = JPEGWriter

    private let grey = [UInt8](repeating: 128, count: 3) + [255]

    @Test("a height of zero is set by a DNL segment after the first scan")
    func numberOfLines() throws {
        let lines = JPEG.segment(0xDC, [0, 8])
        let parts = [JPEG.quantisation, JPEG.frame(height: 0), JPEG.tables, JPEG.scan(), JPEG.greyBlock]
        let file = JPEG.start + parts.flatMap(\.self) + lines + JPEG.end
        let bitmap = try ImageDecoders.standard.decode(file)
        #expect(bitmap.pixels == (0..<64).flatMap { _ in grey } && bitmap.damage == nil)
        #expect(try ImageHeader(parsing: file).size == ImageSize(width: 8, height: 8))
        let none = JPEG.start + parts.flatMap(\.self) + JPEG.segment(0xDC, [0, 0]) + JPEG.end
        #expect(corruptSegment(none) == "number of lines")
    }

    @Test("any number of fill bytes may precede a marker")
    func fillBytes() throws {
        let fill = [UInt8](repeating: 0xFF, count: 5)
        let file =
            JPEG.start + fill + JPEG.quantisation + fill + JPEG.frame() + JPEG.tables + fill + JPEG.scan()
            + JPEG.greyBlock + fill + JPEG.end
        let bitmap = try ImageDecoders.standard.decode(file)
        #expect(Array(bitmap.pixels.prefix(4)) == grey && bitmap.damage == nil)
    }

    @Test("fill bytes and surplus bytes before a restart marker do no harm")
    func fillBytesAtRestart() throws {
        let data: [UInt8] = [0x3F, 0xFF, 0xFF, 0xFF, 0xD0, 0x3F, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xFF, 0xD1, 0x3F]
        let file = JPEG.file(
            JPEG.quantisation, JPEG.frame(width: 24), JPEG.tables, JPEG.segment(0xDD, [0, 1]), JPEG.scan(),
            data)
        #expect(try ImageDecoders.standard.decode(file).damage == nil)
    }

    @Test("an extended sequential frame of 8 bits is a baseline frame with more tables")
    func extended() throws {
        let tables = JPEG.huffman(0x03, [1: [0], 2: [1]]) + JPEG.huffman(0x12, [1: [0x00], 2: [0xF1]])
        let file = JPEG.file(
            JPEG.quantisation, JPEG.frame(marker: 0xC1), tables, JPEG.scan(components: [(1, 0x32)]),
            JPEG.greyBlock)
        #expect(try ImageDecoders.standard.decode(file).pixels.prefix(4) == grey[...])
    }

    @Test("16-bit quantisation tables are read high byte first")
    func wideSteps() throws {
        let steps = JPEG.segment(0xDB, [0x10] + Array(repeating: [0x01, 0x00], count: 64).flatMap(\.self))
        // A difference of one step of 256 is 32 levels.
        let file = JPEG.file(steps, JPEG.frame(), JPEG.tables, JPEG.scan(), [0b1010_0000])
        #expect(try ImageDecoders.standard.decode(file).pixels.first == 160)
    }
}
