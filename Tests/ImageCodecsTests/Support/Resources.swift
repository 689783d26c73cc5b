import FoundationEssentials
import Glibc
import ImageCodecs

/// The stored pictures of these tests.
enum Resources {
    /// The folder beside this source file.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Resources").path

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + path)))
    }

    /// Pairs of a JPEG and a PNG with the pixels of `djpeg -dct int`.
    static let jpegs = [
        "baseline-411", "baseline-420", "baseline-422", "baseline-440", "baseline-444", "grey",
        "progressive-420",
        "progressive-444-restarts", "restarts",
    ]
}

extension Bitmap {
    /// The largest and the mean difference of the colour channels of two pictures of one size.
    func difference(to other: Bitmap) -> (largest: Int, mean: Double)? {
        guard size == other.size else { return nil }
        let mine = pixels.span
        let theirs = other.pixels.span
        var largest = 0
        var total = 0
        for index in 0..<mine.count {
            let difference = abs(Int(mine[index]) - Int(theirs[index]))
            largest = max(largest, difference)
            total += difference
        }
        return (largest, Double(total) / Double(width * height * 3))
    }
}
