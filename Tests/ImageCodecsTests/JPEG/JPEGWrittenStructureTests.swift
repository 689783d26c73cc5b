import ImageCodecs
import TestTraits
import Testing

/// The segments that the encoder writes, byte by byte.
@Suite("JPEG encoder: segments", .bounded)
struct JPEGWrittenStructureTests {
    private struct Segment {
        let marker: UInt8
        let body: [UInt8]
    }

    /// The segments up to the scan header, and the entropy-coded data, without the last two bytes.
    private func parts(of file: [UInt8]) throws -> (segments: [Segment], data: ArraySlice<UInt8>) {
        try #require(file.starts(with: [0xFF, 0xD8]) && file.suffix(2) == [0xFF, 0xD9])
        var segments: [Segment] = []
        var offset = 2
        while segments.last?.marker != 0xDA {
            try #require(offset + 4 <= file.count && file[offset] == 0xFF)
            let end = offset + 2 + Int(file[offset + 2]) << 8 + Int(file[offset + 3])
            try #require(end <= file.count)
            segments.append(Segment(marker: file[offset + 1], body: Array(file[offset + 4..<end])))
            offset = end
        }
        return (segments, file[offset..<file.count - 2])
    }

    private func bitmap(_ width: Int, _ height: Int, isGrey: Bool = false) throws -> Bitmap {
        var pixels = try #require(
            TestPicture.bitmap(ppm: TestPicture(width: width, height: height).ppm)
        ).pixels
        if isGrey {
            for index in stride(from: 0, to: pixels.count, by: 4) {
                (pixels[index], pixels[index + 2]) = (pixels[index + 1], pixels[index + 1])
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    @Test(
        "a colour picture: JFIF 1.1, two quantisation tables, a baseline frame, four Huffman tables, one scan"
    )
    func colour() throws {
        let file = try JPEGEncoder(quality: 50).encode(bitmap(300, 20))
        let (segments, data) = try parts(of: file)
        #expect(segments.map(\.marker) == [0xE0, 0xDB, 0xDB, 0xC0, 0xC4, 0xC4, 0xC4, 0xC4, 0xDA])
        #expect(segments[0].body == Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
        // At quality 50 the steps are those of T.81 K.1 and K.2, in zigzag order.
        #expect(segments[1].body.prefix(12) == [0, 16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18])
        #expect(segments[1].body.count == 65 && segments[1].body.last == 99)
        #expect(segments[2].body.prefix(12) == [1, 17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99])
        #expect(
            segments[3].body == [8, 0, 20, 1, 44, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
        #expect(segments[4...7].map { $0.body[0] } == [0x00, 0x10, 0x01, 0x11])
        #expect(segments[8].body == [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])
        for index in data.indices where data[index] == 0xFF { #expect(data[index + 1] == 0) }
    }

    @Test("4:4:4 has one block of each component per unit")
    func full() throws {
        let file = try JPEGEncoder(subsampling: .none).encode(bitmap(20, 10))
        let (segments, _) = try parts(of: file)
        #expect(segments[3].body == [8, 0, 10, 0, 20, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1])
    }

    @Test("a grey picture has one component and no chroma tables, whatever the subsampling")
    func grey() throws {
        let bitmap = try bitmap(61, 43, isGrey: true)
        let files = try JPEGEncoder.Subsampling.allCases.map {
            try JPEGEncoder(quality: 90, subsampling: $0).encode(bitmap)
        }
        #expect(Set(files).count == 1)
        let (segments, _) = try parts(of: files[0])
        #expect(segments.map(\.marker) == [0xE0, 0xDB, 0xC0, 0xC4, 0xC4, 0xDA])
        #expect(segments[2].body == [8, 0, 43, 0, 61, 1, 1, 0x11, 0])
        #expect(segments[5].body == [1, 1, 0, 0, 63, 0])
        let read = try ImageDecoders.standard.decode(files[0])
        #expect(try #require(read.peakSignalToNoise(to: bitmap)) > 33)
        // One pixel that is not grey makes it a colour picture.
        var pixels = bitmap.pixels
        pixels[pixels.count - 2] ^= 1
        let coloured = Bitmap(width: 61, height: 43, pixels: pixels)
        #expect(try parts(of: JPEGEncoder().encode(coloured)).segments[3].body[5] == 3)
    }

    @Test("the steps are 1 at quality 100, and fit a byte at quality 1", arguments: [(100, 1), (1, 255)])
    func steps(quality: Int, step: UInt8) throws {
        let (segments, _) = try parts(of: JPEGEncoder(quality: quality).encode(bitmap(9, 9)))
        for table in segments[1...2] { #expect(table.body.dropFirst().allSatisfy { $0 == step }) }
    }

    @Test("the codes of each table are complete but for the code of all ones, and at most 16 bits long")
    func codes() throws {
        for (bitmap, quality) in [
            (try bitmap(64, 64), 100), (try bitmap(8, 8), 1), (try bitmap(150, 90), 75),
        ] {
            let (segments, _) = try parts(of: JPEGEncoder(quality: quality).encode(bitmap))
            for table in segments where table.marker == 0xC4 {
                let counts = table.body[1...16].map(Int.init)
                #expect(counts.reduce(0, +) == table.body.count - 17)
                #expect(Set(table.body.dropFirst(17)).count == table.body.count - 17)
                let taken = counts.enumerated().reduce(0) { $0 + $1.element << (15 - $1.offset) }
                let longest = (counts.lastIndex { $0 > 0 } ?? 0) + 1
                // The missing code is among the longest, or one bit longer if there was none left.
                #expect(taken <= 65_536 - 1 << (16 - min(16, longest + 1)))
            }
        }
    }
}
