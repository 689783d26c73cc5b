import FoundationEssentials
import Glibc
import ImageCodecs
import TestSupport
import Testing

/// libjpeg-turbo's programs, as an independent encoder and decoder.
enum JPEGTools {
    static let absence: Comment = "cjpeg and djpeg (libjpeg-turbo-progs) are not installed"

    static let areInstalled = ["cjpeg", "djpeg"].allSatisfy(Shell.has)

    struct Failure: Error {
        let command: String
    }

    /// A picture encoded by `cjpeg`, and `djpeg`'s pixels of that file at 1/`scale`; nil if `cjpeg` refuses.
    static func encode(
        _ picture: TestPicture, options: String, scale: Int = 1, in folder: TemporaryFolder
    ) throws -> (file: [UInt8], pixels: Bitmap)? {
        guard let file = try file(of: picture, options: options, in: folder) else { return nil }
        let pixels = try decode(file, scale: scale, in: folder)
        let (width, height) = ((picture.width + scale - 1) / scale, (picture.height + scale - 1) / scale)
        guard pixels.size == ImageSize(width: width, height: height) else {
            throw Failure(command: "djpeg \(options)")
        }
        return (file, pixels)
    }

    /// A picture encoded by `cjpeg`; nil if it refuses.
    static func file(
        of picture: TestPicture, options: String, in folder: TemporaryFolder
    ) throws -> [UInt8]? {
        try file(ofPPM: picture.ppm, options: options, in: folder)
    }

    static func file(ofPPM ppm: [UInt8], options: String, in folder: TemporaryFolder) throws -> [UInt8]? {
        let (source, file) = (folder.file("source.ppm"), folder.file("file.jpg"))
        try Data(ppm).write(to: URL(filePath: source))
        guard run("cjpeg \(options) -outfile \(file) \(source)") else { return nil }
        return [UInt8](try Data(contentsOf: URL(filePath: file)))
    }

    /// `djpeg`'s pixels of a file, at 1/`scale` of its size.
    static func decode(_ file: [UInt8], scale: Int = 1, in folder: TemporaryFolder) throws -> Bitmap {
        let (source, pixels) = (folder.file("decoded.jpg"), folder.file("pixels.ppm"))
        try Data(file).write(to: URL(filePath: source))
        let command = "djpeg -dct int -rgb -scale 1/\(scale) -outfile \(pixels) \(source)"
        guard run(command),
            let bitmap = TestPicture.bitmap(ppm: [UInt8](try Data(contentsOf: URL(filePath: pixels))))
        else { throw Failure(command: command) }
        return bitmap
    }

    /// A damaged file gives a picture, and the status 2 for its warnings.
    private static func run(_ command: String) -> Bool {
        [0, 2 << 8].contains(unsafe system("exec " + command + " 2>/dev/null"))
    }
}
