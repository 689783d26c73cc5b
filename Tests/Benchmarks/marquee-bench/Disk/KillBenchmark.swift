import Foundation
import LazyImages
import SystemSupport

/// Kills `marquee prewarm` repeatedly at random moments. After every kill it reads the whole cache: how many entries
/// are corrupt, and how many temporary files remain after the next complete run. Then it kills once at each system call
/// of a store with eviction.
func killBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard let kills = options.words.dropFirst().first.flatMap({ Int($0) }), kills > 0 else {
        throw BenchmarkFailure(description: "kill needs a number of kills")
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
            name: "entries that read wrong after \(kills) kills", unit: "entries", ours: Double(wrong),
            exactly: 0),
        BenchmarkResult(
            name: "temporary files after the next run", unit: "files", ours: Double(temporary), exactly: 0),
    ] + KillAtCalls.results()
}

/// One run of `marquee prewarm`, the program beside this one.
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

    /// Kills the run after this time in seconds; false if it had already ended.
    func kill(after seconds: Double) throws -> Bool {
        poll(nil, 0, Int32(seconds * 1000))
        let isRunning = process.isRunning
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return isRunning
    }
}

extension DiskCache {
    /// The folder's own count.
    fileprivate var entriesOnDisk: Int { counters.entries }
}

/// Kills a process with SIGKILL before each system call of stores with eviction, one run for each call. It checks the
/// cache after every kill: complete entries must be intact or evicted, nothing may be corrupt, and after the next
/// opening no temporary file remains.
enum KillAtCalls {
    /// Room for the existing values, but not for the new ones.
    static let limit = 60_000
    static let stores = 2
    /// The number of the first value that a run stores.
    static let first = 500
    private static let fill = 12
    /// The number of the newest existing values. No run needs to evict them.
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
            // The eviction may take the oldest; the newest must stay.
            lost += newest(in: cache).missing
        }
        return [
            BenchmarkResult(
                name: "kills, one before every call of stores that make room", unit: "kills",
                ours: Double(calls)),
            BenchmarkResult(
                name: "entries that read wrong after them", unit: "entries", ours: Double(wrong), exactly: 0),
            BenchmarkResult(
                name: "young entries lost by them", unit: "entries", ours: Double(lost), exactly: 0),
            BenchmarkResult(
                name: "temporary files after the next opening", unit: "files", ours: Double(left), exactly: 0),
        ]
    }

    /// One run on a cache that is nearly full. Returns the number of calls if the run survived.
    private static func run(in folder: String, killAt: Int) async throws -> Int {
        let cache = DiskCache(folder: folder, limit: limit)
        for number in 0..<fill { await cache.store(body(number), for: CacheWorker.key(number)) }
        await cache.flush()
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: try Program.path("marquee-bench"))
        process.arguments = ["worker", "store", folder, "\(killAt)"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    private static func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 4_800) }

    /// The state of the newest existing values.
    private static func newest(in cache: DiskCache) -> (missing: Int, wrong: Int) {
        var (missing, wrong) = (0, 0)
        for number in fill - young..<fill {
            let entry: DiskCache.Entry? = cache.readEntry(for: CacheWorker.key(number))
            if let entry { wrong += entry.body.array == body(number) ? 0 : 1 } else { missing += 1 }
        }
        return (missing, wrong)
    }
}

/// What the killed process does: `marquee-bench worker store FOLDER CALL`.
enum CacheWorker {
    static func run(_ words: [String]) async throws {
        guard words.count == 4, words[1] == "store", let call = Int(words[3]) else {
            throw BenchmarkFailure(description: "worker is for marquee-bench's own use")
        }
        await store(words[2], killAt: call)
    }

    static func key(_ number: Int) -> CacheKey { CacheKey(url: URL(fileURLWithPath: "/poster-\(number)")) }

    /// The value of a key: its length and all its bytes follow from its number.
    private static func value(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 500 + number * 37 % 20_000)
    }

    /// Fills a small cache until it evicts, and dies of SIGKILL at one call of the system; prints how many calls there
    /// were if it lives.
    private static func store(_ folder: String, killAt: Int) async {
        let count = Lock(0)
        let calls = FileCalls { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == killAt { kill(getpid(), SIGKILL) }
            return nil
        }
        let cache = DiskCache(
            folder: folder, limit: KillAtCalls.limit, stagingLimit: 1 << 20, calls: calls)
        for number in 0..<KillAtCalls.stores {
            await cache.store(value(KillAtCalls.first + number), for: key(KillAtCalls.first + number))
            await cache.flush()
        }
        print(count.withLock { $0 })
    }
}
