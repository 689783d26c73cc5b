import Foundation
import LazyImages
import Synchronization
import SystemSupport

/// A hit, a miss and a store of the memory tier on 1, 2 and 4 threads, beside a `[String: Object]` under a mutex, with
/// the same accesses: 2,000 keys of about 60 characters in a random order, made beforehand. Stores replace one value
/// each; or cycle through twice as many keys as there is room for; or through eight times as many. In these cycles the
/// dictionary removes its oldest key at every store; ours keeps what fits, so it evicts at every second store, or at
/// seven of eight.
func memoryBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let tiers = MemoryTiers()
    let runs = options.runs * 3
    let each = 1e9 / Double(MemoryTiers.lookups)
    var results: [BenchmarkResult] = []
    for work in MemoryTiers.Work.allCases {
        for threads in options.values["threads"].flatMap({ Int($0) }).map({ [$0] }) ?? [1, 2, 4] {
            func run(_ body: @escaping @Sendable (MemoryTiers, MemoryTiers.Work) -> Void) -> () async -> Void
            {
                { await onThreads(threads) { body(tiers, work) } }
            }
            let wantsReference = options.wantsReference
            let dictionary = try await alternating(
                runs: runs, ours: run { $0.ours($1) },
                reference: wantsReference ? run { $0.dictionary($1) } : nil)
            let name = "memory \(work.rawValue), \(threads) thread\(threads == 1 ? "" : "s")"
            results.append(
                BenchmarkResult(
                    name: name, unit: "ns", ours: dictionary.ours * each / Double(threads),
                    reference: dictionary.reference.map { $0 * each / Double(threads) },
                    referenceName: "[String: Object] under a Mutex"))
            guard wantsReference, threads == 1, work == .evict || work == .mostlyNew else { continue }
            let full = MemoryTiers()
            let beside = try await alternating(
                runs: runs, ours: run { $0.ours($1) },
                reference: { await onThreads(1) { full.ours(.hit) } })
            results.append(
                BenchmarkResult(
                    name: "memory \(work.rawValue)", unit: "ns", ours: beside.ours * each,
                    reference: beside.reference.map { $0 * each }, referenceName: "our memory hit"))
        }
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

    /// The number of keys in a cycle of stores.
    static func turn(_ work: Work) -> Int { work == .evict ? 2 * count : 8 * count }

    enum Work: String, CaseIterable {
        case hit, miss, store = "store in place", evict = "store with eviction"
        case mostlyNew = "store of mostly new keys"
    }

    final class Object: Sendable {}

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
        names = (0..<Self.turn(.mostlyNew) + Self.count).map {
            "https://posters.example.org/2024/films/\(10_000 + $0)/poster-w500.jpg"
        }
        keys = names.compactMap { URL(string: $0) }.map { CacheKey(url: $0) }
        objects = names.map { _ in Object() }
        for index in 0..<Self.count {
            cache.store(objects[index], for: keys[index], cost: 1)
        }
        dictionary = LockedDictionary(
            Dictionary(uniqueKeysWithValues: zip(names, objects).prefix(Self.count)))
    }

    func ours(_ work: Work) {
        run(work, lookUp: { cache.value(for: keys[$0]) != nil }) {
            cache.store(objects[$0], for: keys[$0], cost: 1)
        }
    }

    func dictionary(_ work: Work) {
        let turn = Self.turn(work)
        run(work, lookUp: { index in dictionary.objects.withLock { $0[names[index]] } != nil }) { index in
            dictionary.objects.withLock { objects in
                if work != .store { objects[names[(index + turn - Self.count) % turn]] = nil }
                objects[names[index]] = self.objects[index]
            }
        }
    }

    @inline(__always)
    private func run(_ work: Work, lookUp: (Int) -> Bool, store: (Int) -> Void) {
        switch work {
        case .hit:
            var hits = 0
            for index in order where lookUp(index) { hits += 1 }
            precondition(hits == order.count, "every lookup of this benchmark must hit")
        case .miss:
            var hits = 0
            // The last keys are never stored.
            for index in order where lookUp(Self.turn(.mostlyNew) + index) { hits += 1 }
            precondition(hits == 0, "every lookup of this benchmark must miss")
        case .store: for index in order { store(index) }
        case .evict, .mostlyNew: for number in 0..<Self.lookups { store(number % Self.turn(work)) }
        }
    }
}
