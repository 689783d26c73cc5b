import Foundation
import ImageCodecs

/// Decodes files: milliseconds, for a JPEG beside libjpeg-turbo's `tjbench`, and megapixels a second. In every round ours
/// and the reference each decode for a fifth of a second. The result is the median of the rounds' means.
func decodeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "decode needs image files") }
    var results: [BenchmarkResult] = []
    for path in options.words.dropFirst() {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let size = try ImageDecoders.standard.decode(bytes).size
        let reference =
            options.wantsReference
            ? try CodecReference(for: path, format: ImageFormat(detecting: bytes.span)) : nil
        let times = try await rounds(
            options.runs, ours: { _ = try ImageDecoders.standard.decode(bytes) }, reference)
        let file = URL(fileURLWithPath: path).lastPathComponent
        let name = "decode \(file), \(size.width) x \(size.height)"
        results += [
            BenchmarkResult(
                name: name, unit: "ms", ours: times.ours, reference: times.reference,
                referenceName: reference?.name),
            BenchmarkResult(
                name: name, unit: "megapixels/s",
                ours: Double(size.width * size.height) / times.ours / 1000),
        ]
    }
    return results
}
