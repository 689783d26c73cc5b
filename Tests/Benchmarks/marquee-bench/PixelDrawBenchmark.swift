import Foundation
import ImageCodecs
import TerminalGraphics

/// Draws files as pictures in pixels for the browser, in cells of 8 x 16 pixels: milliseconds a picture on the drawing
/// thread, without decoding, and the bytes sent to the terminal, beside chafa's, as means over the files. Without a
/// terminal chafa's cells are 8 x 8: it then sends as many pixels as sixels, and half as many by kitty's and iTerm2's
/// protocols.
func pixelDrawBenchmark(
    _ options: Options, _ paths: [String], in cells: CellSize, by name: String
) async throws -> [BenchmarkResult] {
    let ways: [String: (way: PictureProtocol, format: String)] = [
        "kitty": (.kitty, "kitty"), "iterm2": (.iterm2, "iterm"), "sixel": (.sixel, "sixels"),
    ]
    guard let (way, format) = ways[name] else {
        throw BenchmarkFailure(description: "draw needs --graphics kitty, iterm2, sixel or blocks")
    }
    let canvas = PixelCanvas(
        way, cell: ImageSize(width: 8, height: 16), blocks: BlocksCanvas(depth: .trueColour))
    let theirRows = way == .sixel ? 2 * cells.rows : cells.rows
    var (times, ours, theirs): ([Double], [Double], [Double]) = ([], [], [])
    for path in paths {
        let bitmap = try ImageDecoders.standard.decode(
            [UInt8](try Data(contentsOf: URL(filePath: path))), fitting: canvas.pictureSize(for: cells))
        var grid = CellGrid(size: CellSize(columns: cells.columns, rows: cells.rows + 1))
        var encoder = FrameEncoder(depth: .trueColour, pictures: way)
        _ = encoder.frame(grid)
        var best = Double.infinity
        for _ in 0..<options.runs {
            let start = ContinuousClock.now
            let picture = canvas.draw(bitmap, size: cells)
            best = min(best, start.duration(to: .now) / .milliseconds(1))
            grid.place(picture, at: CellPosition(column: 0, row: 0))
        }
        times.append(best)
        var blocks = FrameEncoder(depth: .trueColour, pictures: nil)
        _ = blocks.frame(CellGrid(size: grid.size))
        // Blocks drawn below painted pictures do not count.
        let below = way == .kitty ? 0 : blocks.frame(grid).count
        ours.append(Double(encoder.frame(grid).count - below))
        guard options.wantsReference else { continue }
        let size = "\(cells.columns)x\(theirRows)"
        theirs.append(
            Double(try Subprocess.output("chafa", ["-f", format, "-s", size, "--stretch", path]).count))
    }
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    let subject = "\(name), \(paths.count) files in \(cells.columns) x \(cells.rows) cells"
    return [
        BenchmarkResult(name: "draw \(subject)", unit: "ms", ours: mean(times)),
        BenchmarkResult(
            name: "drawn, bytes", unit: "bytes", ours: mean(ours),
            reference: theirs.isEmpty ? nil : mean(theirs), referenceName: "chafa"),
    ]
}
