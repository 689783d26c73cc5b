import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Compares pictures decoded at 1/2, 1/4 and 1/8 with those of `djpeg -scale`: at least 40 dB.
@Suite(
    "JPEG scaled", .bounded, .ownThread,
    .enabled(if: JPEGTools.areInstalled, JPEGTools.absence))
struct ScaledJPEGTests {
    private static let leastLikeness = 40.0

    @Test(
        "every scale gives djpeg's pixels, in every sampling and coding", arguments: [2, 4, 8],
        ["1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4"])
    func everyScale(denominator: Int, sampling: String) throws {
        for options in ["-quality 85", "-quality 95 -progressive"] {
            let folder = try TemporaryFolder()
            // The sides are not whole numbers of blocks, and their rounded fractions keep the shape.
            let picture = TestPicture(width: 228, height: 156)
            let encoded = try JPEGTools.encode(
                picture, options: "\(options) -sample \(sampling)", scale: denominator, in: folder)
            let (file, expected) = try #require(encoded)
            let bitmap = try ImageDecoders.standard.decode(file, fitting: expected.size)
            let likeness = try #require(bitmap.peakSignalToNoise(to: expected))
            #expect(likeness >= Self.leastLikeness, "\(options) \(sampling) 1/\(denominator): \(likeness) dB")
        }
    }

    @Test("a target between two scales is averaged from the larger one")
    func between() throws {
        let folder = try TemporaryFolder()
        let encoded = try JPEGTools.encode(TestPicture(width: 227, height: 149), options: "", in: folder)
        let (file, _) = try #require(encoded)
        for width in [1, 28, 29, 30, 57, 100, 113, 114, 115, 226, 227, 500] {
            let box = ImageSize(width: width, height: 1000)
            let size = ImageSize(width: 227, height: 149).fitted(into: box)
            #expect(try ImageDecoders.standard.decode(file, fitting: box).size == size)
        }
    }
}
