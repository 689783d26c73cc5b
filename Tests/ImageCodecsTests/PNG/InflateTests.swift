import ImageCodecs
import TestTraits
import Testing

@Suite("Malformed DEFLATE", .bounded)
struct InflateTests {
    private func segment(_ blocks: DeflateBits) -> String? {
        corruptSegment(PNGWriter.file(imageData: PNGWriter.zlib(blocks.bytes, of: PNGWriter.rows)))
    }

    /// A last block of the fixed code with the rows of the test picture, without its end.
    private func fixedBlock(_ bytes: [UInt8]) -> DeflateBits {
        var bits = DeflateBits()
        bits.number(1, bits: 1)
        bits.number(1, bits: 2)
        for byte in bytes { bits.literal(byte) }
        return bits
    }

    @Test("a block of the fixed code is read, with matches")
    func fixedCode() throws {
        var bits = fixedBlock([0, 10])
        // Length 3 at distance 1, then the last byte and the end.
        bits.code(1, bits: 7)
        bits.code(0, bits: 5)
        bits.literal(40)
        bits.code(0, bits: 7)
        let rows: [UInt8] = [0, 10, 10, 10, 10, 40]
        let stream = PNGWriter.zlib(bits.bytes, of: rows)
        // The second row's filter byte is 10, which is invalid: the stream was read, and the row was refused.
        #expect(corruptSegment(PNGWriter.file(imageData: stream)) == "filter type in row data")
    }

    @Test("a distance before the start is refused")
    func distance() {
        var bits = fixedBlock([0, 10])
        bits.code(1, bits: 7)
        bits.code(2, bits: 5)
        #expect(segment(bits) == "DEFLATE distance")
    }

    @Test("a match past the picture's size is refused, however long the stream continues")
    func bomb() {
        var bits = fixedBlock([0])
        // Length 258 at distance 1, a thousand times.
        for _ in 0..<1000 {
            bits.code(0b1100_0101, bits: 8)
            bits.code(0, bits: 5)
        }
        #expect(segment(bits) == "image data is too long")
    }

    @Test("a reserved block type is refused")
    func blockKind() {
        var bits = DeflateBits()
        bits.number(7, bits: 3)
        #expect(segment(bits) == "DEFLATE block type")
    }

    @Test("a stored block whose length and complement differ is refused")
    func storedLength() {
        let blocks: [UInt8] = [1, 6, 0, 0xF8, 0xFF] + PNGWriter.rows
        #expect(
            corruptSegment(PNGWriter.file(imageData: PNGWriter.zlib(blocks, of: PNGWriter.rows)))
                == "stored block")
    }

    @Test("reserved codes are refused")
    func reservedCodes() {
        var length = fixedBlock([0])
        length.code(0b1100_0110, bits: 8)
        #expect(segment(length) == "DEFLATE code")
        var distance = fixedBlock([0])
        distance.code(1, bits: 7)
        distance.code(30, bits: 5)
        #expect(segment(distance) == "DEFLATE distance code")
    }

    /// The start of a dynamic block: its counts, and the lengths of the code length code in their order.
    private func dynamicBlock(literals: Int = 257, distances: Int = 1, lengths: [Int]) -> DeflateBits {
        var bits = DeflateBits()
        bits.number(1, bits: 1)
        bits.number(2, bits: 2)
        bits.number(literals - 257, bits: 5)
        bits.number(distances - 1, bits: 5)
        bits.number(lengths.count - 4, bits: 4)
        for length in lengths { bits.number(length, bits: 3) }
        return bits
    }

    @Test("thousands of dynamic blocks without any bytes end the decoding")
    func emptyBlocks() {
        func empty(_ count: Int) -> String? {
            var bits = DeflateBits()
            for number in 1...count {
                bits.number(number == count ? 1 : 0, bits: 1)
                bits.number(2, bits: 2)
                bits.number(0, bits: 10)
                // The code length code: 18 (many zeros) and 1, one bit each; then 256 zeros and two codes.
                let lengths = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
                bits.number(lengths.count - 4, bits: 4)
                for length in lengths { bits.number(length, bits: 3) }
                for zeros in [138, 118] {
                    bits.code(1, bits: 1)
                    bits.number(zeros - 11, bits: 7)
                }
                // The codes of the end of block and of one distance; then the end of block.
                bits.code(0, bits: 3)
            }
            return segment(bits)
        }
        #expect(empty(1_000) == "image data is too short")
        #expect(empty(1_100) == "number of DEFLATE blocks")
    }

    @Test("more codes than symbols are refused")
    func tooManyCodes() {
        #expect(segment(dynamicBlock(literals: 287, lengths: [0, 0, 0, 0])) == "number of DEFLATE codes")
        #expect(segment(dynamicBlock(distances: 31, lengths: [0, 0, 0, 0])) == "number of DEFLATE codes")
    }

    @Test("an over-subscribed or incomplete code length code is refused")
    func codeOfCodeLengths() {
        #expect(segment(dynamicBlock(lengths: [1, 1, 1, 0])) == "DEFLATE code of code lengths")
        #expect(segment(dynamicBlock(lengths: [1, 2, 0, 0])) == "DEFLATE code of code lengths")
    }

    @Test("repeating the last code length is refused if there is none")
    func repeatOfNothing() {
        var bits = dynamicBlock(lengths: [1, 1, 0, 0])
        bits.code(0, bits: 1)
        bits.number(0, bits: 2)
        #expect(segment(bits) == "DEFLATE code lengths")
    }

    @Test("code lengths past their number are refused")
    func tooManyLengths() {
        var bits = dynamicBlock(lengths: [0, 0, 1, 0])
        for _ in 0..<3 {
            bits.code(0, bits: 1)
            bits.number(127, bits: 7)
        }
        #expect(segment(bits) == "DEFLATE code lengths")
    }

    @Test("a block without an end code is refused")
    func noEndOfBlock() {
        var bits = dynamicBlock(lengths: [0, 0, 1, 0])
        for rest in [127, 109] {
            bits.code(0, bits: 1)
            bits.number(rest, bits: 7)
        }
        #expect(segment(bits) == "DEFLATE codes")
    }

    @Test("an over-subscribed literal code is refused")
    func overSubscribed() {
        // The code length code: 18 (many zeros) and 1, one bit each.
        var bits = dynamicBlock(lengths: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        for _ in 0..<258 { bits.code(0, bits: 1) }
        #expect(segment(bits) == "DEFLATE codes")
    }

    @Test(
        "a zlib header with another method, window or dictionary is refused",
        arguments: [0x7900, 0x88, 0x7821, 0x7802])
    func zlibHeader(header: Int) {
        var stream = PNGWriter.stored(PNGWriter.rows)
        stream[0] = UInt8(header >> 8)
        stream[1] = UInt8(header & 255)
        #expect(corruptSegment(PNGWriter.file(imageData: stream)) == "zlib header")
    }

    @Test("a stream cut at any byte is truncated")
    func truncated() {
        let stream = PNGWriter.stored(PNGWriter.rows)
        for length in 0..<stream.count {
            #expect(isTruncated(PNGWriter.file(imageData: Array(stream.prefix(length)))))
        }
    }
}
