import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Files whose components are in several scans, compared with libjpeg-turbo.
@Suite(
    "JPEG in separate scans", .bounded, .ownThread,
    .enabled(if: JPEGTools.areInstalled, JPEGTools.absence))
struct SeparateScansTests {
    /// Sequential: each component alone, in another order, and two of three together.
    private static let sequential = ["0;\n1;\n2;\n", "2;\n0;\n1;\n", "0;\n1 2;\n", "0 1;\n2;\n"]
    /// Progressive: each component alone, with its bits in several scans; and the first coefficients
    /// together.
    private static let progressive = [
        """
        0: 0-0, 0, 1;
        1: 0-0, 0, 0;
        2: 0-0, 0, 1;
        0: 1-5, 0, 2;
        2: 0-0, 1, 0;
        1: 1-63, 0, 0;
        0: 6-63, 0, 1;
        2: 1-63, 0, 1;
        0: 0-0, 1, 0;
        0: 1-5, 2, 1;
        2: 1-63, 1, 0;
        0: 1-63, 1, 0;

        """,
        """
        0 1 2: 0-0, 0, 0;
        0: 1-63, 0, 0;
        1: 1-63, 0, 0;
        2: 1-63, 0, 0;

        """,
    ]
    private static let samplings = [
        "1x1", "2x2", "2x1", "1x2", "1x4", "4x2", "2x2,2x1,1x1", "3x1,1x1,3x1",
    ]

    private func files(
        _ picture: TestPicture, _ sampling: String, in folder: TemporaryFolder
    ) throws -> [(name: String, bytes: [UInt8])] {
        var files: [(name: String, bytes: [UInt8])] = []
        for script in Self.sequential + Self.progressive {
            try Data(script.utf8).write(to: URL(filePath: folder.file("scans")))
            for restarts in ["", "-restart 1"] {
                let options = "-scans \(folder.file("scans")) -sample \(sampling) \(restarts)"
                let bytes = try #require(try JPEGTools.file(of: picture, options: options, in: folder))
                files.append(("\(sampling) \(restarts) \(script)", bytes))
            }
        }
        return files
    }

    @Test("every sampling gives djpeg's pixels", arguments: samplings)
    func everySampling(sampling: String) throws {
        let folder = try TemporaryFolder()
        for file in try files(TestPicture(width: 37, height: 35), sampling, in: folder) {
            let bitmap = try ImageDecoders.standard.decode(file.bytes)
            let expected = try JPEGTools.decode(file.bytes, in: folder)
            let (largest, mean) = try #require(bitmap.difference(to: expected))
            #expect(bitmap.damage == nil && largest <= 2 && mean <= 0.2, "\(file.name): \(largest), \(mean)")
        }
    }

    @Test("scaling and previews give them too", arguments: ["2x2"])
    func scaled(sampling: String) throws {
        let folder = try TemporaryFolder()
        for file in try files(TestPicture(width: 100, height: 76), sampling, in: folder) {
            for denominator in [2, 4, 8] {
                let expected = try JPEGTools.decode(file.bytes, scale: denominator, in: folder)
                let bitmap = try ImageDecoders.standard.decode(file.bytes, fitting: expected.size)
                let likeness = try #require(bitmap.peakSignalToNoise(to: expected))
                #expect(
                    bitmap.damage == nil && likeness >= 40, "\(file.name) 1/\(denominator): \(likeness) dB")
            }
            var previews = JPEGPreviews()
            _ = try previews.append(file.bytes)
            #expect(try previews.picture() == ImageDecoders.standard.decode(file.bytes))
        }
    }

    @Test("a file truncated in any of its scans is incomplete")
    func cut() throws {
        let folder = try TemporaryFolder()
        for file in try files(TestPicture(width: 37, height: 35), "2x2", in: folder) {
            let cuts = JPEGFileEditing.cutInEachScan(file.bytes)
            #expect(cuts.count > 1)
            for (scan, cut) in cuts.enumerated() {
                #expect(try ImageDecoders.standard.decode(cut).damage != nil, "\(file.name) in scan \(scan)")
            }
        }
    }
}
