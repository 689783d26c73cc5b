import FilmSources
import Foundation

/// The films of a folder: the first page, all of them, and again when nothing has changed.
func folderBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count == 2 else {
        throw BenchmarkFailure(description: "folder needs the path of a folder of films")
    }
    var (first, whole, again): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<max(1, options.runs) {
        let folder = FilmFolder(options.words[1])
        let start = ContinuousClock.now
        var isFirst = true
        try folder.readPages { _ in
            if isFirst { first.append((ContinuousClock.now - start) / .milliseconds(1)) }
            isFirst = false
        }
        whole.append((ContinuousClock.now - start) / .milliseconds(1))
        again.append(try await seconds { try folder.readPages { _ in } } * 1000)
    }
    return [
        BenchmarkResult(name: "first page", unit: "ms", ours: median(first), atMost: 300),
        BenchmarkResult(name: "all pages", unit: "ms", ours: median(whole)),
        BenchmarkResult(name: "again, unchanged", unit: "ms", ours: median(again), atMost: 100),
    ]
}
