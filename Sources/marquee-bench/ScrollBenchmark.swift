import CatalogueService
import Foundation
import TerminalGraphics
import TestSupport

/// Holds the arrow key down in the real browser, through a list of films that each have a poster of their own, in a
/// pseudoterminal: a press as soon as the frame of the one before is on the screen, a hundred at a time, then a rest until
/// every poster is shown. Twice in new processes: with an empty disk tier, and with all that the first one stored.
///
/// What is measured how:
/// - processor time a frame: the browser's own (all its threads) from a burst's first press to the frame of its last, once
///   through films that memory does not have, once up and down among films that it has;
/// - loads started while a flag is set: requests that reach the origin between a burst's first press and its last, all
///   posters being new to the cache; a machine that lets 120 ms pass between two presses ends the burst before, so the
///   longest time between two is told with it;
/// - a single press: from the key to the first request that reaches the origin;
/// - pictures after a burst: from 120 ms after the last key to a screen without a placeholder, all posters on disk;
/// - memory: the most that was seen of the browser's own (RssAnon, looked at after every burst), at most the limit of its
///   memory tier, which `--memory-size MIB` sets (default 64), and 30 MB; and the high-water mark (VmHWM), which holds the
///   system's shared libraries too;
/// - pictures in pixels, with `--graphics kitty|iterm2|sixel` (default: blocks): how many were sent while a key was held
///   in any film, and how many again, among films that were on the screen before; the bytes from a burst's
///   last frame to all its pictures.
func scrollBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let size = (options.values["size"] ?? "80x24").split(separator: "x").compactMap { Int($0) }
    let rows = options.number("rows", default: 10_000)
    guard size.count == 2, size[0] >= 40, size[1] >= 10, rows >= 200 else {
        throw BenchmarkFailure(
            description: "scroll wants --rows N, from 200, and --size COLSxROWS, from 40x10")
    }
    let memory = options.number("memory-size", default: 64)
    guard let graphics = GraphicsMode(rawValue: options.values["graphics"] ?? "blocks") else {
        throw BenchmarkFailure(description: "scroll wants --graphics kitty, iterm2, sixel or blocks")
    }
    let scratch = try ScratchFolder()
    let folder = try FilmFolder(films: rows, in: scratch)
    let service = try CatalogueService(.folder(path: folder.path))
    try service.start()
    defer { service.stop() }
    let cache = try scratch.new("cache")
    var runs: [HeldScroll] = []
    for _ in 0..<2 {
        var run = try HeldScroll(
            service, films: rows, cache: cache, memory: memory, graphics: graphics, columns: size[0],
            lines: size[1])
        try run.scroll(presses: rows - 30)
        runs.append(run)
    }
    return results(
        empty: runs[0], warm: runs[1], graphics: graphics, columns: size[0], lines: size[1], memory: memory)
}

private func results(
    empty: HeldScroll, warm: HeldScroll, graphics: GraphicsMode, columns: Int, lines: Int, memory: Int
) -> [BenchmarkResult] {
    let name = "scroll \(columns)x\(lines), \(graphics): "
    func result(_ what: String, _ unit: String, _ value: Double, atMost bound: Double? = nil)
        -> BenchmarkResult
    {
        BenchmarkResult(
            name: name + what, unit: unit, ours: value, reference: bound, referenceName: "at most")
    }
    let area = Double(columns * lines)
    // 2 ms at 80 x 24 and 4 ms at 200 x 60.
    let bound = 2 + max(0, area - 80 * 24) / (200 * 60 - 80 * 24) * 2
    let cost = empty.cost + warm.cost
    let costInMemory = empty.costInMemory + warm.costInMemory
    let pictures = warm.pictureTimes
    let sent = [
        result("pictures sent while held", "pictures", Double(empty.sentWhileHeld + warm.sentWhileHeld)),
        result(
            "pictures sent again among films in memory", "pictures",
            Double(empty.sentAgain + warm.sentAgain)),
        result("pictures sent on the whole", "pictures", Double(empty.sent + warm.sent)),
        result("bytes from a burst's end to its pictures, median", "bytes", median(warm.restBytes)),
    ]
    return (graphics == .blocks ? [] : sent) + [
        result("processor time a frame", "ms", cost.milliseconds, atMost: bound),
        result("the same with all pictures in memory", "ms", costInMemory.milliseconds, atMost: bound),
        result("bytes a frame", "bytes", cost.bytesAFrame),
        result("the same with all pictures in memory", "bytes", costInMemory.bytesAFrame),
        result(
            "loads started while a flag was set", "loads", Double(empty.loadsWhileHeld + warm.loadsWhileHeld)),
        result("longest time between two presses", "ms", max(empty.longestGap, warm.longestGap) * 1000),
        result(
            "single press to its load, median", "ms", median(empty.startTimes) * 1000, atMost: 16),
        result("single press to its load, slowest", "ms", (empty.startTimes.max() ?? .nan) * 1000),
        result("end of a burst to all pictures, median", "ms", median(pictures) * 1000, atMost: 150),
        result("end of a burst to all pictures, slowest", "ms", (pictures.max() ?? .nan) * 1000),
        result(
            "memory", "MB", max(empty.memory, warm.memory) / 1e6, atMost: Double(memory) * 1.048576 + 30),
        result(
            "memory with shared libraries", "MB", max(empty.highWaterMark, warm.highWaterMark) / 1e6),
    ]
}
