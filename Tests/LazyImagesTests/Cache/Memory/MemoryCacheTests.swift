import FoundationEssentials
import Synchronization
import TestTraits
import Testing

import LazyImages

@Suite("Memory cache", .bounded)
struct MemoryCacheTests {
    @Test(
        "a value larger than the limit is not kept, evicts no other, and removes the older value of its key")
    func tooLarge() throws {
        let cache = MemoryCache<Picture>(limit: 30)
        let (small, large) = (try key("small"), try key("large"))
        cache.store(Picture(), for: small, cost: 30)
        cache.store(Picture(), for: large, cost: 31)
        #expect(cache.value(for: small) != nil && cache.value(for: large) == nil)
        cache.store(Picture(), for: small, cost: 31)
        #expect(cache.value(for: small) == nil && cache.counters.bytes == 0)
    }

    @Test("trim, remove and removeAll release what they name, and the cache keeps working")
    func lettingGo() throws {
        let cache = MemoryCache<Picture>(limit: 100)
        let keys = try (0..<10).map { try key("\($0)") }
        for key in keys { cache.store(Picture(), for: key, cost: 10) }
        cache.trim(toCost: 45)
        #expect(keys.map { cache.value(for: $0) != nil } == (0..<10).map { $0 >= 6 })
        cache.remove(keys[9])
        #expect(cache.value(for: keys[9]) == nil && cache.counters.bytes == 30)
        cache.removeAll()
        #expect(cache.counters.entries == 0 && cache.counters.bytes == 0)
        cache.store(Picture(), for: keys[0], cost: 100)
        #expect(cache.value(for: keys[0]) != nil)
    }

    @Test("the limit can change: a lower one evicts at once, and spares what is pinned")
    func changedLimit() throws {
        let cache = MemoryCache<Picture>(limit: 100)
        let keys = try (0..<20).map { try key("\($0)") }
        for key in keys[..<10] { cache.store(Picture(), for: key, cost: 10) }
        var pin = cache.pin(keys[0])
        #expect(pin != nil)
        cache.limit = 35
        #expect(cache.limit == 35 && cache.counters.bytes == 30 && cache.counters.evictions == 7)
        #expect(keys[..<10].map { cache.value(for: $0) != nil } == (0..<10).map { $0 == 0 || $0 >= 8 })
        cache.store(Picture(), for: keys[10], cost: 36)
        #expect(cache.value(for: keys[10]) == nil, "it is larger than the new limit")
        cache.limit = 200
        for key in keys { cache.store(Picture(), for: key, cost: 10) }
        #expect(cache.counters.entries == 20)
        cache.limit = -1
        #expect(cache.limit == 0 && cache.counters.entries == 1 && cache.value(for: keys[0]) != nil)
        pin = nil
        cache.store(Picture(), for: keys[1], cost: 1)
        #expect(cache.counters.bytes <= 10)
    }

    @Test("a cache that adapts keeps its hits through changes of the limit")
    func changedLimitOfManyEntries() throws {
        let cache = MemoryCache<Picture>(limit: 6_000)
        let keys = try (0..<2_000).map { try key("\($0)") }
        for round in 0..<6 {
            cache.limit = round % 2 == 0 ? 6_000 : 3_000
            for key in keys where cache.value(for: key) == nil { cache.store(Picture(), for: key, cost: 10) }
            #expect(cache.counters.bytes <= cache.limit)
            for key in keys[..<100] {
                if cache.value(for: key) == nil { cache.store(Picture(), for: key, cost: 10) }
            }
            #expect(cache.counters.bytes <= cache.limit && cache.counters.entries >= cache.limit / 10 - 1)
        }
    }

    @Test("a value that calls the cache in its deinitializer finds it unlocked, however it was released")
    func deinitOutsideTheLock() throws {
        let cache = MemoryCache<Picture>(limit: 20)
        let ended = Atomic(0)
        let keys = try (0..<4).map { try key("\($0)") }
        func picture() -> Picture {
            Picture {
                // Would deadlock if the lock were held.
                cache.trim(toCost: 1000)
                ended.add(1, ordering: .relaxed)
            }
        }
        for key in keys { cache.store(picture(), for: key, cost: 10) }  // evicts two
        cache.store(picture(), for: keys[3], cost: 10)  // replaces one
        cache.store(picture(), for: keys[0], cost: 21)  // is too large
        cache.remove(keys[3])
        cache.store(picture(), for: keys[1], cost: 10)
        cache.trim(toCost: 10)
        cache.removeAll()
        #expect(ended.load(ordering: .relaxed) == 7)
    }

    @Test("removeAll removes the matching values, and keeps those stored meanwhile")
    func removalByPredicate() throws {
        let cache = MemoryCache<Picture>(limit: 100)
        let keys = try (0..<10).map { try key("\($0)") }
        let pictures = keys.map { _ in Picture() }
        for (key, picture) in zip(keys, pictures) { cache.store(picture, for: key, cost: 1) }
        cache.removeAll { picture in
            if picture === pictures[3] { cache.store(Picture(), for: keys[3], cost: 1) }
            return [2, 3, 5].contains { picture === pictures[$0] }
        }
        #expect(keys.indices.filter { cache.value(for: keys[$0]) == nil } == [2, 5])
        cache.removeAll { _ in true }
        #expect(cache.counters.entries == 0)
    }

    @Test("a value is a miss after its time to live")
    func timeToLive() throws {
        let clock = ManualClock()
        let cache = MemoryCache<Picture>(limit: 100, timeToLive: .seconds(10), clock: clock)
        cache.store(Picture(), for: try key("a"), cost: 1)
        clock.advance(by: .seconds(9))
        #expect(cache.value(for: try key("a")) != nil)
        clock.advance(by: .seconds(1))
        #expect(cache.value(for: try key("a")) == nil && cache.counters.bytes == 0)
        cache.store(Picture(), for: try key("a"), cost: 1)
        #expect(cache.value(for: try key("a")) != nil)
    }

    @Test("the standard limit is 15 % of the process's memory allowance, at most 512 MiB")
    func standardLimit() {
        #expect(MemoryLimit.limit(allowance: 1_000_000_000) == 150_000_000)
        #expect(MemoryLimit.limit(allowance: 64 << 30) == 512 << 20)
        #expect(MemoryLimit.limit(allowance: nil) == 64 << 20)
        #expect(MemoryCache<Picture>().limit == MemoryLimit.standard)
    }

    @Test("a released cache releases its values")
    func endOfTheCache() throws {
        weak var picture: Picture?
        do {
            let cache = MemoryCache<Picture>(limit: 20)
            let stored = Picture()
            picture = stored
            cache.store(stored, for: try key("a"), cost: 1)
        }
        #expect(picture == nil)
    }

    @Test("concurrent threads keep the counts and the limit")
    func concurrency() async throws {
        let cache = MemoryCache<Picture>(limit: 50)
        let keys = try (0..<100).map { try key("\($0)") }
        await withTaskGroup { group in
            for worker in 0..<8 {
                group.addTask {
                    for step in 0..<2_000 {
                        let key = keys[(step &* 31 &+ worker &* 17) % keys.count]
                        if cache.value(for: key) == nil { cache.store(Picture(), for: key, cost: 1) }
                    }
                }
            }
        }
        let counters = cache.counters
        #expect(counters.hits + counters.misses == 16_000)
        #expect(counters.entries == 50 && counters.bytes == 50)
    }

    private func key(_ name: String) throws -> CacheKey {
        CacheKey(url: try #require(URL(string: "http://example.org/\(name)")))
    }
}

/// A value that calls a closure in its deinitializer.
private final class Picture: Sendable {
    private let atEnd: @Sendable () -> Void

    init(atEnd: @escaping @Sendable () -> Void = {}) { self.atEnd = atEnd }

    deinit { atEnd() }
}
