import Foundation
import ImageCodecs

/// The C library that decodes a format, in a program that decodes one file again and again.
struct DecodingReference {
    /// How long each side decodes in a round.
    static let roundTime = Duration.milliseconds(200)

    let name: String
    private let program: String
    private let arguments: [String]
    /// Kept for as long as the program may want its file.
    private let folder: ScratchFolder?

    /// Nil where a format has none here, and with a message where the program is not there.
    init?(for path: String, format: ImageFormat?, _ denominator: Int) throws {
        let seconds = String(Self.roundTime / .seconds(1))
        switch format {
        case .jpeg:
            // tjbench takes a file for a JPEG by the end of its name, and writes beside it unless told not to.
            let folder = try ScratchFolder()
            let copy = folder.path + "/file.jpg"
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            name = "libjpeg-turbo (tjbench)"
            program = "tjbench"
            arguments =
                [copy, "-rgbx", "-nowrite", "-warmup", "0.05", "-benchtime", seconds]
                + (denominator > 1 ? ["-scale", "1/\(denominator)"] : [])
            self.folder = folder
        case .png where denominator == 1:
            name = "libpng with zlib"
            program = FileManager.default.temporaryDirectory.path + "/marquee-libpng/decode"
            guard FileManager.default.isExecutableFile(atPath: program) else {
                FileHandle.standardError.write(
                    Data("no libpng beside it: run Tests/Benchmarks/libpng-reference.sh first\n".utf8))
                return nil
            }
            arguments = [path, seconds]
            folder = nil
        default: return nil
        }
    }

    /// What the program says one decoding took, in the mean.
    func meanMilliseconds() throws -> Double {
        let output = String(decoding: try Subprocess.output(program, arguments), as: UTF8.self)
        // tjbench: "Decompress    --> Frame rate:         219.724378 fps"; ours over libpng: "4.551 ms".
        let words = output.split(whereSeparator: \.isWhitespace)
        for (word, unit) in zip(words, words.dropFirst()) {
            if unit == "fps", let rate = Double(word) { return 1000 / rate }
            if unit == "ms", let time = Double(word) { return time }
        }
        throw BenchmarkFailure(description: "\(program) printed no time")
    }
}
