import ImageCodecs
import SystemSupport
import TestTraits
import Testing

/// No bytes may trap, or take long.
@Suite("Corrupt files", .bounded)
struct RobustnessTests {
    private static let pngs = [
        "PngSuite/basi3p02.png", "PngSuite/basn0g01.png", "PngSuite/tbbn3p08.png", "PngSuite/basi6a08.png",
    ]
    private static let webps = [
        "lossy", "lossy-simple-filter", "lossy-low", "lossy-high", "lossy-alpha", "lossy-raw-alpha",
        "lossless",
        "lossless-palette", "lossless-alpha", "lossless-fast",
    ]
    private static let cutFiles =
        cuts(["JPEG/grey.jpg", "JPEG/baseline-420.jpg", "JPEG/progressive-444-restarts.jpg"] + pngs)
        + cuts(["GIF/photo.gif", "GIF/interlaced.gif"], every: 7, behind: 6)
        + cuts(webps.map { "WebP/\($0).webp" }, every: 11, behind: 2)
        // An animation is whole with its first frame.
        + cuts(["WebP/animated.webp"], every: 3, behind: 310)
    private static let flippedFiles = Resources.jpegs.map { "JPEG/\($0).jpg" } + pngs
    private static let gifs = ["photo", "interlaced", "animated", "transparent", "small-frame"]
    private static let bmps = ["rgb", "palette", "runs", "rgb565"]
    private static let changedFiles: [String] =
        (webps + ["animated"]).map { "WebP/\($0).webp" } + gifs.map { "GIF/\($0).gif" }
        + bmps.map { "BMP/\($0).bmp" }
    /// A changed bit may enlarge the picture. The limits keep the tests short.
    private static let limits = DecodingLimits(side: 256, pixels: 4096)

    /// - Parameters:
    ///   - step: how many bytes apart the files are cut.
    ///   - behind: how many of their last bytes a whole picture does not need.
    private static func cuts(_ files: [String], every step: Int = 1, behind: Int = 0) -> [(String, Int, Int)]
    {
        files.map { ($0, step, behind) }
    }

    @Test("a file cut at any byte is refused, or gives a damaged picture", arguments: cutFiles)
    func cut(name: String, step: Int, behind: Int) throws {
        let file = try Resources.bytes(name)
        #expect(try ImageDecoders.standard.decode(file).damage == nil)
        for length in stride(from: 0, to: file.count - behind, by: step) {
            let bitmap = try? ImageDecoders.standard.decode(Array(file.prefix(length)))
            if let bitmap, bitmap.damage == nil {
                Issue.record("\(name) cut to \(length) bytes was decoded as whole")
            }
        }
    }

    @Test("flipped bits give a picture of the header's size, or an error", arguments: flippedFiles)
    func flippedBits(name: String) throws {
        let original = try Resources.bytes(name)
        var random = SeededNumbers(seed: UInt64(original.count))
        let limits = Self.limits
        for _ in 0..<Rounds.count(50, many: 300) {
            var file = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let bit = Int.random(in: 0..<file.count * 8, using: &random)
                file[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            do throws(ImageDecodingError) {
                let bitmap = try ImageDecoders.standard.decode(file, limits: limits)
                let header = try ImageHeader(parsing: file)
                #expect(bitmap.size == header.size)
                let anchor = ImageContentMode.Anchor.allCases.randomElement(using: &random) ?? .center
                let sizing = ImageSizing(ImageSize(width: 9, height: 4), mode: .fill(anchor))
                let filled = try ImageDecoders.standard.decode(file, sizing: sizing, limits: limits)
                #expect(filled.width <= 9 && filled.height <= 4 && filled.damage == bitmap.damage)
                let bytes = file.span
                guard try ImageDecoders.standard.plan(for: bytes, notBelow: nil).planes != nil else {
                    continue
                }
                let planes = try ImageDecoders.standard.decodePlanes(bytes, notBelow: nil, limits: limits)
                #expect(planes.size == bitmap.size && planes.damage == bitmap.damage)
                #expect(planes.resampled(to: sizing).size == filled.size)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("any changed byte gives a picture of the header's size, or an error", arguments: changedFiles)
    func changedBytes(name: String) throws {
        let original = try Resources.bytes(name)
        var random = SeededNumbers(seed: UInt64(original.count))
        // Half of the changes to a BMP are in its header.
        let start = name.hasPrefix("BMP") ? 80 : original.count
        for round in 0..<Rounds.count(60, many: 2000) {
            var file = original
            let index = Int.random(in: 0..<(round % 2 == 0 ? start : file.count), using: &random)
            file[index] = UInt8.random(in: 0...255, using: &random)
            do throws(ImageDecodingError) {
                let bitmap = try ImageDecoders.standard.decode(file, limits: Self.limits)
                #expect(try ImageHeader(parsing: file).size == bitmap.size)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("corrupt data with correct checksums reaches inflate and the filters, and never traps")
    func damagedStreams() throws {
        var random = SeededNumbers(seed: 7)
        let header = PNGWriter.header(width: 16, height: 16, depth: 8, colourType: 2)
        for _ in 0..<1000 {
            let data = (0..<Int.random(in: 1...64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let file = PNGWriter.file(
                header, PNGWriter.chunk("IDAT", [0x78, 0x01] + data), PNGWriter.chunk("IEND"))
            #expect(decodingError(file) != nil)
        }
    }

    @Test("noise after a signature never traps")
    func noise() {
        var random = SeededNumbers(seed: 3)
        for start in [[0xFF, 0xD8, 0xFF], PNGWriter.signature] as [[UInt8]] {
            for _ in 0..<500 {
                let length = Int.random(in: 0...200, using: &random)
                let file = start + (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                #expect(decodingError(file) != nil)
            }
        }
    }
}
