import Foundation

/// A benchmark: measures ours and a reference in turn in one run.
struct Benchmark: Sendable {
    /// The subcommand.
    let name: String
    /// Its lines of the usage.
    let usage: String
    let run: @Sendable (Options) async throws -> [BenchmarkResult]

    /// All benchmarks, in the order of the usage.
    static let all = [
        Benchmark(
            name: "fetch",
            usage: """
                marquee-bench fetch URL-LIST [--concurrency N] [--per-host N] [--cacert FILE]
                                               loads every URL of the list, beside curl --parallel; over HTTP/2 from an https
                                               server that offers it
                """, run: fetchBenchmark),
        Benchmark(
            name: "memory",
            usage: """
                marquee-bench memory [--threads N]
                                               a hit of the memory tier on 1, 2 and 4 threads, or on N, beside a
                                               dictionary under a lock
                """, run: memoryBenchmark),
        Benchmark(
            name: "hit-ratio",
            usage: """
                marquee-bench hit-ratio [--capacity N TRACE | --pairs LIST] [--binary]
                                               what LRU, SIEVE, ours and the optimum make of a trace: a key a line,
                                               or 32-bit integers, low byte first; of the pairs of a list, a trace and a
                                               capacity a line, and their mean; without either, of traces of our own
                """, run: hitRatioBenchmark),
        Benchmark(
            name: "disk",
            usage: """
                marquee-bench disk             a hit of the disk tier, beside the raw system calls
                """, run: diskBenchmark),
        Benchmark(
            name: "pressure",
            usage: """
                marquee-bench pressure         how soon the memory tier of another process is smaller once memory is short, by
                                               systemd's protocol and by the kernel's count of stalls
                """, run: pressureBenchmark),
        Benchmark(
            name: "dedupe",
            usage: """
                marquee-bench dedupe [--callers N]
                                               many callers of one URL: requests the origin saw, time a caller
                """, run: dedupeBenchmark),
        Benchmark(
            name: "decode",
            usage: """
                marquee-bench decode FILE...   milliseconds to pixels, of a JPEG beside tjbench; megapixels/s
                """, run: decodeBenchmark),
        Benchmark(
            name: "scroll",
            usage: """
                marquee-bench scroll [--rows N] [--size COLSxROWS] [--memory-size MIB]
                                               the arrow key held in the browser through N films (10000): time and bytes a
                                               frame, loads, memory, and how soon pictures come
                """, run: scrollBenchmark),
        Benchmark(
            name: "folder",
            usage: """
                marquee-bench folder PATH      a folder of films: its first page, all of it, and again unchanged
                """, run: folderBenchmark),
        Benchmark(
            name: "overload",
            usage: """
                marquee-bench overload [--seconds S]
                                               four times the new pictures that marquee serve can make, for S seconds (60):
                                               pictures made, times of refusals and hits, memory
                """, run: overloadBenchmark),
        Benchmark(
            name: "kill",
            usage: """
                marquee-bench kill N           kills prewarms at N random moments, and stores at every call of the system:
                                               entries that read wrong or are lost afterwards
                """, run: killBenchmark),
    ]
}

/// The command `marquee-bench`: measures Marquee beside references. Each subcommand prints both medians and their ratio,
/// and fails if a figure misses what it must be.
@main
struct Bench {
    static let usage =
        Benchmark.all.map(\.usage).joined(separator: "\n")
        + "\n\nEvery one takes  --runs N  (default 7), --json  (one object a result) and --no-reference.\n"
        + "The status is 1 if a figure misses what it must be."

    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let word = options.words.first
            // The processes that some benchmarks start.
            if word == "worker" { return try await CacheWorker.run(options.words) }
            if word == "pressure-worker" { return try await PressureWorker.run() }
            guard let benchmark = Benchmark.all.first(where: { $0.name == word }) else {
                print(usage)
                exit(options.flags.contains("help") ? 0 : 2)
            }
            let results = try await benchmark.run(options)
            for result in results { print(options.flags.contains("json") ? result.json : result.line) }
            if results.contains(where: { $0.isMet == false }) { exit(1) }
        } catch {
            FileHandle.standardError.write(Data("marquee-bench: \(reason(for: error))\n".utf8))
            exit(1)
        }
    }

    /// Foundation's own text for an unreadable file is a long dump.
    private static func reason(for error: any Error) -> String {
        guard let error = error as? CocoaError, let path = error.filePath else { return "\(error)" }
        return "\(path): \(error.localizedDescription)"
    }
}

/// Words, flags (`--binary`) and values (`--runs 5`).
struct Options {
    static let numbers: Set<String> = [
        "runs", "concurrency", "per-host", "callers", "rows", "seconds", "capacity", "threads", "memory-size",
    ]
    static let texts: Set<String> = ["cacert", "pairs", "size"]
    static let switches: Set<String> = ["binary", "help", "json", "no-reference"]
    var words: [String] = []
    var flags: Set<String> = []
    var values: [String: String] = [:]

    /// - Throws: `BenchmarkFailure` for an unknown option, or one whose value is missing or not a number above 0.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let name = String(argument.dropFirst(2))
            if Self.switches.contains(name) {
                flags.insert(name)
                continue
            }
            let isNumber = Self.numbers.contains(name)
            guard isNumber || Self.texts.contains(name) else {
                throw BenchmarkFailure(description: "unknown option \(argument); see --help")
            }
            guard let value = rest.popFirst(), !isNumber || (Int(value) ?? 0) > 0 else {
                let kind = isNumber ? "number above 0" : "value"
                throw BenchmarkFailure(description: "\(argument) needs a \(kind)")
            }
            values[name] = value
        }
    }

    func number(_ name: String, default standard: Int) -> Int { values[name].flatMap { Int($0) } ?? standard }
    var runs: Int { number("runs", default: 7) }
    var wantsReference: Bool { !flags.contains("no-reference") }
}

/// Why a benchmark cannot run, in one line.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
}
