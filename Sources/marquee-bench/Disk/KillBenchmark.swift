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

/// Kills a process with SIGKILL before every single call of the system that stores with eviction make, one run for each,
/// and looks at the cache after every kill: what was complete before must be there whole or have been evicted, nothing may
/// read wrong, and after the next opening no temporary file is left.
enum KillAtCalls {
    /// Room for the values that are there before, and not for the new ones.
    static let limit = 60_000
    static let stores = 2
    /// The number of the first value that a run stores.
    static let first = 500
    private static let fill = 12
    /// The last of the values there before, which no eviction of the run has to take.
    private static let young = 2

    static func results() async throws -> [BenchmarkResult] {
        let scratch = try ScratchFolder()
        let calls = try await run(in: scratch.new("cache"), killAt: 0)
        var (wrong, lost, left) = (0, 0, 0)
        for number in 1...calls {
            let folder = try scratch.new("cache")
            _ = try await run(in: folder, killAt: number)
            let cache = DiskCache(folder: folder)
            await cache.flush()
            left += try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").count
            let report = await cache.verify()
            wrong += report.removedEntries + newest(in: cache).wrong
            // The eviction may take what is oldest; what was stored last before must stay.
            lost += newest(in: cache).missing
        }
        return [
            BenchmarkResult(
                name: "kills, one before every call of stores that make room", unit: "kills",
                ours: Double(calls)),
            BenchmarkResult(name: "entries that read wrong after them", unit: "entries", ours: Double(wrong)),
            BenchmarkResult(name: "young entries lost by them", unit: "entries", ours: Double(lost)),
            BenchmarkResult(
                name: "temporary files after the next opening", unit: "files", ours: Double(left)),
        ]
    }

    /// One run on a cache that is nearly full; how many calls it made, if it lived.
    private static func run(in folder: String, killAt: Int) async throws -> Int {
        let cache = DiskCache(folder: folder, limit: limit)
        for number in 0..<fill { await cache.store(body(number), for: CacheWorker.key(number)) }
        await cache.flush()
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: try Program.path("marquee-bench"))
        process.arguments = ["worker", "store", folder, "\(killAt)", "0"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    private static func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 4_800) }

    /// What has become of the last of the values that were there before.
    private static func newest(in cache: DiskCache) -> (missing: Int, wrong: Int) {
        var (missing, wrong) = (0, 0)
        for number in fill - young..<fill {
            let entry: DiskCache.Entry? = cache.entry(for: CacheWorker.key(number))
            if let entry { wrong += entry.body.array == body(number) ? 0 : 1 } else { missing += 1 }
        }
        return (missing, wrong)
    }
}
