import Foundation
import LazyImages
import Synchronization
import SystemSupport

/// A hit of the memory tier on 1, 2 and 4 threads, or on `--threads N`, beside a `[String: Object]` under a mutex, with
/// the same accesses: 2,000 keys of about 60 characters in a random order, made beforehand.
func memoryBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let tiers = MemoryTiers()
    var results: [BenchmarkResult] = []
    for threads in options.values["threads"].flatMap({ Int($0) }).map({ [$0] }) ?? [1, 2, 4] {
        let times = try await alternating(
            runs: options.runs * 3, ours: { await onThreads(threads) { tiers.ours() } },
            reference: options.wantsReference ? { await onThreads(threads) { tiers.dictionary() } } : nil)
        let each = 1e9 / Double(MemoryTiers.lookups * threads)
        results.append(
            BenchmarkResult(
                name: "memory hit, \(threads) thread\(threads == 1 ? "" : "s")", unit: "ns",
                ours: times.ours * each, reference: times.reference.map { $0 * each },
                referenceName: "[String: Object] under a Mutex"))
    }
    return results
}

/// Runs `body` on this many threads at once and waits for all.
private func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) async {
    await withTaskGroup { group in
        for _ in 0..<count { group.addTask { await BlockingThreads.runOnOwnThread(body) } }
    }
}

/// The tiers under test, and the keys and objects of all runs.
private struct MemoryTiers: Sendable {
    static let count = 2_000
    static let lookups = 200_000

    final class Object: Sendable {}

    private final class LockedDictionary: Sendable {
        let objects: Mutex<[String: Object]>

        init(_ objects: [String: Object]) { self.objects = Mutex(objects) }
    }

    private let keys: [CacheKey]
    private let names: [String]
    private let cache = MemoryCache<Object>(limit: count)
    private let locked: LockedDictionary
    private let order = (0..<lookups).map { _ in Int.random(in: 0..<count) }

    init() {
        names = (0..<Self.count).map {
            "https://posters.example.org/2024/films/\(10_000 + $0)/poster-w500.jpg"
        }
        keys = names.compactMap { URL(string: $0) }.map { CacheKey(url: $0) }
        let objects = names.map { _ in Object() }
        for (key, object) in zip(keys, objects) { cache.store(object, for: key, cost: 1) }
        locked = LockedDictionary(Dictionary(uniqueKeysWithValues: zip(names, objects)))
    }

    func ours() { lookUp { cache.value(for: keys[$0]) != nil } }

    func dictionary() {
        lookUp { index in locked.objects.withLock { $0[names[index]] } != nil }
    }

    @inline(__always)
    private func lookUp(_ isHit: (Int) -> Bool) {
        var hits = 0
        for index in order where isHit(index) { hits += 1 }
        precondition(hits == order.count, "every lookup of this benchmark must hit")
    }
}
