import FoundationEssentials
import Glibc
import ImageCodecs
import TestSupport

/// Netpbm's programs, as an independent decoder and resizer.
enum Netpbm {
    /// The pixels of a PNG, by libpng.
    static func pixels(ofPNG file: String, in folder: TemporaryFolder) throws -> [UInt8]? {
        let output = folder.file("a.ppm")
        guard unsafe system("pngtopnm \(file) >\(output) 2>/dev/null") == 0 else { return nil }
        return [UInt8](try Data(contentsOf: URL(filePath: output)))
    }

    /// A PPM picture resized by area averaging to `covering`, and then cropped.
    static func scaled(
        _ ppm: [UInt8], _ covering: ImageSize, left: Int, top: Int, _ size: ImageSize,
        in folder: TemporaryFolder
    ) throws -> Bitmap {
        let (source, result) = (folder.file("whole.ppm"), folder.file("part.ppm"))
        try Data(ppm).write(to: URL(filePath: source))
        let command =
            "pamscale -linear -xsize \(covering.width) -ysize \(covering.height) \(source)"
            + " | pamcut -left \(left) -top \(top) -width \(size.width) -height \(size.height) > \(result)"
        guard unsafe system("(\(command)) 2>/dev/null") == 0,
            let bitmap = TestPicture.bitmap(ppm: [UInt8](try Data(contentsOf: URL(filePath: result))))
        else { throw JPEGTools.Failure(command: command) }
        return bitmap
    }
}

extension Bitmap {
    /// The picture as a binary PPM, without alpha.
    var ppm: [UInt8] {
        var bytes = Array("P6\n\(width) \(height)\n255\n".utf8)
        for index in stride(from: 0, to: pixels.count, by: 4) { bytes += pixels[index..<index + 3] }
        return bytes
    }
}
