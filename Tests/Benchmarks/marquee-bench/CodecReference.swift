import Foundation
import ImageCodecs

/// libjpeg-turbo, in its program that decodes one file repeatedly.
struct CodecReference {
    /// How long each side runs in a round.
    static let roundTime = Duration.milliseconds(200)

    let name = "libjpeg-turbo (tjbench)"
    private let arguments: [String]
    /// Keeps the folder of the copied file.
    private let folder: ScratchFolder

    /// Decodes a file. Nil if it is not a JPEG.
    init?(for path: String, format: ImageFormat?) throws {
        guard format == .jpeg else { return nil }
        // tjbench recognises a JPEG by its name's ending, and writes a file beside it by default.
        folder = try ScratchFolder()
        let copy = folder.path + "/file.jpg"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        arguments =
            [copy, "-rgbx", "-nowrite", "-warmup", "0.05"]
            + ["-benchtime", String(Self.roundTime / .seconds(1))]
    }

    /// The mean time of one operation, from the program's output.
    func meanMilliseconds() throws -> Double {
        let output = String(decoding: try Subprocess.output("tjbench", arguments), as: UTF8.self)
        // Decompress    --> Frame rate:         219.724378 fps
        let words = output.split(whereSeparator: \.isWhitespace)
        for (word, unit) in zip(words, words.dropFirst()) where unit == "fps" {
            if let rate = Double(word) { return 1000 / rate }
        }
        throw BenchmarkFailure(description: "tjbench printed no time")
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

/// The mean time of `work` when it is repeated, measured as the reference does.
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
