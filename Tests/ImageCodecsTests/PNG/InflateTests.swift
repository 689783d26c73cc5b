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

    @Test("a match past the picture's size ends the decoding, however long the stream continues")
    func bomb() {
        var bits = fixedBlock([0])
        // Length 258 at distance 1, a thousand times.
        for _ in 0..<1000 {
            bits.code(0b1100_0101, bits: 8)
            bits.code(0, bits: 5)
        }
        #expect(segment(bits) == nil)
    }

    @Test("a stored block whose length and complement differ is refused")
    func storedLength() {
        let blocks: [UInt8] = [1, 6, 0, 0xF8, 0xFF] + PNGWriter.rows
        #expect(
            corruptSegment(PNGWriter.file(imageData: PNGWriter.zlib(blocks, of: PNGWriter.rows)))
                == "stored block")
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

    /// A block with these codes behind it, each a value and its number of bits.
    private func block(_ start: DeflateBits, _ codes: (value: Int, bits: Int)...) -> DeflateBits {
        var block = start
        for code in codes { block.code(code.value, bits: code.bits) }
        return block
    }

    @Test("a block against the rules of RFC 1951 is refused")
    func refused() {
        // The code length code 18, many zeros, has one bit; in the longer list so has the length 1.
        let zeros = dynamicBlock(lengths: [0, 0, 1, 0])
        let ones = dynamicBlock(lengths: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        for (name, bits, error) in [
            ("a distance before the start", block(fixedBlock([0, 10]), (1, 7), (2, 5)), "distance"),
            ("a reserved block type", block(DeflateBits(), (7, 3)), "block type"),
            ("a reserved length", block(fixedBlock([0]), (0b1100_0110, 8)), "code"),
            ("a reserved distance", block(fixedBlock([0]), (1, 7), (30, 5)), "distance code"),
            (
                "an over-subscribed code of lengths", dynamicBlock(lengths: [1, 1, 1, 0]),
                "code of code lengths"
            ),
            ("an incomplete code of lengths", dynamicBlock(lengths: [1, 2, 0, 0]), "code of code lengths"),
            (
                "a repeated length without a last one",
                block(dynamicBlock(lengths: [1, 1, 0, 0]), (0, 1), (0, 2)), "code lengths"
            ),
            (
                "more lengths than codes", block(zeros, (0, 1), (127, 7), (0, 1), (127, 7), (0, 1), (127, 7)),
                "code lengths"
            ),
            // 138 and 120 zeros: the number 109 has its low bit first.
            ("no end of block", block(zeros, (0, 1), (127, 7), (0, 1), (0b101_1011, 7)), "codes"),
            ("258 codes of one bit", block(ones, (0, 258)), "codes"),
        ] as [(String, DeflateBits, String)] {
            #expect(segment(bits) == "DEFLATE " + error, "\(name)")
        }
        for many in [
            dynamicBlock(literals: 287, lengths: [0, 0, 0, 0]),
            dynamicBlock(distances: 31, lengths: [0, 0, 0, 0]),
        ] {
            #expect(segment(many) == "number of DEFLATE codes")
        }
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
