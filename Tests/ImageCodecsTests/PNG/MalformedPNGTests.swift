import ImageCodecs
import TestTraits
import Testing

@Suite("Malformed PNG", .bounded)
struct MalformedPNGTests {
    private typealias PNG = PNGWriter
    private let data = PNGWriter.chunk("IDAT", PNGWriter.stored(PNGWriter.rows))
    private let end = PNGWriter.chunk("IEND")
    private let header = PNGWriter.header()

    @Test("the file that the other tests change is valid")
    func sound() throws {
        let bitmap = try ImageDecoders.standard.decode(PNG.file(header, data, end))
        #expect(bitmap.pixels == [10, 20, 30, 40].flatMap { [$0, $0, $0, 255] })
    }

    @Test("chunks out of order are refused, and those that no pixel needs are ignored")
    func order() {
        #expect(corruptSegment(PNG.file(data, header, end)) == "first chunk is not IHDR")
        #expect(corruptSegment(PNG.file(header, header, data, end)) == "second IHDR chunk")
        #expect(corruptSegment(PNG.file(header, end)) == "PNG without IDAT")
        let text = PNG.chunk("tEXt")
        #expect(corruptSegment(PNG.file(header, data, text, data, end)) == "IDAT chunk apart from the others")
        let palette = PNG.chunk("PLTE", [1, 2, 3])
        #expect(decodingError(PNG.file(header, data, palette, end)) == nil)
        #expect(decodingError(PNG.file(header, palette, palette, data, end)) == nil)
        let transparency = PNG.chunk("tRNS", [0, 10])
        #expect(decodingError(PNG.file(header, data, transparency, end)) == nil)
        #expect(decodingError(PNG.file(header, transparency, transparency, data, end)) == nil)
        #expect(isTruncated(PNG.file(header, data)))
    }

    @Test("unknown ancillary chunks are skipped, and unknown critical chunks are named")
    func unknownChunks() {
        #expect(decodingError(PNG.file(header, PNG.chunk("abCd", [1]), data, end)) == nil)
        #expect(
            unsupportedFeature(PNG.file(header, PNG.chunk("ABCD", [1]), data, end))
                == "PNG with critical chunk ABCD")
        #expect(corruptSegment(PNG.file(header, PNG.chunk("AB\u{1B}D"), data, end)) == "type of a PNG chunk")
    }

    @Test("lengths past the file's end and above the maximum are refused")
    func lengths() {
        #expect(isTruncated(PNG.file(header, [0x7F, 0xFF, 0xFF, 0xFF] + Array("IDAT".utf8) + [1, 2, 3, 4])))
        #expect(
            corruptSegment(PNG.file(header, [0xFF, 0xFF, 0xFF, 0xFF] + Array("IDAT".utf8) + [1, 2, 3, 4]))
                == "length of IDAT chunk")
    }

    @Test("impossible headers are refused")
    func headers() {
        func error(_ header: [UInt8]) -> ImageDecodingError? { decodingError(PNG.file(header, data, end)) }
        #expect(error(PNG.header(width: 0)) == .corrupt(segment: "size in IHDR", offset: 16))
        #expect(error(PNG.header(height: 1 << 31)) == .corrupt(segment: "size in IHDR", offset: 16))
        #expect(error(PNG.header(depth: 4, colourType: 2)) != nil)
        #expect(error(PNG.header(depth: 16, colourType: 3)) != nil)
        #expect(error(PNG.header(interlace: 2)) != nil)
        #expect(exceededLimit(PNG.file(PNG.header(width: 65_536), data, end)) == .side)
        #expect(exceededLimit(PNG.file(PNG.header(width: 30_000, height: 20_000), data, end)) == .pixels)
        #expect(exceededLimit(PNG.file(PNG.header(width: 20_000, height: 20_000), data, end)) == .memory)
        let limitless = DecodingLimits(inputBytes: .max, side: .max, pixels: .max, scans: .max)
        let most = Int(Int32.max)
        #expect(
            exceededLimit(PNG.file(PNG.header(width: most, height: most), data, end), limits: limitless)
                == .side)
    }

    @Test(
        "invalid palettes are refused, indices past the palette are damage, and what is too long is cut or ignored"
    )
    func palettes() throws {
        let header = PNG.header(colourType: 3)
        let indices = PNG.chunk("IDAT", PNG.stored([0, 0, 1, 0, 1, 2]))
        #expect(decodingError(PNG.file(header, PNG.chunk("PLTE", Array(0..<9)), indices, end)) == nil)
        #expect(
            corruptSegment(PNG.file(header, PNG.chunk("PLTE", Array(0..<6)), indices, end))
                == "image data points past the palette")
        #expect(corruptSegment(PNG.file(header, indices, end)) == "palette picture without a palette")
        for count in [0, 4, 257 * 3] {
            let palette = PNG.chunk("PLTE", Array(repeating: 1, count: count))
            #expect(corruptSegment(PNG.file(header, palette, indices, end)) == "PLTE chunk")
        }
        let palette = PNG.chunk("PLTE", Array(0..<9))
        let tooLong = PNG.chunk("tRNS", [0, 1, 2, 3])
        let opaque = try ImageDecoders.standard.decode(PNG.file(header, palette, tooLong, indices, end))
        #expect(opaque.damage == nil && opaque.isOpaque)
        let twoColours = PNG.header(depth: 1, colourType: 3)
        let rows = PNG.chunk("IDAT", PNG.stored([0, 0, 0, 0x40]))
        #expect(decodingError(PNG.file(twoColours, palette, rows, end)) == nil)
    }

    @Test("wrong checksums are damage")
    func checks() {
        var file = PNG.file(header, data, end)
        file[file.count - 13] ^= 1
        #expect(corruptSegment(file) == "CRC of IDAT chunk")
        var stream = PNG.stored(PNG.rows)
        stream[stream.count - 1] ^= 1
        #expect(corruptSegment(PNG.file(imageData: stream)) == "Adler-32 of the image data")
    }

    @Test("corrupt ancillary chunks are skipped, however many there are")
    func damagedExtras() throws {
        var transparency = PNG.chunk("tRNS", [0, 10])
        transparency[transparency.count - 1] ^= 1
        let damaged = Array(repeating: transparency, count: 20_000).flatMap(\.self)
        let bitmap = try ImageDecoders.standard.decode(PNG.file(header, damaged, data, end))
        #expect(bitmap.pixels == [10, 20, 30, 40].flatMap { [$0, $0, $0, 255] })
    }

    @Test("rows from an unknown filter on are missing")
    func filter() throws {
        let file = PNG.file(imageData: PNG.stored([0, 1, 2, 5, 3, 4]))
        #expect(corruptSegment(file) == "filter type in row data")
        #expect(
            try ImageDecoders.standard.decode(file).pixels == [
                1, 1, 1, 255, 2, 2, 2, 255, 0, 0, 0, 0, 0, 0, 0, 0,
            ])
    }

    @Test("image data that is too short is damage, and the surplus of what is too long is ignored")
    func amount() {
        #expect(
            corruptSegment(PNG.file(imageData: PNG.stored(PNG.rows.dropLast()))) == "image data is too short")
        #expect(decodingError(PNG.file(imageData: PNG.stored(PNG.rows + [0]))) == nil)
        // Its end is missing too.
        #expect(decodingError(PNG.file(imageData: PNG.stored(PNG.rows + [0, 0]).dropLast(5))) == nil)
    }

    @Test(
        "a large picture is refused before it is allocated, if its data cannot expand to that size"
    )
    func largeHeader() {
        for interlace: UInt8 in [0, 1] {
            let large = PNG.header(
                width: 8_000, height: 5_000, depth: 16, colourType: 6, interlace: interlace)
            #expect(corruptSegment(PNG.file(large, data, end)) == "image data is too short")
        }
        let larger = PNG.header(width: 65_500, height: 65_500)
        #expect(exceededLimit(PNG.file(larger, data, end)) == .pixels)
    }

    @Test("compressed texts and profiles are never inflated, and thousands of empty IDAT chunks add nothing")
    func passedOver() throws {
        let texts = ["iCCP", "zTXt", "iTXt"].flatMap { PNG.chunk($0, Array("x\0\0 no zlib stream".utf8)) }
        let empty = Array(repeating: PNG.chunk("IDAT"), count: 2_000).flatMap(\.self)
        let bitmap = try ImageDecoders.standard.decode(PNG.file(header, texts, empty, data, empty, end))
        #expect(bitmap.pixels == [10, 20, 30, 40].flatMap { [$0, $0, $0, 255] })
    }
}
