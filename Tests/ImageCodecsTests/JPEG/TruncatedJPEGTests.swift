import ImageCodecs
import TestTraits
import Testing

@Suite("Truncated JPEG", .bounded)
struct TruncatedJPEGTests {
    private typealias JPEG = JPEGWriter

    /// A file of a hundred grey blocks in a row. `data` holds only the first ones.
    private func file(_ data: [UInt8], interval: [UInt8] = []) -> [UInt8] {
        JPEG.file(JPEG.quantisation, JPEG.frame(width: 800), JPEG.tables, interval, JPEG.scan(), data)
    }

    private func isIncomplete(_ bytes: [UInt8]) throws -> Bool {
        let bitmap = try ImageDecoders.standard.decode(bytes)
        #expect(bitmap.size == ImageSize(width: 800, height: 8))
        return bitmap.damage != nil
    }

    @Test("data that ends early, at a marker or with the file, gives an incomplete picture")
    func shortScan() throws {
        #expect(try isIncomplete(file([0, 0])))
        #expect(try isIncomplete(file([0, 0]).dropLast(2)))
        // The last bits start a code that zeros cannot end.
        #expect(try isIncomplete(file([0, 0b0000_0011])))
        #expect(try isIncomplete(file([0, 0b0000_0011]).dropLast(2)))
        #expect(try !isIncomplete(file(Array(repeating: 0, count: 25))))
        #expect(try isIncomplete(file(Array(repeating: 0, count: 25)).dropLast(2)))
    }

    @Test("a missing restart marker gives an incomplete picture")
    func missingRestart() throws {
        let interval = JPEG.segment(0xDD, [0, 1])
        #expect(try isIncomplete(file([0x3F, 0xFF, 0xD0, 0x3F], interval: interval)))
    }

    @Test(
        "missing blocks are grey, and decoded ones are not",
        arguments: ["baseline-420", "baseline-444", "restarts"])
    func even(name: String) throws {
        let bytes = try Resources.bytes("JPEG/\(name).jpg")
        let whole = try ImageDecoders.standard.decode(bytes)
        let cut = try ImageDecoders.standard.decode(Array(bytes.prefix(bytes.count * 9 / 10)))
        #expect(cut.size == whole.size && cut.damage != nil)
        #expect(cut.pixels.prefix(whole.width * 4) == whole.pixels.prefix(whole.width * 4))
        #expect(cut.pixels.suffix(4) == [128, 128, 128, 255])
    }

    @Test("a truncated progressive file gives the picture of its scans")
    func progressive() throws {
        let bytes = try Resources.bytes("JPEG/progressive-420.jpg")
        let whole = try ImageDecoders.standard.decode(bytes)
        let early = try ImageDecoders.standard.decode(Array(bytes.prefix(bytes.count / 2)))
        let later = try ImageDecoders.standard.decode(Array(bytes.prefix(bytes.count * 9 / 10)))
        let (earlyDifference, laterDifference) = (early.difference(to: whole), later.difference(to: whole))
        #expect(try #require(laterDifference).mean < #require(earlyDifference).mean)
        #expect(early.damage != nil && later.damage != nil)
    }

    @Test("a component without a scan is grey, and the picture is incomplete")
    func missingComponent() throws {
        let frame = JPEG.frame(components: (1...3).map { JPEG.Component(identifier: $0) })
        let bytes = JPEG.file(JPEG.quantisation, frame, JPEG.tables, JPEG.scan(), JPEG.greyBlock)
        let bitmap = try ImageDecoders.standard.decode(bytes)
        #expect(bitmap.damage != nil && bitmap.pixels.prefix(4) == [128, 128, 128, 255])
    }

    @Test("progressive blocks with only a refinement scan are incomplete")
    func refinementsAlone() throws {
        let bytes = JPEG.file(
            JPEG.quantisation, JPEG.frame(marker: 0xC2), JPEG.tables,
            JPEG.scan(spectrum: (0, 0), approximation: 0x10), [0xFF, 0x00])
        #expect(try ImageDecoders.standard.decode(bytes).damage != nil)
    }

    @Test("a progressive component without a scan makes the picture incomplete")
    func missingProgressiveComponent() throws {
        let frame = JPEG.frame(marker: 0xC2, components: (1...3).map { JPEG.Component(identifier: $0) })
        let scans = (1...2).flatMap { JPEG.scan(components: [($0, 0)], spectrum: (0, 0)) + JPEG.greyBlock }
        let bytes = JPEG.file(JPEG.quantisation, frame, JPEG.tables, scans)
        #expect(try ImageDecoders.standard.decode(bytes).damage != nil)
        let third = JPEG.scan(components: [(3, 0)], spectrum: (0, 0)) + JPEG.greyBlock
        #expect(
            try ImageDecoders.standard.decode(
                JPEG.file(JPEG.quantisation, frame, JPEG.tables, scans, third)
            ).damage == nil)
    }

    @Test("turning and averaging keep the picture incomplete")
    func turned() throws {
        let bytes = try Resources.bytes("JPEG/baseline-420.jpg")
        let file = JPEG.start + JPEG.exif(orientation: 6) + bytes.dropFirst(2).prefix(bytes.count / 2)
        #expect(try ImageDecoders.standard.decode(file).damage != nil)
        #expect(
            try ImageDecoders.standard.decode(file, fitting: ImageSize(width: 9, height: 9)).damage != nil)
    }
}
