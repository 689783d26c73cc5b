import Foundation
import ImageCodecs
import TestSupport

/// Encodes the pictures of files as JPEG, 4:2:0: milliseconds, beside libjpeg-turbo's `tjbench` with its default
/// Huffman tables; bytes, beside `cjpeg -optimize`; and the likeness of both to the picture, as `djpeg` decodes them.
/// Rounds as in `decodeBenchmark`.
func encodeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "encode needs image files") }
    let quality = options.number("quality", default: 80)
    guard quality <= 100 else { throw BenchmarkFailure(description: "--quality is 1 to 100") }
    let encoder = JPEGEncoder(quality: quality)
    let folder = try ScratchFolder()
    var results: [BenchmarkResult] = []
    for path in options.words.dropFirst() {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let bitmap = try ImageDecoders.standard.decode(bytes)
        let source = folder.path + "/source.ppm"
        try bitmap.netpbm.write(to: URL(filePath: source))
        let file = try encoder.encode(bitmap)
        let isGrey = stride(from: 0, to: bitmap.pixels.count, by: 4).allSatisfy {
            Set(bitmap.pixels[$0..<$0 + 3]).count == 1
        }
        let times = try await rounds(
            options.runs, ours: { _ = try encoder.encode(bitmap) },
            options.wantsReference
                ? CodecReference(
                    encoding: source, quality: quality, subsampling: isGrey ? "GRAY" : "420") : nil)
        let name = "encode \(URL(filePath: path).lastPathComponent), quality \(quality)"
        var reference: [UInt8]?
        if options.wantsReference {
            let sampling = isGrey ? ["-grayscale"] : ["-sample", "2x2"]
            reference = try Subprocess.output(
                "cjpeg", ["-optimize", "-quality", String(quality)] + sampling + [source])
        }
        results += [
            BenchmarkResult(
                name: name, unit: "ms", ours: times.ours, reference: times.reference,
                referenceName: "libjpeg-turbo (tjbench)"),
            BenchmarkResult(
                name: name, unit: "bytes", ours: Double(file.count),
                reference: reference.map { Double($0.count) }, referenceName: "cjpeg -optimize"),
        ]
        guard let reference else { continue }
        results.append(
            BenchmarkResult(
                name: name, unit: "dB PSNR", ours: try likeness(of: file, to: bitmap, in: folder),
                reference: try likeness(of: reference, to: bitmap, in: folder), referenceName: "cjpeg"))
    }
    return results
}

/// The likeness of a file's pixels, decoded by `djpeg`, to a picture.
private func likeness(of file: [UInt8], to bitmap: Bitmap, in folder: ScratchFolder) throws -> Double {
    let path = folder.path + "/file.jpg"
    try Data(file).write(to: URL(filePath: path))
    guard let decoded = Bitmap(ppm: try Subprocess.output("djpeg", ["-rgb", path])),
        let likeness = decoded.peakSignalToNoise(to: bitmap)
    else {
        throw BenchmarkFailure(description: "djpeg wrote no PPM of the picture's size")
    }
    return likeness
}
