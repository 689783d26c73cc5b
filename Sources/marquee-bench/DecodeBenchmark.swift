import Foundation
import ImageCodecs

/// Decodes files: milliseconds, beside libjpeg-turbo's `tjbench` or a small program over libpng; megapixels of the result a
/// second; bytes a pixel in use at once. In every round ours and the reference decode for a fifth of a second each, and the
/// medians of the rounds' means count.
///
/// With `--scale 1/8` (or 1/2, 1/4) to that part of the size, with `--fit WxH` to fit into that. With `--ppm OUT` writes the
/// pixels too, as PPM, or as PAM where some are transparent, so that any other decoder can be compared.
func decodeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "decode wants image files") }
    let denominator = try options.denominator
    let box = try options.values["fit"].map(ImageSize.init(columnsByRows:))
    guard denominator == 1 || box == nil else {
        throw BenchmarkFailure(description: "either --scale or --fit")
    }
    var results: [BenchmarkResult] = []
    for path in options.words.dropFirst() {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard let size = try ImageHeader(parsing: bytes).size else { throw ImageDecodingError.unrecognised }
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

        var reference: DecodingReference?
        if options.wantsReference, box == nil {
            reference = try DecodingReference(
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

/// The medians of the milliseconds that rounds of both took; the first round warms up and does not count.
private func rounds(
    _ runs: Int, ours: () throws -> Void, _ reference: DecodingReference?
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

/// How long `work` takes when it is done again and again, as the references do theirs.
private func meanMilliseconds(_ work: () throws -> Void) throws -> Double {
    let begin = ContinuousClock.now
    var count = 0
    var elapsed = Duration.zero
    while elapsed < DecodingReference.roundTime {
        try work()
        count += 1
        elapsed = begin.duration(to: .now)
    }
    return elapsed / .milliseconds(1) / Double(count)
}

extension Options {
    /// The number below the line of `--scale 1/N`; 1 without it.
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
            throw BenchmarkFailure(description: "--fit wants WxH, in pixels")
        }
        self.init(width: sides[0], height: sides[1])
    }
}

extension DefaultStringInterpolation {
    fileprivate mutating func appendInterpolation(_ size: ImageSize) {
        appendLiteral("\(size.width) x \(size.height)")
    }
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
