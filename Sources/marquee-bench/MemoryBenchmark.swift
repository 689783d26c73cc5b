import Foundation
import LazyImages
import Synchronization

/// A hit and a store of the memory tier, beside a `[String: Object]` under a mutex with the same access pattern: 2,000 keys
/// of about 60 characters in a random order, keys and objects made beforehand. The store replaces nothing: every one
/// evicts the least recently used value, where the dictionary removes the key that has been in it for longest.
func memoryBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let tiers = MemoryTiers()
    let runs = options.runs * 3
    let reference = options.wantsReference
    let hit = try await alternating(
        runs: runs, ours: tiers.hits, reference: reference ? tiers.dictionaryHits : nil)
    let store = try await alternating(
        runs: runs, ours: tiers.evictingStores, reference: reference ? tiers.dictionaryStores : nil)
    let each = 1e9 / Double(MemoryTiers.lookups)
    return [
        BenchmarkResult(
            name: "memory hit", unit: "ns", ours: hit.ours * each, reference: hit.reference.map { $0 * each },
            referenceName: "[String: Object] under a Mutex"),
        BenchmarkResult(
            name: "memory store with eviction", unit: "ns", ours: store.ours * each,
            reference: store.reference.map { $0 * each }, referenceName: "[String: Object] under a Mutex"),
        BenchmarkResult(
            name: "memory store with eviction", unit: "ns", ours: store.ours * each,
            reference: hit.ours * each,
            referenceName: "our memory hit"),
    ]
}

/// The two tiers under test and what the runs share.
private struct MemoryTiers {
    static let count = 2_000
    static let lookups = 200_000

    private final class Object: Sendable {}

    private final class LockedDictionary: Sendable {
        let objects: Mutex<[String: Object]>

        init(_ objects: [String: Object]) { self.objects = Mutex(objects) }
    }

    private let keys: [CacheKey]
    private let names: [String]
    private let objects: [Object]
    private let cache = MemoryCache<Object>(limit: count)
    private let dictionary: LockedDictionary
    private let order = (0..<lookups).map { _ in Int.random(in: 0..<count) }

    init() {
        names = (0..<2 * Self.count).map {
            "https://posters.example.org/2024/films/\(10_000 + $0)/poster-w500.jpg"
        }
        keys = names.compactMap { URL(string: $0) }.map { CacheKey(url: $0) }
        objects = names.map { _ in Object() }
        for index in 0..<Self.count { cache.store(objects[index], for: keys[index], cost: 1) }
        dictionary = LockedDictionary(
            Dictionary(uniqueKeysWithValues: zip(names, objects).prefix(Self.count)))
    }

    func hits() {
        var hits = 0
        for index in order where cache.value(for: keys[index]) != nil { hits += 1 }
        precondition(hits == order.count, "every lookup of this benchmark must hit")
    }

    func dictionaryHits() {
        var hits = 0
        for index in order where dictionary.objects.withLock({ $0[names[index]] }) != nil { hits += 1 }
        precondition(hits == order.count, "every lookup of this benchmark must hit")
    }

    /// Every key in turn, twice as many as there is room for.
    func evictingStores() {
        for number in 0..<Self.lookups {
            let index = number % keys.count
            cache.store(objects[index], for: keys[index], cost: 1)
        }
    }

    func dictionaryStores() {
        for number in 0..<Self.lookups {
            let index = number % names.count
            let oldest = (index + Self.count) % names.count
            dictionary.objects.withLock { objects in
                objects[names[oldest]] = nil
                objects[names[index]] = self.objects[index]
            }
        }
    }
}
