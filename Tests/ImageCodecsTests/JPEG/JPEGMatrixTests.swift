import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Compares decoded pixels with libjpeg-turbo's: at most 2 levels in any channel, and 0.2 on average.
@Suite("JPEG pixels", .bounded, .ownThread)
struct JPEGMatrixTests {
    private static let largestDifference = 2
    private static let meanDifference = 0.2

    private static let samplings = [
        "1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x3", "4x1,2x1,1x1", "1x1,2x2,1x1",
        "2x2,2x1,1x1", "1x1,1x2,2x1",
    ]

    private func compare(_ picture: TestPicture, options: String) throws -> Bool {
        let folder = try TemporaryFolder()
        guard let (file, expected) = try JPEGTools.encode(picture, options: options, in: folder) else {
            return false
        }
        let bitmap = try ImageDecoders.standard.decode(file)
        let (largest, mean) = try #require(bitmap.difference(to: expected))
        let name = "\(picture.width) x \(picture.height) \(options)"
        #expect(
            largest <= Self.largestDifference && mean <= Self.meanDifference, "\(name): \(largest), \(mean)")
        return true
    }

    @Test("stored files give the stored pixels", arguments: Resources.jpegs)
    func stored(name: String) throws {
        let expected = try ImageDecoders.standard.decode(Resources.bytes("JPEG/\(name).png"))
        let bitmap = try ImageDecoders.standard.decode(Resources.bytes("JPEG/\(name).jpg"))
        let (largest, mean) = try #require(bitmap.difference(to: expected))
        #expect(largest <= Self.largestDifference && mean <= Self.meanDifference)
    }

    @Test(
        "every sampling gives djpeg's pixels, in every coding",
        .enabled(if: JPEGTools.areInstalled, JPEGTools.absence), arguments: samplings)
    func everySampling(sampling: String) throws {
        let picture = TestPicture(width: 37, height: 35)
        for coding in [
            "-quality 85", "-quality 100 -progressive", "-quality 30 -restart 1B", "-optimize -restart 1",
            "-quality 20 -progressive -restart 5B",
        ] {
            #expect(
                try compare(picture, options: "\(coding) -sample \(sampling)"), "cjpeg declined \(sampling)")
        }
    }

    @Test(
        "every size gives djpeg's pixels", .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: [(1, 1), (2, 3), (3, 2), (5, 1), (1, 9), (7, 5), (17, 33), (227, 149)])
    func everySize(width: Int, height: Int) throws {
        let picture = TestPicture(width: width, height: height)
        for options in ["-sample 2x2", "-sample 2x1 -progressive", "-sample 1x2", "-sample 1x1"] {
            #expect(try compare(picture, options: options))
        }
    }
}
