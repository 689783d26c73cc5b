import Foundation
import ImageCodecs

/// Decodes files: milliseconds, for a JPEG beside libjpeg-turbo's `tjbench`; megapixels of the result a second; peak
/// memory in bytes a pixel. In every round ours and the reference each decode for a fifth of a second. The result is
/// the median of the rounds' means.
///
/// `--scale 1/8` (or 1/2, 1/4) decodes to that part of the size, `--fit WxH` to fit into that box. `--ppm OUT` also
/// writes the pixels as PPM, or as PAM if some are transparent, for comparison with other decoders.
func decodeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "decode needs image files") }
    let denominator = try options.denominator
    let box = try options.values["fit"].map(ImageSize.init(columnsByRows:))
    guard denominator == 1 || box == nil else {
        throw BenchmarkFailure(description: "either --scale or --fit")
    }
    var results: [BenchmarkResult] = []
    for path in options.words.dropFirst() {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard let size = try ImageHeader(parsing: bytes).size else { throw ImageDecodingError.unrecognized }
        let scaled = ImageSize(
            width: (size.width + denominator - 1) / denominator,
            height: (size.height + denominator - 1) / denominator)
        let target = box ?? (denominator > 1 ? scaled : nil)

        if options.flags.contains("memory") {
            print(try PeakMemory.growth { _ = try ImageDecoders.standard.decode(bytes, fitting: target) })
            continue
        }
        let peak = try PeakMemory.ofDecoding(path, fitting: target)
        let bitmap = try ImageDecoders.standard.decode(bytes, fitting: target)
        if let output = options.values["ppm"] { try bitmap.netpbm.write(to: URL(fileURLWithPath: output)) }

        var reference: CodecReference?
        if options.wantsReference, box == nil {
            reference = try CodecReference(
                for: path, format: ImageFormat(detecting: bytes.span), denominator)
        }
        let times = try await rounds(
            options.runs, ours: { _ = try ImageDecoders.standard.decode(bytes, fitting: target) }, reference)
        let name = "decode \(URL(fileURLWithPath: path).lastPathComponent), \(size) to \(bitmap.size)"
        results += [
            BenchmarkResult(
                name: name, unit: "ms", ours: times.ours, reference: times.reference,
                referenceName: reference?.name),
            BenchmarkResult(
                name: name, unit: "megapixels/s",
                ours: Double(size.width * size.height) / times.ours / 1000),
            BenchmarkResult(
                name: name, unit: "bytes a pixel at most",
                ours: Double(peak) / Double(bitmap.width * bitmap.height)),
        ]
    }
    return results
}

extension Options {
    /// The denominator of `--scale 1/N`; 1 without the option.
    fileprivate var denominator: Int {
        get throws {
            guard let scale = values["scale"] else { return 1 }
            guard let number = ["1/1": 1, "1/2": 2, "1/4": 4, "1/8": 8][scale] else {
                throw BenchmarkFailure(description: "--scale is 1/2, 1/4 or 1/8")
            }
            return number
        }
    }
}

extension ImageSize {
    fileprivate init(columnsByRows text: String) throws {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else {
            throw BenchmarkFailure(description: "--fit needs WxH, in pixels")
        }
        self.init(width: sides[0], height: sides[1])
    }
}

extension DefaultStringInterpolation {
    fileprivate mutating func appendInterpolation(_ size: ImageSize) {
        appendLiteral("\(size.width) x \(size.height)")
    }
}
