import Foundation
import ImageCodecs
import TerminalGraphics

/// Draws a file in blocks, decoding included: milliseconds, beside chafa's whole process; and the bytes that a terminal gets.
func drawBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let size = (options.values["size"] ?? "40x30").split(separator: "x").compactMap { Int($0) }
    guard options.words.count > 1, size.count == 2, size.allSatisfy({ $0 > 0 && $0 < 1000 }) else {
        throw BenchmarkFailure(description: "draw wants an image file and --size COLSxROWS")
    }
    let path = options.words[1]
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var drawn = 0
    let times = try await alternating(
        runs: options.runs * 3,
        ours: { drawn = try draw(file, columns: size[0], rows: size[1]).count },
        reference: options.wantsReference
            ? {
                try Subprocess.run(
                    "chafa",
                    ["-f", "symbols", "-c", "full", "--stretch", "--size", "\(size[0])x\(size[1])", path])
            } : nil)
    let name = "draw \(URL(fileURLWithPath: path).lastPathComponent) in \(size[0]) x \(size[1]) cells"
    return [
        BenchmarkResult(
            name: name, unit: "ms", ours: times.ours * 1000, reference: times.reference.map { $0 * 1000 },
            referenceName: "chafa, its whole process"),
        BenchmarkResult(name: name, unit: "bytes", ours: Double(drawn)),
    ]
}

private func draw(_ file: [UInt8], columns: Int, rows: Int) throws -> [UInt8] {
    let target = ImageSize(width: columns * 16, height: rows * 16)
    let bitmap = try ImageDecoders.standard.decode(file, fitting: target)
    let grid = BlocksCanvas(depth: .trueColour).draw(bitmap, size: CellSize(columns: columns, rows: rows))
    return InlineEncoder(depth: .trueColour).lines(of: grid)
}
