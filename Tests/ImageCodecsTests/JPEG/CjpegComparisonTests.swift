import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Compares the encoder with libjpeg-turbo: the bytes with cjpeg's, and the pixels with djpeg's.
@Suite("JPEG encoder compared with cjpeg", .bounded, .ownThread)
struct CjpegComparisonTests {
    private func expectSame(
        _ picture: TestPicture, quality: Int, _ subsampling: JPEGEncoder.Subsampling,
        in folder: TemporaryFolder
    ) throws {
        let bitmap = try #require(TestPicture.bitmap(ppm: picture.ppm))
        let sampling = subsampling == .quarter ? "2x2" : "1x1"
        let options = "-optimize -baseline -quality \(quality) -sample \(sampling)"
        let expected = try #require(try JPEGTools.file(of: picture, options: options, in: folder))
        let file = try JPEGEncoder(quality: quality, subsampling: subsampling).encode(bitmap)
        #expect(file == expected, "\(picture.width) x \(picture.height), \(options)")
    }

    @Test(
        "every quality gives cjpeg's bytes", .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: JPEGEncoder.Subsampling.allCases)
    func everyQuality(subsampling: JPEGEncoder.Subsampling) throws {
        let folder = try TemporaryFolder()
        let picture = TestPicture(width: 53, height: 39)
        for quality in [1, 2, 10, 24, 25, 49, 50, 51, 75, 80, 90, 95, 99, 100] {
            try expectSame(picture, quality: quality, subsampling, in: folder)
        }
    }

    @Test(
        "every size gives cjpeg's bytes", .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: JPEGEncoder.Subsampling.allCases)
    func everySize(subsampling: JPEGEncoder.Subsampling) throws {
        let folder = try TemporaryFolder()
        for (width, height) in [
            (1, 1), (1, 2), (2, 1), (3, 1), (1, 70), (70, 1), (7, 7), (8, 8), (8, 9), (9, 8), (15, 16),
            (16, 15),
            (16, 17), (17, 16), (17, 17), (24, 25), (25, 24), (31, 40), (40, 33), (200, 130),
        ] {
            try expectSame(TestPicture(width: width, height: height), quality: 80, subsampling, in: folder)
        }
    }

    @Test(
        "a grey picture gives the bytes of cjpeg -grayscale",
        .enabled(if: JPEGTools.areInstalled, JPEGTools.absence))
    func grey() throws {
        let folder = try TemporaryFolder()
        for (width, height) in [(1, 1), (8, 9), (45, 29), (96, 80)] {
            var ppm = TestPicture(width: width, height: height).ppm
            let start = ppm.count - width * height * 3
            for index in stride(from: start, to: ppm.count, by: 3) {
                (ppm[index], ppm[index + 2]) = (ppm[index + 1], ppm[index + 1])
            }
            for quality in [5, 50, 97] {
                let options = "-optimize -baseline -grayscale -quality \(quality)"
                let expected = try JPEGTools.file(ofPPM: ppm, options: options, in: folder)
                let bitmap = try #require(TestPicture.bitmap(ppm: ppm))
                #expect(try JPEGEncoder(quality: quality).encode(bitmap) == expected)
            }
        }
    }

    @Test(
        "djpeg and our decoder read the same pixels", .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: [1, 40, 80, 100])
    func sameReading(quality: Int) throws {
        let folder = try TemporaryFolder()
        let bitmap = try #require(TestPicture.bitmap(ppm: TestPicture(width: 61, height: 47).ppm))
        for subsampling in JPEGEncoder.Subsampling.allCases {
            let file = try JPEGEncoder(quality: quality, subsampling: subsampling).encode(bitmap)
            let (largest, mean) = try #require(
                try ImageDecoders.standard.decode(file).difference(to: JPEGTools.decode(file, in: folder)))
            #expect(largest <= 2 && mean <= 0.2)
        }
    }
}
