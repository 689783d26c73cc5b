import CatalogueService
import Foundation

/// Holds the arrow key down in the real browser, in a pseudoterminal, through a list of films with a poster each. A
/// press follows as soon as the frame of the last one is on the screen: a hundred presses, then a rest until every
/// poster is shown. Two new processes do so: the first with an empty disk tier, the second with all that the first one
/// stored.
///
/// What is measured how:
/// - processor time a frame: the browser's own (all threads) from a burst's first press to the frame of its last, once
///   through films that are not in memory, once up and down among films that are;
/// - loads started while a flag is set: requests at the origin between a burst's first press and its last, with all
///   posters new to the cache. A pause of 120 ms between two presses ends the burst early, so the longest pause is
///   printed too;
/// - a single press: from the key to the first request at the origin;
/// - pictures after a burst: from 120 ms after the last key to a screen without a placeholder, all posters on disk;
/// - memory: the peak of the browser's own (RssAnon, read after every burst). Its limit is the memory tier's, set by
///   `--memory-size MIB` (default 64), plus 30 MB. Also the high-water mark (VmHWM), which includes the system's shared
///   libraries.
func scrollBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let size = (options.values["size"] ?? "80x24").split(separator: "x").compactMap { Int($0) }
    let rows = options.number("rows", default: 10_000)
    guard size.count == 2, size[0] >= 40, size[1] >= 10, rows >= 200 else {
        throw BenchmarkFailure(
            description: "scroll needs --rows N, from 200, and --size COLSxROWS, from 40x10")
    }
    let memory = options.number("memory-size", default: 64)
    let scratch = try ScratchFolder()
    let folder = try ScrollFolder(films: rows, in: scratch)
    let service = try CatalogueService(.folder(path: folder.path))
    try service.start()
    defer { service.stop() }
    let cache = try scratch.new("cache")
    var runs: [HeldScroll] = []
    for _ in 0..<2 {
        var run = try HeldScroll(
            service, films: rows, cache: cache, memory: memory, columns: size[0], lines: size[1])
        try run.scroll(presses: rows - 30)
        runs.append(run)
    }
    return results(empty: runs[0], warm: runs[1], columns: size[0], lines: size[1], memory: memory)
}

private func results(
    empty: HeldScroll, warm: HeldScroll, columns: Int, lines: Int, memory: Int
) -> [BenchmarkResult] {
    let name = "scroll \(columns)x\(lines): "
    func result(_ what: String, _ unit: String, _ value: Double, atMost bound: Double? = nil)
        -> BenchmarkResult
    {
        BenchmarkResult(
            name: name + what, unit: unit, ours: value, atMost: bound)
    }
    let area = Double(columns * lines)
    // 2 ms at 80 x 24 and 4 ms at 200 x 60.
    let bound = 2 + max(0, area - 80 * 24) / (200 * 60 - 80 * 24) * 2
    let cost = empty.cost + warm.cost
    let costInMemory = empty.costInMemory + warm.costInMemory
    let pictures = warm.pictureTimes
    return [
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
