import Foundation
import LazyImages
import SystemSupport

/// Measures several processes with one cache folder, in three parts:
/// 1. All prewarm one list. Counts the requests at the origin.
/// 2. Each looks up the same thousand values in another order, and stores the missing ones. Counts the values that are
///    stored more than once.
/// 3. All store, read, trim and clear for some seconds. Counts the operations a second and the values that read wrong.
func processesBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard let count = options.words.dropFirst().first.flatMap({ Int($0) }), count > 0 else {
        throw BenchmarkFailure(description: "processes needs a number of processes")
    }
    let seconds = options.number("seconds", default: 60)
    let scratch = try ScratchFolder()
    let folder = try scratch.new("cache")

    let shared = try await SharedFetch.results(count, runs: options.runs)
    let fetched = try await workers(count, ["fetch", folder])
    let mixed = try await workers(count, ["mixed", folder, "\(seconds)"])
    let cache = DiskCache(folder: folder)
    let report = await cache.verify()
    await cache.flush()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").count
    return [
        BenchmarkResult(
            name: "values \(count) processes stored more than once, of \(CacheWorker.keyCount)",
            unit: "values",
            ours: Double(fetched.operations - CacheWorker.keyCount)),
        BenchmarkResult(
            name: "operations of \(count) processes", unit: "operations/s",
            ours: Double(mixed.operations) / Double(seconds)),
        BenchmarkResult(
            name: "torn reads in \(mixed.operations) operations", unit: "reads", ours: Double(mixed.torn)),
        BenchmarkResult(
            name: "entries that verify found wrong afterwards, of \(report.entries)", unit: "entries",
            ours: Double(report.removedEntries)),
        BenchmarkResult(name: "temporary files afterwards", unit: "files", ours: Double(left)),
    ] + shared
}

/// Starts `count` workers at once and adds up their reports.
private func workers(_ count: Int, _ arguments: [String]) async throws -> CacheWorker.Report {
    let processes = try (0..<count).map { seed in
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: try Program.path("marquee-bench"))
        process.arguments = ["worker"] + arguments + ["\(seed)"]
        process.standardOutput = output
        try process.run()
        return (process, output)
    }
    var sum = CacheWorker.Report()
    for (process, output) in processes {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard process.terminationStatus == 0, numbers.count == 2 else {
            throw BenchmarkFailure(description: "a worker ended with status \(process.terminationStatus)")
        }
        sum.operations += numbers[0]
        sum.torn += numbers[1]
    }
    return sum
}

/// What one of the processes does: `marquee-bench worker WORK FOLDER ...`.
enum CacheWorker {
    static let keyCount = 1_000

    struct Report {
        var operations = 0
        var torn = 0
    }

    static func run(_ words: [String]) async throws {
        guard words.count >= 4, let seed = words.last.flatMap({ Int($0) }) else {
            throw BenchmarkFailure(description: "worker is for marquee-bench's own use")
        }
        let folder = words[2]
        switch words[1] {
        case "fetch": print(await fetch(folder, seed: seed).line)
        case "mixed": print(await mixed(folder, seconds: Int(words[3]) ?? 1, seed: seed).line)
        case "store": await store(folder, killAt: Int(words[3]) ?? 0)
        default: throw BenchmarkFailure(description: "worker knows no \(words[1])")
        }
    }

    static func key(_ number: Int) -> CacheKey { CacheKey(url: URL(fileURLWithPath: "/poster-\(number)")) }

    /// The value of a key: its length and all its bytes follow from its number.
    static func value(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 500 + number * 37 % 20_000)
    }

    private static func fetch(_ folder: String, seed: Int) async -> Report {
        let cache = DiskCache(folder: folder)
        var report = Report()
        for step in 0..<keyCount {
            let number = (step + seed * 131) % keyCount
            if cache.readEntry(for: key(number)) == nil {
                report.operations += 1
                await cache.store(value(number), for: key(number))
            }
        }
        await cache.flush()
        return report
    }

    private static func mixed(_ folder: String, seconds: Int, seed: Int) async -> Report {
        // Half of the values fit.
        let cache = DiskCache(folder: folder, limit: 5 << 20)
        var maker = TraceMaker(seed: UInt64(seed))
        var report = Report()
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let number = maker.below(keyCount)
            report.operations += 1
            switch maker.below(10_000) {
            case 0: await cache.removeAll()
            case 1...5: await cache.trim(to: 2 << 20)
            case 6...100: await cache.remove(key(number))
            case 101...3_000: await cache.store(value(number), for: key(number))
            default:
                if let entry = cache.readEntry(for: key(number)), entry.body.array != value(number) {
                    report.torn += 1
                }
            }
        }
        await cache.flush()
        return Report(operations: report.operations, torn: report.torn + cache.counters.corrupt)
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

extension CacheWorker.Report {
    fileprivate var line: String { "\(operations) \(torn)" }
}
