import Foundation
import ImageCodecs

/// Decodes a file to its own size: milliseconds. With `--ppm OUT` writes the pixels too, as PPM, or as PAM where some are
/// transparent, so that any other decoder can be compared.
func decodeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "decode wants image files") }
    return try await options.words.dropFirst().asyncMap { path in
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let bitmap = try ImageDecoders.standard.decode(bytes)
        if let output = options.values["ppm"] { try bitmap.netpbm.write(to: URL(fileURLWithPath: output)) }
        let isJPEG = ImageFormat(detecting: bytes.span) == .jpeg
        let times = try await alternating(
            runs: options.runs * 3, ours: { _ = try ImageDecoders.standard.decode(bytes) }, reference: nil)
        let whole = options.wantsReference && isJPEG ? try wholeProgram(path, runs: options.runs) : nil
        return BenchmarkResult(
            name:
                "decode \(URL(fileURLWithPath: path).lastPathComponent), \(bitmap.width) x \(bitmap.height)",
            unit: "ms",
            ours: times.ours * 1000, reference: whole.map { $0 * 1000 },
            referenceName: "djpeg, its whole process")
    }
}

/// libjpeg-turbo's own program, start and output included: an upper bound of what its library takes.
private func wholeProgram(_ path: String, runs: Int) throws -> Double {
    var times: [Double] = []
    for _ in 0..<runs {
        let begin = ContinuousClock.now
        try Subprocess.run("djpeg", ["-dct", "int", "-ppm", "-outfile", "/dev/null", path])
        times.append((ContinuousClock.now - begin) / .seconds(1))
    }
    return median(times)
}

extension Bitmap {
    /// The pixels as a file of the Netpbm family.
    fileprivate var netpbm: Data {
        if isOpaque {
            var data = Data("P6\n\(width) \(height)\n255\n".utf8)
            for index in stride(from: 0, to: pixels.count, by: 4) {
                data.append(contentsOf: pixels[index..<index + 3])
            }
            return data
        }
        let header = "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
        return Data(header.utf8) + Data(pixels)
    }
}

extension Sequence {
    /// The results of an asynchronous function, one after the other.
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
