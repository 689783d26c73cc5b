import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Files of one component whose sampling factors are not 1 x 1. A minimum coded unit of their scans is still
/// one block (T.81 A.2.2).
@Suite("JPEG of one component", .bounded, .ownThread)
struct SingleComponentTests {
    /// Every pair of factors. The horizontal one is in the upper half of the byte.
    private static let factors = (0x1...0x4).flatMap { across in (0x1...0x4).map { UInt8(across << 4 | $0) } }

    private static let codings = [
        "-quality 85", "-quality 90 -optimize -restart 1", "-quality 85 -progressive",
        "-progressive -restart 3B",
    ]

    /// The grey file that `cjpeg` makes, with these factors in its frame header.
    private func file(
        _ picture: TestPicture, _ factors: UInt8, _ coding: String, in folder: TemporaryFolder
    ) throws -> [UInt8] {
        let options = "\(coding) -grayscale -sample \(factors >> 4)x\(factors & 15)"
        let file = try #require(try JPEGTools.file(of: picture, options: options, in: folder))
        let start = try #require(JPEGFileEditing.frameHeader(of: file))
        #expect(file[start + 9] == 1 && file[start + 11] == factors)
        return file
    }

    @Test("the factors in the frame header change nothing", arguments: factors)
    func ignored(factors: UInt8) throws {
        var file = try Resources.bytes("JPEG/grey.jpg")
        let expected = try ImageDecoders.standard.decode(file)
        let start = try #require(JPEGFileEditing.frameHeader(of: file))
        file[start + 11] = factors
        let bitmap = try ImageDecoders.standard.decode(file)
        #expect(bitmap == expected && bitmap.damage == nil)
    }

    @Test(
        "every pair of factors gives djpeg's pixels, in every coding",
        .enabled(if: JPEGTools.areInstalled, JPEGTools.absence), arguments: factors)
    func everyPair(factors: UInt8) throws {
        let folder = try TemporaryFolder()
        for coding in Self.codings {
            let file = try file(TestPicture(width: 37, height: 35), factors, coding, in: folder)
            let bitmap = try ImageDecoders.standard.decode(file)
            let expected = try JPEGTools.decode(file, in: folder)
            let (largest, mean) = try #require(bitmap.difference(to: expected))
            #expect(bitmap.damage == nil && largest <= 2 && mean <= 0.2, "\(coding): \(largest), \(mean)")
        }
    }

    @Test(
        "scaling and previews give them too", .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: [0x12, 0x21, 0x22, 0x44] as [UInt8])
    func scaled(factors: UInt8) throws {
        let folder = try TemporaryFolder()
        for coding in ["-quality 85 -restart 1", "-quality 95 -progressive"] {
            let file = try file(TestPicture(width: 100, height: 76), factors, coding, in: folder)
            for denominator in [2, 4, 8] {
                let expected = try JPEGTools.decode(file, scale: denominator, in: folder)
                let bitmap = try ImageDecoders.standard.decode(file, fitting: expected.size)
                let likeness = try #require(bitmap.peakSignalToNoise(to: expected))
                #expect(bitmap.damage == nil && likeness >= 40, "\(coding) 1/\(denominator): \(likeness) dB")
            }
            var previews = JPEGPreviews()
            for start in stride(from: 0, to: file.count, by: 100) {
                _ = try previews.append(Array(file[start..<min(start + 100, file.count)]))
            }
            #expect(try previews.isComplete && previews.picture() == ImageDecoders.standard.decode(file))
        }
    }

    @Test("a truncated file is incomplete, whatever its factors", arguments: factors)
    func cut(factors: UInt8) throws {
        var file = try Resources.bytes("JPEG/grey.jpg")
        let start = try #require(JPEGFileEditing.frameHeader(of: file))
        file[start + 11] = factors
        let cuts = JPEGFileEditing.cutInEachScan(file)
        #expect(cuts.count == 1)
        for cut in cuts { #expect(try ImageDecoders.standard.decode(cut).damage != nil) }
    }
}
