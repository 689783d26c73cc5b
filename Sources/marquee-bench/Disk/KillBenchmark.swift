import Foundation
import LazyImages

/// Kills `marquee prewarm` again and again at random moments, and after every kill reads everything the cache holds:
/// how many entries read wrong, and how many temporary files are left after the next whole run. Then once at every call of
/// the system that a store with an eviction makes.
func killBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard let kills = options.words.dropFirst().first.flatMap({ Int($0) }), kills > 0 else {
        throw BenchmarkFailure(description: "kill wants a number of kills")
    }
    let scratch = try ScratchFolder()
    let folder = try scratch.new("cache")
    let wholeRun = try await seconds { try Prewarm(folder).finish() }
    guard DiskCache(folder: folder).entriesOnDisk > 0 else {
        throw BenchmarkFailure(description: "prewarm stored nothing: run it where the sample data is")
    }

    var wrong = 0
    var killedInTheMiddle = 0
    for _ in 0..<kills {
        let before = DiskCache(folder: folder)
        if before.entriesOnDisk > 30 { await before.removeAll() }
        let run = try Prewarm(folder)
        if try run.kill(after: Double.random(in: 0...wholeRun)) { killedInTheMiddle += 1 }
        wrong += await DiskCache(folder: folder).verify().removedEntries
    }
    try Prewarm(folder).finish()
    let temporary = try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").count
    return try await [
        BenchmarkResult(
            name: "kills in the middle of a prewarm", unit: "kills", ours: Double(killedInTheMiddle)),
        BenchmarkResult(
            name: "entries that read wrong after \(kills) kills", unit: "entries", ours: Double(wrong)),
        BenchmarkResult(name: "temporary files after the next run", unit: "files", ours: Double(temporary)),
    ] + KillAtCalls.results()
}

/// One run of `marquee prewarm`, from beside this program.
private struct Prewarm {
    private let process = Process()

    init(_ folder: String) throws {
        process.executableURL = URL(filePath: try Program.path("marquee"))
        process.arguments = ["prewarm", "--quiet", "--cache-dir", folder]
        try process.run()
    }

    func finish() throws {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFailure(
                description: "marquee prewarm ended with status \(process.terminationStatus)")
        }
    }

    /// Kills the run after so many seconds; false if it had ended by itself.
    func kill(after seconds: Double) throws -> Bool {
        poll(nil, 0, Int32(seconds * 1000))
        let isRunning = process.isRunning
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return isRunning
    }
}

extension DiskCache {
    /// By the folder's own count.
    fileprivate var entriesOnDisk: Int { counters.entries }
}
