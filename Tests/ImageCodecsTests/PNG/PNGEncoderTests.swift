import FoundationEssentials
import Glibc
import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("PNG encoder", .bounded)
struct PNGEncoderTests {
    private static let pictures = [
        "JPEG/baseline-444.jpg", "PngSuite/basn6a08.png", "PngSuite/basn3p08.png", "PngSuite/tbbn3p08.png",
        "PngSuite/basn0g01.png",
    ]

    private func bitmap(_ name: String) throws -> Bitmap {
        try ImageDecoders.standard.decode(Resources.bytes(name))
    }

    @Test("a written picture is read back, pixel by pixel", arguments: pictures)
    func whole(name: String) throws {
        let bitmap = try bitmap(name)
        let file = PNGEncoder().encode(bitmap)
        #expect(try ImageDecoders.standard.decode(file) == bitmap)
        #expect(throws: Never.self) { try ImageHeader.checkComplete(file) }
    }

    @Test("without alpha every pixel is opaque, and the colours stay", arguments: pictures)
    func opaque(name: String) throws {
        let bitmap = try bitmap(name)
        let written = try ImageDecoders.standard.decode(PNGEncoder(colors: .rgb).encode(bitmap))
        let (largest, _) = try #require(written.difference(to: bitmap.opaque))
        #expect(written.isOpaque && largest == 0)
    }

    @Test(
        "a picture of few colours keeps them in a palette", arguments: ["basn3p08", "tbbn3p08", "basn0g01"])
    func fewColours(name: String) throws {
        let bitmap = try bitmap("PngSuite/\(name).png")
        let file = PNGEncoder(colors: .palette).encode(bitmap)
        #expect(file[25] == 3)
        #expect(try ImageDecoders.standard.decode(file) == bitmap)
    }

    @Test("a picture of many colours gets 256 similar ones, and one for transparent pixels")
    func manyColours() throws {
        let picture = TestPicture(width: 120, height: 90)
        var pixels = try #require(TestPicture.bitmap(ppm: picture.ppm)).pixels
        let opaque = Bitmap(width: 120, height: 90, pixels: pixels)
        let written = try ImageDecoders.standard.decode(PNGEncoder(colors: .palette).encode(opaque))
        #expect(try #require(written.peakSignalToNoise(to: opaque)) > 28)
        #expect(
            Set(stride(from: 0, to: pixels.count, by: 4).map { written.pixels[$0..<$0 + 4] }).count <= 256)
        for index in stride(from: 3, to: pixels.count / 2, by: 4) { pixels[index] = 3 }
        let half = Bitmap(width: 120, height: 90, pixels: pixels)
        let seen = try ImageDecoders.standard.decode(PNGEncoder(colors: .palette).encode(half))
        #expect(seen.pixels[3] == 0 && seen.pixels[pixels.count - 1] == 255)
    }

    @Test("repetition is compressed, and noise grows by at most a hundredth")
    func size() {
        let flat = Bitmap(width: 300, height: 300, pixels: [UInt8](repeating: 255, count: 360_000))
        #expect(PNGEncoder(colors: .rgb).encode(flat).count < 1000)
        var random = SeededNumbers(seed: 11)
        let noise = (0..<40_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(PNGEncoder().encode(Bitmap(width: 100, height: 100, pixels: noise)).count < 40_500)
    }

    @Test("frequencies that need too long codes get codes that fit")
    func longCodes() throws {
        // Each level is twice as frequent as the last: Huffman's own code would be 16 bits long, and 15 fit.
        let levels = (0..<17).flatMap { level in [UInt8](repeating: UInt8(level * 11), count: 1 << level) }
        var shuffled = levels
        var random = SeededNumbers(seed: 13)
        shuffled.shuffle(using: &random)
        shuffled.removeLast(shuffled.count % 256)
        let pixels = shuffled.flatMap { level -> [UInt8] in [level, level, level, 255] }
        let bitmap = Bitmap(width: 256, height: pixels.count / 1024, pixels: pixels)
        for colours in PNGEncoder.Colors.allCases {
            #expect(try ImageDecoders.standard.decode(PNGEncoder(colors: colours).encode(bitmap)) == bitmap)
        }
    }

    @Test(
        "pngtopnm reads the same pixels", .ownThread,
        .enabled(if: Shell.has("pngtopnm"), "pngtopnm (netpbm) is not installed"))
    func otherReader() throws {
        let bitmap = try bitmap("JPEG/baseline-444.jpg")
        let folder = try TemporaryFolder()
        for colours in [PNGEncoder.Colors.rgb, .rgba] {
            try Data(PNGEncoder(colors: colours).encode(bitmap)).write(
                to: URL(filePath: folder.file("a.png")))
            let pixels = try #require(try Netpbm.pixels(ofPNG: folder.file("a.png"), in: folder))
            #expect(TestPicture.bitmap(ppm: pixels) == bitmap)
        }
    }
}

extension Bitmap {
    fileprivate var opaque: Bitmap {
        Bitmap(
            width: width, height: height,
            pixels: pixels.enumerated().map { $0.offset % 4 == 3 ? 255 : $0.element })
    }
}
