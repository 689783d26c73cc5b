import Foundation
import ImageCodecs
import TerminalGraphics

/// Draws files in blocks, beside chafa with its default symbols: milliseconds a file, decoding included, against
/// chafa's whole process; the bytes sent to the terminal; and the likeness of the cells to the pictures, as means over
/// the files.
func drawBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let size = (options.values["size"] ?? "40x30").split(separator: "x").compactMap { Int($0) }
    guard options.words.count > 1, size.count == 2, size.allSatisfy({ $0 > 0 && $0 < 1000 }) else {
        throw BenchmarkFailure(description: "draw needs image files and --size COLSxROWS")
    }
    let paths = Array(options.words.dropFirst())
    let cells = CellSize(columns: size[0], rows: size[1])
    if let name = options.values["graphics"], name != "blocks" {
        return try await pixelDrawBenchmark(options, paths, in: cells, by: name)
    }
    var times: (ours: [Double], reference: [Double]) = ([], [])
    var drawings: (ours: [Drawing], reference: [Drawing]) = ([], [])
    for path in paths {
        let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
        var output: (ours: [UInt8], reference: [UInt8]) = ([], [])
        let time = try await alternating(
            runs: options.runs,
            ours: { output.ours = try draw(file, in: cells) },
            reference: options.wantsReference ? { output.reference = try chafa(path, in: cells) } : nil)
        times.ours.append(time.ours)
        let picture = try ImageDecoders.standard.decode(file)
        drawings.ours.append(try Drawing(output.ours, in: cells, of: picture))
        guard let reference = time.reference else { continue }
        times.reference.append(reference)
        drawings.reference.append(try Drawing(output.reference, in: cells, of: picture))
    }

    func result(_ what: String, _ unit: String, _ value: (Drawing) -> Double) -> BenchmarkResult {
        BenchmarkResult(
            name: "drawn, " + what, unit: unit, ours: mean(drawings.ours.map(value)),
            reference: drawings.reference.isEmpty ? nil : mean(drawings.reference.map(value)),
            referenceName: "chafa")
    }
    let subject =
        paths.count == 1 ? URL(filePath: paths[0]).lastPathComponent : "one of \(paths.count) files"
    return [
        BenchmarkResult(
            name: "draw \(subject) in \(cells.columns) x \(cells.rows) cells", unit: "ms",
            ours: mean(times.ours) * 1000,
            reference: times.reference.isEmpty ? nil : mean(times.reference) * 1000,
            referenceName: "chafa, its whole process"),
        result("bytes", "bytes") { Double($0.bytes) },
        result("PSNR", "dB") { $0.quality.psnr },
        result("PSNR blurred", "dB") { $0.quality.blurredPSNR },
        result("SSIM", "of 1") { $0.quality.ssim },
    ]
}

/// The output for one file.
private struct Drawing {
    let bytes: Int
    let quality: PictureQuality

    init(_ output: [UInt8], in cells: CellSize, of picture: Bitmap) throws {
        bytes = output.count
        quality = try PictureQuality(of: output, in: cells, comparedWith: picture)
    }
}

private func draw(_ file: [UInt8], in cells: CellSize) throws -> [UInt8] {
    let target = ImageSize(width: cells.columns * 16, height: cells.rows * 16)
    let bitmap = try ImageDecoders.standard.decode(file, fitting: target)
    return InlineEncoder(depth: .trueColour).lines(
        of: BlocksCanvas(depth: .trueColour).draw(bitmap, size: cells))
}

private func chafa(_ path: String, in cells: CellSize) throws -> [UInt8] {
    let size = "\(cells.columns)x\(cells.rows)"
    return try Subprocess.output("chafa", ["-f", "symbols", "-c", "full", "--stretch", "--size", size, path])
}

private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
