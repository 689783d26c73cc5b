import ImageCodecs
import TestTraits
import Testing

@Suite("Malformed JPEG", .bounded)
struct MalformedJPEGTests {
    private typealias JPEG = JPEGWriter
    private typealias Component = JPEGWriter.Component

    private func file(frame: [UInt8], scan: [UInt8] = JPEGWriter.scan()) -> [UInt8] {
        JPEG.file(JPEG.quantisation, frame, JPEG.tables, scan, JPEG.greyBlock)
    }

    private func file(tables: [UInt8]) -> [UInt8] {
        JPEG.file(JPEG.quantisation, JPEG.frame(), tables, JPEG.scan(), JPEG.greyBlock)
    }

    @Test("the file that the other tests change is valid")
    func sound() throws {
        let bitmap = try ImageDecoders.standard.decode(JPEG.grey)
        #expect(bitmap.pixels == [UInt8](repeating: 0, count: 64).flatMap { _ in [128, 128, 128, 255] })
    }

    @Test("segments of length 0 and 1 are empty, and one past the end is truncated")
    func segmentLengths() {
        for length: UInt8 in 0...1 {
            #expect(decodingError(JPEG.start + [0xFF, 0xDB, 0, length] + JPEG.grey.dropFirst(2)) == nil)
        }
        #expect(isTruncated([0xFF, 0xD8, 0xFF, 0xDB, 0xFF, 0xFF, 0]))
        #expect(isTruncated([0xFF, 0xD8, 0xFF]))
    }

    @Test("impossible frame headers are refused")
    func frames() {
        #expect(corruptSegment(file(frame: JPEG.frame(width: 0))) == "frame header")
        #expect(corruptSegment(file(frame: JPEG.frame(height: 0))) == "JPEG without a height")
        #expect(corruptSegment(file(frame: JPEG.frame(components: []))) == "frame header")
        #expect(
            corruptSegment(file(frame: JPEG.segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x11]))) == "frame header")
        for sampling in [0x01, 0x10, 0x51, 0x15, 0xFF] as [UInt8] {
            let frame = JPEG.frame(components: [Component(sampling: sampling)])
            #expect(corruptSegment(file(frame: frame)) == "sampling factors in the frame header")
        }
        let sameNames = [Component(identifier: 1), Component(identifier: 2), Component(identifier: 1)]
        #expect(corruptSegment(file(frame: JPEG.frame(components: sameNames))) == "component without a scan")
        #expect(
            corruptSegment(file(frame: JPEG.frame(components: [Component(table: 4)])))
                == "component in the frame header")
        #expect(corruptSegment(file(frame: JPEG.frame() + JPEG.frame())) == "second frame header")
        #expect(corruptSegment(JPEG.file(JPEG.quantisation, JPEG.tables)) == "JPEG without a frame header")
    }

    @Test("the error names an unsupported feature")
    func unsupported() {
        let two = [Component(identifier: 1), Component(identifier: 2)]
        #expect(unsupportedFeature(file(frame: JPEG.frame(components: two))) == "JPEG with 2 components")
        #expect(unsupportedFeature(file(frame: JPEG.frame(precision: 12))) == "JPEG with 12 bits per sample")
        #expect(unsupportedFeature(file(frame: JPEG.frame(marker: 0xC3))) == "lossless JPEG")
        #expect(unsupportedFeature(file(frame: JPEG.frame(marker: 0xC5))) == "hierarchical JPEG")
        #expect(unsupportedFeature(file(frame: JPEG.frame(marker: 0xC9))) == "JPEG with arithmetic coding")
        #expect(unsupportedFeature(file(frame: JPEG.frame(marker: 0xCA))) == "JPEG with arithmetic coding")
        #expect(unsupportedFeature(file(frame: JPEG.segment(0xCC, [0, 0]))) == "JPEG with arithmetic coding")
    }

    @Test("sizes over the limits are refused at the header, before samples are allocated")
    func limits() {
        #expect(exceededLimit(file(frame: JPEG.frame(width: 65_535, height: 65_535))) == .pixels)
        #expect(exceededLimit(file(frame: JPEG.frame(width: 30_000, height: 20_000))) == .pixels)
        #expect(exceededLimit(JPEG.grey, limits: DecodingLimits(inputBytes: 100)) == .inputBytes)
        #expect(exceededLimit(JPEG.grey, limits: DecodingLimits(side: 7)) == .side)
        #expect(exceededLimit(JPEG.grey, limits: DecodingLimits(pixels: 63)) == .pixels)
        #expect(
            decodingError(JPEG.grey, limits: DecodingLimits(inputBytes: 400, side: 8, pixels: 64, scans: 1))
                == nil)
    }

    @Test("invalid Huffman tables are refused")
    func huffmanTables() {
        let overSubscribed = JPEG.huffman(0x00, [1: [0, 1, 2]])
        #expect(corruptSegment(file(tables: overSubscribed)) == "Huffman table")
        let longOverSubscribed = JPEG.huffman(
            0x10, [1: [0], 2: [1], 15: [2, 3, 4, 5, 6], 16: Array(7..<255)])
        #expect(corruptSegment(file(tables: JPEG.huffman(0x10, [1: [0, 1], 16: [2]]))) == "Huffman table")
        #expect(
            corruptSegment(file(tables: JPEG.segment(0xC4, [0] + Array(repeating: 255, count: 16))))
                == "Huffman table")
        #expect(corruptSegment(file(tables: JPEG.segment(0xC4, [0, 1]))) == "Huffman table")
        #expect(
            corruptSegment(file(tables: JPEG.segment(0xC4, [0, 2] + Array(repeating: 0, count: 16))))
                == "Huffman table")
        #expect(corruptSegment(file(tables: JPEG.huffman(0x24, [1: [0]]))) == "Huffman table")
        #expect(corruptSegment(file(tables: JPEG.huffman(0x00, [1: [16]]))) == "Huffman table")
        // With 248 codes of 16 bits the table has the maximum size, which is valid.
        #expect(corruptSegment(file(tables: JPEG.tables + longOverSubscribed)) == nil)
    }

    @Test("invalid quantisation tables are refused")
    func quantisationTables() {
        func segment(_ body: [UInt8]) -> String? { corruptSegment(JPEG.file(JPEG.segment(0xDB, body))) }
        #expect(segment([0] + Array(repeating: 1, count: 63)) == "quantisation table")
        #expect(segment([0x10] + Array(repeating: 1, count: 64)) == "quantisation table")
        #expect(segment([0x20] + Array(repeating: 1, count: 192)) == "quantisation table")
        #expect(segment([0x04] + Array(repeating: 1, count: 64)) == "quantisation table")
        #expect(corruptSegment(JPEG.file(JPEG.segment(0xDD, [1]))) == "restart interval")
    }

    @Test("scan headers that do not fit the frame are refused")
    func scanHeaders() {
        func segment(_ scan: [UInt8]) -> String? { corruptSegment(file(frame: JPEG.frame(), scan: scan)) }
        #expect(segment(JPEG.scan(components: [(2, 0)])) == "scan header")
        #expect(segment(JPEG.scan(components: [(1, 0), (1, 0)])) == "scan header")
        #expect(segment(JPEG.scan(components: [])) == "scan header")
        #expect(segment(JPEG.scan(components: [(1, 0x40)])) == "scan header")
        #expect(segment(JPEG.segment(0xDA, [1, 1])) == "scan header")
        #expect(segment(JPEG.scan(components: [(1, 0x22)])) == "scan without its tables")
        #expect(
            corruptSegment(JPEG.file(JPEG.frame(), JPEG.tables, JPEG.scan(), JPEG.greyBlock))
                == "scan without its tables")
        #expect(corruptSegment(JPEG.file(JPEG.scan(), JPEG.greyBlock)) == "scan ahead of the frame header")
        #expect(corruptSegment(JPEG.file(JPEG.quantisation, JPEG.frame())) == "JPEG without a scan")
        let twice = JPEG.scan() + JPEG.greyBlock + JPEG.scan()
        #expect(segment(twice) == "second scan of a component")
    }

    @Test("invalid codes and coefficients past the end of a block are damage")
    func coefficients() {
        func segment(_ data: [UInt8]) -> String? {
            corruptSegment(JPEG.file(JPEG.quantisation, JPEG.frame(), JPEG.tables, JPEG.scan(), data))
        }
        #expect(segment([0b1110_0000, 0, 0, 0]) == "coefficients of a scan")
        // No difference, then five times fifteen zeros and a coefficient.
        #expect(segment([0b0100_1001, 0b0010_0100, 0, 0, 0, 0]) == "coefficients of a scan")
    }

    @Test("a restart marker out of order is damage")
    func restarts() {
        func segment(_ data: [UInt8]) -> String? {
            let interval = JPEG.segment(0xDD, [0, 1])
            let frame = JPEG.frame(width: 24)
            return corruptSegment(
                JPEG.file(JPEG.quantisation, frame, JPEG.tables, interval, JPEG.scan(), data))
        }
        #expect(segment([0x3F, 0xFF, 0xD0, 0x3F, 0xFF, 0xD1, 0x3F]) == nil)
        #expect(segment([0x3F, 0xFF, 0xD1, 0x3F, 0xFF, 0xD1, 0x3F]) == "RST1 instead of RST0")
    }

    @Test("zeros may run past the end of a block, as in other decoders; a coefficient may not")
    func zerosPastTheEnd() throws {
        // AC: 0 is sixteen zeros, 10 is fifteen and a coefficient of one bit.
        let tables = JPEG.huffman(0x00, [1: [0]]) + JPEG.huffman(0x10, [1: [0xF0], 2: [0xF1]])
        func data(_ bits: UInt8) -> [UInt8] {
            JPEG.file(JPEG.quantisation, JPEG.frame(), tables, JPEG.scan(), [bits, 0, 0, 0])
        }
        for target in [nil, ImageSize(width: 1, height: 1)] {
            #expect(try ImageDecoders.standard.decode(data(0b0000_0111), fitting: target).pixels[0] == 128)
            #expect(try ImageDecoders.standard.decode(data(0b0000_1011), fitting: target).damage != nil)
        }
    }

    @Test("progressive scans with impossible parameters are refused")
    func progressiveHeaders() {
        let frame = JPEG.frame(marker: 0xC2)
        func segment(_ spectrum: (UInt8, UInt8), _ approximation: UInt8) -> String? {
            corruptSegment(
                file(frame: frame, scan: JPEG.scan(spectrum: spectrum, approximation: approximation)))
        }
        #expect(segment((0, 0), 0) == nil)
        #expect(segment((0, 63), 0) == "scan header")
        #expect(segment((5, 4), 0) == "scan header")
        #expect(segment((1, 64), 0) == "scan header")
        #expect(segment((0, 0), 0x31) == "scan header")
        #expect(segment((0, 0), 0x0E) == "scan header")
    }

    @Test("a progressive scan that repeats endlessly stops at the limit")
    func scanBomb() {
        let scans = Array(repeating: JPEG.scan(spectrum: (0, 0)) + JPEG.greyBlock, count: 5000).flatMap(
            \.self)
        let bomb = file(frame: JPEG.frame(marker: 0xC2, width: 64, height: 64), scan: []) + scans
        #expect(exceededLimit(JPEG.start + bomb.dropFirst(2)) == nil)
        let frame = JPEG.frame(marker: 0xC2)
        #expect(exceededLimit(JPEG.file(JPEG.quantisation, frame, JPEG.tables, scans)) == .scans)
    }
}
