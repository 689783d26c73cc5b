import ImageCodecs
import TestTraits
import Testing

@Suite("Animated PNG", .bounded)
struct AnimatedPNGTests {
    private typealias PNG = PNGWriter

    /// A frame (APNG 1.0: sequence number, sides, offsets, delay, disposal, blending), by default 2 x 2 at
    /// the corner.
    private func frame(_ number: Int, width: Int = 2, height: Int = 2, column: Int = 0, row: Int = 0)
        -> [UInt8]
    {
        PNG.chunk("fcTL", [number, width, height, column, row].flatMap(PNG.bigEndian) + [0, 1, 0, 10, 0, 0])
    }

    private func data(_ number: Int, _ stream: some Sequence<UInt8>) -> [UInt8] {
        PNG.chunk("fdAT", PNG.bigEndian(number) + stream)
    }

    private let animation = PNGWriter.chunk("acTL", PNGWriter.bigEndian(2) + PNGWriter.bigEndian(0))
    private let picture = PNGWriter.chunk("IDAT", PNGWriter.stored(PNGWriter.rows))
    private let end = PNGWriter.chunk("IEND")
    /// The rows of another picture, with the levels 50 to 80.
    private let otherRows: [UInt8] = [0, 50, 60, 0, 70, 80]

    private func opaque(_ levels: [UInt8]) -> [UInt8] { levels.flatMap { [$0, $0, $0, 255] } }

    private func pixels(_ chunks: [UInt8]...) throws -> [UInt8] {
        try ImageDecoders.standard.decode(PNG.file(PNG.header(), chunks.flatMap(\.self), end)).pixels
    }

    @Test("an animation is decoded to its first frame, and the others are skipped")
    func firstFrame() throws {
        let pixels = try pixels(
            animation, frame(0), picture, frame(1), data(2, PNG.stored([0, 9, 9, 0, 9, 9])))
        #expect(pixels == opaque([10, 20, 30, 40]))
    }

    @Test(
        "a default image without a frame is not part of the animation: the first frame after it is decoded"
    )
    func firstFrameElsewhere() throws {
        let stream = PNG.stored(otherRows)
        let last = PNG.chunk("fcTL") + data(9, PNG.stored([0, 9, 9, 0, 9, 9]))
        #expect(
            try pixels(animation, picture, frame(0), data(1, stream), last) == opaque([50, 60, 70, 80]))
        #expect(
            try pixels(
                animation, picture, frame(0), data(1, stream.prefix(3)), data(2, stream.dropFirst(3)), last)
                == opaque([50, 60, 70, 80]))
    }

    @Test("a first frame smaller than the picture is at its place, with full transparency around it")
    func smallFrame() throws {
        let small = frame(0, width: 1, height: 2, column: 1) + data(1, PNG.stored([0, 50, 0, 70]))
        let clear: [UInt8] = [0, 0, 0, 0]
        #expect(
            try pixels(animation, picture, small)
                == clear + opaque([50]) + clear + opaque([70]))
        let file = PNG.file(PNG.header(), animation, picture, small, end)
        let shrunk = try ImageDecoders.standard.decode(file, fitting: ImageSize(width: 1, height: 1))
        #expect(shrunk.pixels == [60, 60, 60, 128])
    }

    @Test(
        "the default image is decoded if the first frame is out of bounds or empty, or if there is no acTL")
    func noFrame() throws {
        let other = data(1, PNG.stored(otherRows))
        let levels = opaque([10, 20, 30, 40])
        #expect(try pixels(animation, picture, frame(0, width: 3), other) == levels)
        #expect(try pixels(animation, picture, frame(0, row: 1), other) == levels)
        #expect(try pixels(animation, picture, frame(0, width: 0), other) == levels)
        #expect(try pixels(animation, picture, frame(0)) == levels)
        #expect(try pixels(picture, frame(0), other) == levels)
        #expect(try pixels(picture, animation, frame(0), other) == levels)
    }

    @Test("thousands of frames are skipped")
    func manyFrames() throws {
        let frames = (0..<2_000).flatMap { frame(2 * $0) + data(2 * $0 + 1, []) }
        #expect(try pixels(animation, frame(0), picture, frames) == opaque([10, 20, 30, 40]))
    }
}
