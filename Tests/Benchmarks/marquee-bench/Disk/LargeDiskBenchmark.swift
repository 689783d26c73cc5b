import Foundation
import LazyImages

/// A disk cache of very many small entries, beside one of a thousand: opening, a hot hit, a miss, a store to `flush()`,
/// and the longest store while every store must evict. Entries of 200 bytes; a hot set of a thousand.
func largeDiskBenchmark(_ options: Options, entries: Int) async throws -> [BenchmarkResult] {
    let folder = try ScratchFolder()
    let large = try await FilledCache(folder: folder.new("large"), entries: entries)
    let small = try await FilledCache(
        folder: folder.new("small"), entries: min(entries, FilledCache.hotCount))
    var results = [large.opening(runs: options.runs)]

    let runs = options.runs * 3
    let each = 1e6 / Double(FilledCache.hotCount)
    func compare(_ name: String, _ body: @escaping (FilledCache) async throws -> Void) async throws {
        let times = try await alternating(
            runs: runs, ours: { try await body(large) },
            reference: options.wantsReference ? { try await body(small) } : nil)
        results.append(
            BenchmarkResult(
                name: "\(name) at \(entries) entries", unit: "us", ours: times.ours * each,
                reference: times.reference.map { $0 * each }, referenceName: "at \(small.entries)"))
    }
    try await compare("hot hit") { try $0.hits() }
    try await compare("miss") { try $0.misses() }
    try await compare("store to flush") { await $0.stores() }
    results += await large.evictions(stores: 3_000)
    return results
}

/// A cache with this many entries.
private struct FilledCache: Sendable {
    static let hotCount = 1_000
    private static let body = [UInt8](repeating: 7, count: 100)
    /// The bytes of a file besides its body: the header and a key.
    private static let beside = 40 + 60

    let entries: Int
    private let folder: String
    private let cache: DiskCache
    private let hot: [CacheKey]
    private let absent: [CacheKey]

    init(folder: String, entries: Int) async throws {
        self.folder = folder
        self.entries = entries
        cache = DiskCache(folder: folder, limit: .max / 4)
        for number in 0..<entries { await cache.store(Self.body, for: Self.key(number)) }
        await cache.flush()
        // Spread over the whole cache, not in the order of storing.
        hot = (0..<min(entries, Self.hotCount)).map { Self.key($0 &* 7_919 % entries) }
        absent = hot.indices.map { Self.key(entries + $0) }
        if let fault = cache.counters.lastFault { throw BenchmarkFailure(description: fault) }
    }

    /// An address of 60 characters.
    private static func key(_ number: Int) -> CacheKey {
        let digits = String(10_000_000 + number)
        return CacheKey(url: URL(fileURLWithPath: "/posters.example.org/films/\(digits)/poster-w500.jpg"))
    }

    func opening(runs: Int) -> BenchmarkResult {
        var times: [Double] = []
        for _ in 0..<runs {
            let begin = ContinuousClock.now
            let opened = DiskCache(folder: folder)
            _ = opened.contains(hot[0])
            times.append((ContinuousClock.now - begin) / .milliseconds(1))
        }
        return BenchmarkResult(
            name: "opening a cache of \(entries) entries and looking for one", unit: "ms", ours: median(times)
        )
    }

    func hits() throws {
        for key in hot {
            guard cache.readEntry(for: key) != nil else {
                throw BenchmarkFailure(description: "an entry of the benchmark's own cache is missing")
            }
        }
    }

    func misses() throws {
        for key in absent where cache.readEntry(for: key) != nil {
            throw BenchmarkFailure(description: "an entry that was never stored is there")
        }
    }

    func stores() async {
        for key in hot { await cache.store(Self.body, for: key) }
        await cache.flush()
    }

    /// Stores into a full cache, each up to `flush()`.
    func evictions(stores: Int) async -> [BenchmarkResult] {
        let limit = cache.counters.bytes
        let full = DiskCache(folder: folder, limit: limit)
        var times: [Double] = []
        var most = 0
        for number in 0..<stores {
            let key = Self.key(2 * entries + number)
            let begin = ContinuousClock.now
            await full.store(Self.body, for: key)
            await full.flush()
            times.append((ContinuousClock.now - begin) / .milliseconds(1))
            most = max(most, full.counters.bytes)
        }
        let evicted = Double(full.counters.evictions)
        return [
            BenchmarkResult(
                name:
                    "longest of \(stores) stores that make room at \(entries) entries, \(Int(evicted)) evicted",
                unit: "ms", ours: times.max() ?? 0),
            BenchmarkResult(name: "median of them", unit: "ms", ours: median(times)),
            BenchmarkResult(
                name: "most bytes meanwhile", unit: "%", ours: 100 * Double(most) / Double(limit),
                reference: 100,
                referenceName: "limit"),
        ]
    }
}
