import ImageCodecs
import SystemSupport
import TestTraits
import Testing

/// Pictures are published without what their cameras and editors have noted about their owners.
@Suite("Stripped metadata", .bounded)
struct ImageMetadataTests {
    private typealias JPEG = JPEGWriter
    private typealias PNG = PNGWriter

    /// Exif with an orientation and a directory of GPS: latitude 52 degrees 31 minutes N (Exif 2.32, 4.6.6).
    private static func exifTIFF(orientation: UInt8 = 1) -> [UInt8] {
        let header: [UInt8] = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 2]
        let entries: [UInt8] = [
            0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0,
            0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38,
        ]
        let position: [UInt8] =
            [0, 1, 0, 2, 0, 5, 0, 0, 0, 3, 0, 0, 0, 56, 0, 0, 0, 0]
            + [52, 1, 31, 1, 0, 1].flatMap(PNGWriter.bigEndian)
        return header + entries + [0, 0, 0, 0] + position
    }

    private static func exif(orientation: UInt8 = 1) -> [UInt8] {
        JPEG.segment(0xE1, Array("Exif".utf8) + [0, 0] + exifTIFF(orientation: orientation))
    }

    /// The three numbers of the latitude: their bytes must be nowhere in a published file.
    private static let latitude = [52, 1, 31, 1].flatMap(PNGWriter.bigEndian)
    private static let secret = Array("GPS and names".utf8)

    private static let secretSegments: [[UInt8]] = [
        exif(), JPEG.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + secret),
        JPEG.segment(0xE0, Array("JFXX\0".utf8) + secret), JPEG.segment(0xE2, Array("MPF\0".utf8) + secret),
        JPEG.segment(0xEB, secret), JPEG.segment(0xED, Array("Photoshop 3.0\0".utf8) + secret),
        JPEG.segment(0xFE, secret), JPEG.segment(0xF0, secret), secret,
    ]

    @Test("a JPEG without metadata stays byte for byte", arguments: Resources.jpegs)
    func plainJPEG(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        #expect(try ImageMetadata.strip(file) == file)
    }

    @Test("a JPEG loses metadata at every place, and nothing else", arguments: Resources.jpegs)
    func jpeg(name: String) throws {
        let plain = try Resources.bytes("JPEG/\(name).jpg")
        var file = Array(plain.prefix(2))
        var rest = plain.dropFirst(2)
        // Before each segment, up to the first scan and between the scans of a progressive file.
        while let marker = rest.dropFirst().first, rest.first == 0xFF, marker != 0xD9 {
            file += Self.secretSegments.flatMap(\.self)
            let length = 2 + Int(rest[rest.startIndex + 2]) << 8 + Int(rest[rest.startIndex + 3])
            file += rest.prefix(length)
            rest = rest.dropFirst(length)
            guard marker == 0xDA else { continue }
            while let first = rest.first, let second = rest.dropFirst().first {
                if first == 0xFF, second != 0, !(0xD0...0xD7).contains(second) { break }
                file.append(first)
                rest = rest.dropFirst()
            }
        }
        file += rest + Self.secret
        #expect(file.contains(sequence: Self.secret) && file.contains(sequence: Self.latitude))
        #expect(try ImageMetadata.strip(file) == plain)
    }

    @Test("each orientation is kept, and of Exif nothing else", arguments: UInt8(1)...8)
    func orientation(_ orientation: UInt8) throws {
        let plain = try Resources.bytes("JPEG/baseline-420.jpg")
        let file = JPEG.start + Self.exif(orientation: orientation) + plain.dropFirst(2)
        let stripped = try ImageMetadata.strip(file)
        #expect(!stripped.contains(sequence: Self.latitude))
        #expect(stripped.count == plain.count + (orientation == 1 ? 0 : 36))
        let before = try ImageDecoders.standard.decode(file)
        #expect(try ImageDecoders.standard.decode(stripped).pixels == before.pixels)
        #expect(try ImageHeader(parsing: stripped).size == before.size)
        #expect(try ImageMetadata.strip(stripped) == stripped)
    }

    @Test("an orientation behind the frame header is kept")
    func lateOrientation() throws {
        let file = JPEG.file(
            JPEG.quantisation, JPEG.frame(), Self.exif(orientation: 6), JPEG.tables, JPEG.scan(),
            JPEG.greyBlock)
        #expect(try ImageMetadata.strip(file).count == JPEG.grey.count + 36)
    }

    @Test("colour profile, Adobe's transform and JFIF's density are kept, JFIF's thumbnail is not")
    func look() throws {
        let density: [UInt8] = [1, 2, 1, 0, 72, 0, 73]
        func jfif(_ thumbnail: [UInt8]) -> [UInt8] {
            JPEG.segment(0xE0, Array("JFIF\0".utf8) + density + thumbnail)
        }
        let profile =
            JPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 2] + [UInt8](repeating: 7, count: 300))
            + JPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [2, 2, 9])
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        let rest = [JPEG.quantisation, JPEG.frame(), JPEG.tables, JPEG.scan(), JPEG.greyBlock].flatMap(\.self)
        let file = JPEG.file(
            jfif([1, 1] + [250, 251, 252]), jfif([0, 0]), profile, JPEG.segment(0xEE, adobe + Self.secret),
            rest)
        #expect(
            try ImageMetadata.strip(file)
                == JPEG.file(jfif([0, 0]), profile, JPEG.segment(0xEE, adobe), rest))
    }

    @Test("a PNG loses texts, times, Exif and what follows its end, and keeps its look")
    func png() throws {
        let kept =
            ["cHRM", "gAMA", "sRGB", "cICP", "sBIT"].flatMap { PNG.chunk($0, [1, 2, 3, 4]) }
            + PNG.chunk("iCCP", Array("profile\0\0".utf8) + [9])
        let placed =
            PNG.chunk("bKGD", [0, 1]) + PNG.chunk("pHYs", PNG.bigEndian(2835) + PNG.bigEndian(2835) + [1])
        let transparent = PNG.chunk("tRNS", [0, 30])
        let animation =
            PNG.chunk("acTL", PNG.bigEndian(1) + PNG.bigEndian(0))
            + PNG.chunk("fcTL", [0, 2, 2, 0, 0].flatMap(PNG.bigEndian) + [0, 1, 0, 10, 0, 0])
        let data = PNG.chunk("IDAT", PNG.stored(PNG.rows))
        let later = PNG.chunk("fdAT", PNG.bigEndian(1) + PNG.stored(PNG.rows))
        let secrets =
            ["tEXt", "zTXt", "iTXt", "tIME", "caBX", "zxIf"].flatMap { PNG.chunk($0, Self.secret) }
            + PNG.chunk("eXIf", Self.exifTIFF())
        let plain = PNG.file(
            PNG.header(), kept, transparent, placed, animation, data, later, PNG.chunk("IEND"))
        let file =
            PNG.file(
                PNG.header(), secrets, kept, transparent, secrets, placed, animation, data, secrets, later,
                secrets, PNG.chunk("IEND")) + Self.secret
        #expect(try ImageMetadata.strip(file) == plain)
        #expect(
            try ImageDecoders.standard.decode(file).pixels == ImageDecoders.standard.decode(plain).pixels)
    }

    @Test("a PNG keeps its orientation, and of Exif nothing else", arguments: UInt8(1)...8)
    func orientationOfPNG(_ orientation: UInt8) throws {
        let data = PNG.chunk("IDAT", PNG.stored(PNG.rows))
        let file = PNG.file(
            PNG.header(), PNG.chunk("eXIf", Self.exifTIFF(orientation: orientation)), data, PNG.chunk("IEND"))
        let small = JPEG.exif(orientation: orientation).dropFirst(10)
        let exif = orientation == 1 ? [] : PNG.chunk("eXIf", Array(small))
        #expect(try ImageMetadata.strip(file) == PNG.file(PNG.header(), exif, data, PNG.chunk("IEND")))
    }

    @Test("every PNG of the suite has the same pixels without its metadata")
    func suite() throws {
        for line in try String(decoding: Resources.bytes("PngSuite/expected.tsv"), as: UTF8.self).split(
            separator: "\n")
        {
            let name = line.prefix { $0 != "\t" }
            guard let file = try? Resources.bytes("PngSuite/\(name)"),
                let before = try? ImageDecoders.standard.decode(file)
            else { continue }
            let stripped = try ImageMetadata.strip(file)
            #expect(try ImageDecoders.standard.decode(stripped).pixels == before.pixels, "\(name)")
            #expect(try ImageMetadata.strip(stripped) == stripped)
        }
    }

    @Test("another format is refused by name, and other bytes too")
    func otherFormats() {
        #expect(throws: ImageDecodingError.unsupported(feature: "JPEG XL")) {
            try ImageMetadata.strip([0xFF, 0x0A])
        }
        #expect(throws: ImageDecodingError.unrecognized) { try ImageMetadata.strip(Self.secret) }
    }

    @Test(
        "whatever is cut off or changed in a file, it is stripped if it is whole, and has the same pixels",
        arguments: ["JPEG/baseline-420.jpg", "JPEG/progressive-420.jpg", "PngSuite/tbbn3p08.png"])
    func damaged(name: String) throws {
        let plain = try Resources.bytes(name)
        let isJPEG = name.hasSuffix("jpg")
        let file =
            isJPEG
            ? plain.prefix(2) + Self.exif(orientation: 8) + Self.secretSegments[1] + plain.dropFirst(2)
            : plain
        var random = SeededNumbers(seed: UInt64(file.count))
        let limits = DecodingLimits(side: 256, pixels: 4096)
        func check(_ damaged: [UInt8]) throws {
            // Ignored: bytes that cannot be decoded are refused before they are stripped.
            let before = try? ImageDecoders.standard.decode(damaged, limits: limits)
            // Ignored: it must not trap.
            let stripped = try? ImageMetadata.strip(damaged)
            guard let before, before.damage == nil else { return }
            let after = try ImageDecoders.standard.decode(try #require(stripped), limits: limits)
            #expect(after.pixels == before.pixels && after.damage == nil)
        }
        for _ in 0..<Rounds.count(60, many: 1000) {
            try check(Array(file.prefix(Int.random(in: 0..<file.count, using: &random))))
            var flipped = Array(file)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let bit = Int.random(in: 0..<file.count * 8, using: &random)
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            try check(flipped)
        }
    }
}
