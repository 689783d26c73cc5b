import Foundation
import ImageCodecs

/// The C library of a format, in a program that decodes one file repeatedly.
struct CodecReference {
    /// How long each side runs in a round.
    static let roundTime = Duration.milliseconds(200)

    let name: String
    private let program: String
    private let arguments: [String]
    /// Keeps the folder of the program's file.
    private let folder: ScratchFolder?

    /// The libraries of the programs that `Tests/Benchmarks/codec-references.sh` builds.
    private static let libraries: [ImageFormat: String] = [
        .png: "libpng with zlib", .webp: "libwebp", .gif: "giflib, to indices",
    ]

    /// Decodes a file. Nil if the format has no reference; if the program is missing, a message says so.
    init?(for path: String, format: ImageFormat?, _ denominator: Int) throws {
        let seconds = String(Self.roundTime / .seconds(1))
        switch format {
        case .jpeg:
            // tjbench recognises a JPEG by its name's ending, and writes a file beside it by default.
            let folder = try ScratchFolder()
            let copy = folder.path + "/file.jpg"
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            name = "libjpeg-turbo (tjbench)"
            program = "tjbench"
            arguments =
                [copy, "-rgbx", "-nowrite", "-warmup", "0.05", "-benchtime", seconds]
                + (denominator > 1 ? ["-scale", "1/\(denominator)"] : [])
            self.folder = folder
        case let format? where denominator == 1 && Self.libraries[format] != nil:
            name = Self.libraries[format] ?? format.name
            program = FileManager.default.temporaryDirectory.path + "/marquee-codecs/" + format.name
            guard FileManager.default.isExecutableFile(atPath: program) else {
                FileHandle.standardError.write(
                    Data("no \(name) beside it: run Tests/Benchmarks/codec-references.sh first\n".utf8))
                return nil
            }
            arguments = [path, seconds]
            folder = nil
        default: return nil
        }
    }

    /// The mean time of one operation, from the program's output.
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

/// The medians of both sides' rounds in milliseconds. The first round is a warm-up and does not count.
func rounds(
    _ runs: Int, ours: () throws -> Void, _ reference: CodecReference?
) async throws -> (ours: Double, reference: Double?) {
    var own: [Double] = []
    var other: [Double] = []
    for round in 0...runs {
        let mean = try meanMilliseconds(ours)
        if round > 0 { own.append(mean) }
        if let reference {
            let mean = try reference.meanMilliseconds()
            if round > 0 { other.append(mean) }
        }
    }
    return (median(own), reference == nil ? nil : median(other))
}

/// The mean time of `work` when it is repeated, measured as the references do.
private func meanMilliseconds(_ work: () throws -> Void) throws -> Double {
    let begin = ContinuousClock.now
    var count = 0
    var elapsed = Duration.zero
    while elapsed < CodecReference.roundTime {
        try work()
        count += 1
        elapsed = begin.duration(to: .now)
    }
    return elapsed / .milliseconds(1) / Double(count)
}
