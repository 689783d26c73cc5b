import ImageCodecs
import TestTraits
import Testing

@Suite("JPEG colour", .bounded)
struct ColourTests {
    private let jfif = JPEGWriter.segment(0xE0, Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0])

    private func adobe(transform: UInt8) -> [UInt8] {
        JPEGWriter.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }

    /// The colour of a uniform picture with 128 in two components and 160 in the third.
    private func colour(_ markers: [UInt8], identifiers: [UInt8] = [1, 2, 3]) throws -> [UInt8] {
        let steps = JPEGWriter.segment(0xDB, [0] + Array(repeating: 255, count: 64))
        let frame = JPEGWriter.frame(components: identifiers.map { JPEGWriter.Component(identifier: $0) })
        let scan = JPEGWriter.scan(components: identifiers.map { ($0, 0) })
        // Two blocks without a difference, then a difference of one; each with its end of block.
        let file = JPEGWriter.file(markers, steps, frame, JPEGWriter.tables, scan, [0b0000_1010])
        return Array(try ImageDecoders.standard.decode(file).pixels.prefix(4))
    }

    private let asYCbCr: [UInt8] = [173, 105, 128, 255]
    private let asRGB: [UInt8] = [128, 128, 160, 255]
    private let namedRGB: [UInt8] = [0x52, 0x47, 0x42]

    @Test("without markers three components are YCbCr, unless their identifiers are R, G, B")
    func byNames() throws {
        #expect(try colour([]) == asYCbCr)
        #expect(try colour([], identifiers: [9, 8, 7]) == asYCbCr)
        #expect(try colour([], identifiers: namedRGB) == asRGB)
    }

    @Test("JFIF means YCbCr, whatever other markers say")
    func byJFIF() throws {
        #expect(try colour(jfif, identifiers: namedRGB) == asYCbCr)
        #expect(try colour(jfif + adobe(transform: 0)) == asYCbCr)
    }

    @Test("Adobe's transform decides between RGB and YCbCr")
    func byAdobe() throws {
        #expect(try colour(adobe(transform: 0)) == asRGB)
        #expect(try colour(adobe(transform: 1), identifiers: namedRGB) == asYCbCr)
    }

    /// The colour of a uniform picture with 128 in three components and 160 in the fourth.
    private func ink(_ markers: [UInt8]) throws -> [UInt8] {
        let steps = JPEGWriter.segment(0xDB, [0] + Array(repeating: 255, count: 64))
        let frame = JPEGWriter.frame(components: (1...4).map { JPEGWriter.Component(identifier: $0) })
        let scan = JPEGWriter.scan(components: (1...4).map { ($0, 0) })
        // Three blocks without a difference, then a difference of one; each with its end of block.
        let file = JPEGWriter.file(
            markers, steps, frame, JPEGWriter.tables, scan, [0b0000_0010, 0b1000_0000])
        return Array(try ImageDecoders.standard.decode(file).pixels.prefix(4))
    }

    @Test("four components are inverted CMYK, with and without an Adobe segment")
    func inks() throws {
        // 128 * 160 / 255.
        #expect(try ink([]) == [80, 80, 80, 255])
        #expect(try ink(adobe(transform: 0)) == [80, 80, 80, 255])
    }

    @Test("Adobe's transform 2 means YCCK: YCbCr of the inverted inks")
    func ycck() throws {
        // Grey 128 is ink 127, stored inverted: 127 * 160 / 255.
        #expect(try ink(adobe(transform: 2)) == [80, 80, 80, 255])
    }
}
