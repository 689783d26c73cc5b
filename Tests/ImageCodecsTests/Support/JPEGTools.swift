import FoundationEssentials
import Glibc
import ImageCodecs
import TestSupport
import Testing

/// libjpeg-turbo's programs, for pictures and pixels that this project did not make.
enum JPEGTools {
    static let absence: Comment = "cjpeg and djpeg (libjpeg-turbo-progs) are not installed"

    static let areInstalled: Bool = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return ["cjpeg", "djpeg"].allSatisfy { tool in
            path.split(separator: ":").contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
            }
        }
    }()

    struct Failure: Error {
        let command: String
    }

    /// What `cjpeg` makes of a picture, and the pixels `djpeg` makes of that, at a `scale`th of its size; nil where one of
    /// them declines.
    static func encode(
        _ picture: TestPicture, options: String, scale: Int = 1, in folder: TemporaryFolder
    ) throws -> (file: [UInt8], pixels: Bitmap)? {
        let (source, file, pixels) = (
            folder.file("source.ppm"), folder.file("file.jpg"), folder.file("pixels.ppm")
        )
        try Data(picture.ppm).write(to: URL(filePath: source))
        guard run("cjpeg \(options) -outfile \(file) \(source)") else { return nil }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        guard run("djpeg -dct int -rgb -scale 1/\(scale) -outfile \(pixels) \(file)") else { return nil }
        let decoded = [UInt8](try Data(contentsOf: URL(filePath: pixels)))
        let (width, height) = ((picture.width + scale - 1) / scale, (picture.height + scale - 1) / scale)
        guard let bitmap = TestPicture.bitmap(ppm: decoded, width: width, height: height)
        else {
            throw Failure(command: "djpeg \(options)")
        }
        return (bytes, bitmap)
    }

    private static func run(_ command: String) -> Bool {
        unsafe system(command + " 2>/dev/null") == 0
    }
}
