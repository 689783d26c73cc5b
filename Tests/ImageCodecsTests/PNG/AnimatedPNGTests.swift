import ImageCodecs
import Testing

@Suite("Animated PNG", .timeLimit(.minutes(1)))
struct AnimatedPNGTests {
    private typealias PNG = PNGWriter

    /// A frame of 2 x 2 at the corner (APNG 1.0: sequence number, sides, offsets, delay, disposal, blending).
    private func frame(_ number: Int) -> [UInt8] {
        PNG.chunk("fcTL", [number, 2, 2, 0, 0].flatMap(PNG.bigEndian) + [0, 1, 0, 10, 0, 0])
    }

    @Test("its first frame is the picture, and the others are passed over")
    func firstFrame() throws {
        let second = PNG.chunk("fdAT", PNG.bigEndian(2) + PNG.stored([0, 9, 9, 0, 9, 9]))
        let animation = PNG.chunk("acTL", PNG.bigEndian(2) + PNG.bigEndian(0))
        let file = PNG.file(
            PNG.header(), animation, frame(0), PNG.chunk("IDAT", PNG.stored(PNG.rows)), frame(1), second,
            PNG.chunk("IEND"))
        let bitmap = try ImageDecoders.standard.decode(file)
        let expected = [10, 20, 30, 40].flatMap { level -> [UInt8] in [level, level, level, 255] }
        #expect(bitmap.pixels == expected)
    }
}
