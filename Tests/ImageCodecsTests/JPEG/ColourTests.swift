import ImageCodecs
import Testing

@Suite("JPEG colour", .timeLimit(.minutes(30)))
struct ColourTests {
    private let jfif = JPEGWriter.segment(0xE0, Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0])

    private func adobe(transform: UInt8) -> [UInt8] {
        JPEGWriter.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }

    /// The colour of a flat picture whose first two components are 128 and the third 160.
    private func colour(_ markers: [UInt8], identifiers: [UInt8] = [1, 2, 3]) throws -> [UInt8] {
        let steps = JPEGWriter.segment(0xDB, [0] + Array(repeating: 255, count: 64))
        let frame = JPEGWriter.frame(components: identifiers.map { JPEGWriter.Component(identifier: $0) })
        let scan = JPEGWriter.scan(components: identifiers.map { ($0, 0) })
        // Twice no difference and the end of the block, then a difference of one and the end.
        let file = JPEGWriter.file(markers, steps, frame, JPEGWriter.tables, scan, [0b0000_1010])
        return Array(try ImageDecoders.standard.decode(file).pixels.prefix(4))
    }

    private let asYCbCr: [UInt8] = [173, 105, 128, 255]
    private let asRGB: [UInt8] = [128, 128, 160, 255]
    private let namedRGB: [UInt8] = [0x52, 0x47, 0x42]

    @Test("without a word about it three components are YCbCr, unless their names are R, G, B")
    func byNames() throws {
        #expect(try colour([]) == asYCbCr)
        #expect(try colour([], identifiers: [9, 8, 7]) == asYCbCr)
        #expect(try colour([], identifiers: namedRGB) == asRGB)
    }

    @Test("JFIF means YCbCr, whatever else is said")
    func byJFIF() throws {
        #expect(try colour(jfif, identifiers: namedRGB) == asYCbCr)
        #expect(try colour(jfif + adobe(transform: 0)) == asYCbCr)
    }

    @Test("Adobe's transform tells RGB from YCbCr")
    func byAdobe() throws {
        #expect(try colour(adobe(transform: 0)) == asRGB)
        #expect(try colour(adobe(transform: 1), identifiers: namedRGB) == asYCbCr)
    }

    /// The colour of a flat picture of four components, 128 each but the fourth, which is 160.
    private func ink(_ markers: [UInt8]) throws -> [UInt8] {
        let steps = JPEGWriter.segment(0xDB, [0] + Array(repeating: 255, count: 64))
        let frame = JPEGWriter.frame(components: (1...4).map { JPEGWriter.Component(identifier: $0) })
        let scan = JPEGWriter.scan(components: (1...4).map { ($0, 0) })
        // Three times no difference and the end of the block, then a difference of one and the end.
        let file = JPEGWriter.file(
            markers, steps, frame, JPEGWriter.tables, scan, [0b0000_0010, 0b1000_0000])
        return Array(try ImageDecoders.standard.decode(file).pixels.prefix(4))
    }

    @Test("four components are inks, stored inverted where Adobe's segment stands")
    func inks() throws {
        // (255 - 128) * (255 - 160) / 255, and 128 * 160 / 255.
        #expect(try ink([]) == [47, 47, 47, 255])
        #expect(try ink(adobe(transform: 0)) == [80, 80, 80, 255])
    }

    @Test("Adobe's transform 2 means YCCK: YCbCr of what the inks leave to white")
    func ycck() throws {
        // Grey 128 is ink 127, which is stored inverted: 127 * 160 / 255.
        #expect(try ink(adobe(transform: 2)) == [80, 80, 80, 255])
    }
}
