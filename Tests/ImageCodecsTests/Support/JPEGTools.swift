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

    /// What `cjpeg` makes of a picture, and the pixels `djpeg` makes of that; nil where one of them declines.
    static func encode(
        _ picture: TestPicture, options: String, in folder: TemporaryFolder
    ) throws -> (file: [UInt8], pixels: Bitmap)? {
        let (source, file, pixels) = (
            folder.file("source.ppm"), folder.file("file.jpg"), folder.file("pixels.ppm")
        )
        try Data(picture.ppm).write(to: URL(filePath: source))
        guard run("cjpeg \(options) -outfile \(file) \(source)") else { return nil }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        guard run("djpeg -dct int -rgb -outfile \(pixels) \(file)") else { return nil }
        let decoded = [UInt8](try Data(contentsOf: URL(filePath: pixels)))
        guard let bitmap = TestPicture.bitmap(ppm: decoded, width: picture.width, height: picture.height)
        else {
            throw Failure(command: "djpeg \(options)")
        }
        return (bytes, bitmap)
    }

    private static func run(_ command: String) -> Bool {
        unsafe system(command + " 2>/dev/null") == 0
    }
}
