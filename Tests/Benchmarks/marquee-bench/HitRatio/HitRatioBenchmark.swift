import Foundation
import LazyImages

/// The hit ratios of caches of one size: LRU, SIEVE, ours, and the optimum that knows the future. Without a
/// trace, it uses traces that are made anew and identical in every run.
func hitRatioBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    if let path = options.values["pairs"] { return try pairResults(list: path, options) }
    if let path = options.words.dropFirst().first {
        guard let capacity = options.values["capacity"].flatMap({ Int($0) }), capacity > 0 else {
            throw BenchmarkFailure(description: "hit-ratio needs --capacity N, the entries of the cache")
        }
        let trace = try NumberedTrace(file: path, isBinary: options.flags.contains("binary"))
        return HitRatios(of: trace, capacity: capacity).results(name: "capacity \(capacity)")
    }
    return results(of: FrozenTrace.browsing, named: "browsing")
        + results(of: FrozenTrace.short(seed: 1), named: "short traces")
}

/// The hit ratios of each trace and capacity in a file, one pair on each line (`traces/gli.txt 500`), and their mean.
/// The traces' paths are relative to the working folder.
private func pairResults(list path: String, _ options: Options) throws -> [BenchmarkResult] {
    var results: [BenchmarkResult] = []
    var all: [HitRatios] = []
    for line in try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, let capacity = Int(words[1]), capacity > 0 else {
            throw BenchmarkFailure(description: "\(path): a line is a trace and a capacity, not “\(line)”")
        }
        let trace = try NumberedTrace(file: words[0], isBinary: options.flags.contains("binary"))
        let ratios = HitRatios(of: trace, capacity: capacity)
        all.append(ratios)
        results += ratios.results(name: "\(words[0]), capacity \(capacity)")
    }
    return results + HitRatios(meanOf: all).results(name: "mean of \(all.count) pairs")
}

private func results(of traces: [FrozenTrace], named group: String) -> [BenchmarkResult] {
    var results: [BenchmarkResult] = []
    var all: [HitRatios] = []
    for trace in traces {
        let numbered = NumberedTrace(trace.uses)
        for capacity in trace.capacities {
            let ratios = HitRatios(of: numbered, capacity: capacity)
            all.append(ratios)
            results += ratios.results(name: "\(trace.name), capacity \(capacity)")
        }
    }
    return results + HitRatios(meanOf: all).results(name: "mean of \(group)")
}

/// The hit ratio of each policy for a trace, 0 to 1.
struct HitRatios {
    let lru: Double
    let sieve: Double
    let ours: Double
    let optimum: Double

    init(of trace: NumberedTrace, capacity: Int) {
        func ratio<Policy: ReplacementPolicy>(_: Policy.Type) -> Double {
            var policy = Policy(capacity: capacity, keyCount: trace.keyCount)
            var hits = 0
            for key in trace.uses where policy.use(key) { hits += 1 }
            return Double(hits) / Double(max(1, trace.uses.count))
        }
        lru = ratio(LeastRecentlyUsed.self)
        sieve = ratio(Sieve.self)
        ours = ratio(MemoryTier.self)
        let hits = Optimum.hits(trace.uses, capacity: capacity, keyCount: trace.keyCount)
        optimum = Double(hits) / Double(max(1, trace.uses.count))
    }

    init(meanOf all: [HitRatios]) {
        func mean(_ part: KeyPath<HitRatios, Double>) -> Double {
            all.reduce(0) { $0 + $1[keyPath: part] } / Double(max(1, all.count))
        }
        (lru, sieve) = (mean(\.lru), mean(\.sieve))
        (ours, optimum) = (mean(\.ours), mean(\.optimum))
    }

    /// One line for each policy, with the optimum as reference.
    func results(name: String) -> [BenchmarkResult] {
        [("LRU", lru), ("SIEVE", sieve), ("ours", ours), ("optimum", optimum)].map {
            BenchmarkResult(
                name: "hit ratio, \(name), \($0.0)", unit: "%", ours: 100 * $0.1, reference: 100 * optimum,
                referenceName: "optimum")
        }
    }
}

/// The memory tier itself; every entry costs 1.
private struct MemoryTier: ReplacementPolicy {
    private final class Object: Sendable {}

    private let cache: MemoryCache<Object>
    private let object = Object()
    private var keys: [CacheKey?]

    init(capacity: Int, keyCount: Int) {
        cache = MemoryCache(limit: capacity)
        keys = Array(repeating: nil, count: keyCount)
    }

    mutating func use(_ key: Int) -> Bool {
        let cacheKey = keys[key] ?? CacheKey(number: key)
        keys[key] = cacheKey
        if cache.value(for: cacheKey) != nil { return true }
        cache.store(object, for: cacheKey, cost: 1)
        return false
    }
}

extension CacheKey {
    /// As long as a poster's address.
    init(number: Int) { self.init(url: URL(fileURLWithPath: "/\(number)")) }
}
