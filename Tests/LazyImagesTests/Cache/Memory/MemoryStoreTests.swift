import Hashing
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Memory store", .bounded)
struct MemoryStoreTests {
    @Test(
        "a new store is a list in order of use, whatever the keys' hashes",
        arguments: [1, 7, 1_000_000])
    func model(hashes: UInt64) {
        var store = MemoryStore(limit: 120)
        var model = Model(limit: 120)
        var random = SeededNumbers(seed: hashes)
        for _ in 0..<3_000 {
            // Few hashes differ: most keys collide, and removals leave gaps in the chains.
            let number = random.next() % 60
            let digest = SHA256.Digest(first: number % hashes, second: number, third: 0, fourth: 0)
            switch random.next() % 16 {
            case 0: _ = store.remove(digest); model.remove(number)
            case 1: _ = store.trim(to: 60); model.trim(to: 60)
            case 2...8:
                let (value, cost) = (Value(number), Int(random.next() % 9))
                _ = store.insert(value, for: digest, cost: cost)
                model.insert(value, number, cost)
            default: #expect(store.value(digest) === model.value(number))
            }
            #expect(store.count == model.entries.count)
            #expect(store.cost == model.entries.reduce(0) { $0 + $1.cost })
        }
        #expect(store.hits > 300 && store.evictions > 100)
    }

    @Test(
        "every use since the last store counts, in order, however many there were",
        arguments: [3, 64, 65, 500])
    func manyUses(uses: Int) {
        var store = MemoryStore(limit: 100)
        for number in 0..<100 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
        }
        let used = (0..<uses).map { UInt64($0 * 37 % 100) }
        for number in used { _ = store.value(digest(number)) }
        let order = (0..<100).sorted { one, other in
            (used.lastIndex(of: one) ?? -1, one) < (used.lastIndex(of: other) ?? -1, other)
        }
        #expect(order == order.map { _ in number(store.trim(to: store.cost - 1)) })
    }

    private func number(_ removed: MemoryStore.Removed) -> UInt64? { (removed.first as? Value)?.number }

    @Test(
        "a pinned value stays however much is stored, and is evicted in its turn once all its pins are released"
    )
    func pinning() {
        var store = MemoryStore(limit: 4)
        for number in 0..<4 { _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1) }
        let pins = [store.pin(digest(0)), store.pin(digest(0))].compactMap(\.self)
        #expect(pins.count == 2)
        for number in 10..<20 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
        }
        #expect(store.value(digest(0)) != nil)
        #expect(store.count == 4)
        store.unpin(digest(0), pins[0])
        store.unpin(digest(0), pins[0])
        for number in 20..<30 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
        }
        #expect(store.value(digest(0)) != nil, "a pin can be undone once")
        store.unpin(digest(0), pins[1])
        for number in 30..<34 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
        }
        #expect(store.value(digest(0)) == nil)
        #expect(store.cost == 4)
    }

    @Test("pinned values count against the limit, and trimming spares them")
    func pinnedRoom() {
        var store = MemoryStore(limit: 3)
        for number in 0..<3 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
            #expect(store.pin(digest(UInt64(number))) == number + 1)
        }
        let refused = Value(9)
        #expect(store.insert(refused, for: digest(9), cost: 1).first === refused)
        _ = store.trim(to: 0)
        #expect(store.count == 3)
        // A value that replaces a pinned one is pinned too.
        _ = store.insert(Value(100), for: digest(1), cost: 1)
        _ = store.trim(to: 0)
        #expect((store.value(digest(1)) as? Value)?.number == 100)
        _ = store.remove(digest(0))
        #expect(store.count == 2)
        #expect(store.pin(digest(0)) == nil && store.pin(digest(7)) == nil)
        _ = store.insert(Value(0), for: digest(0), cost: 1)
        let pin = store.pin(digest(0))
        store.unpin(digest(0), 1)
        _ = store.trim(to: 0)
        #expect(pin == 4 && store.count == 3, "a pin of the removed value has no effect on the new one")
        _ = store.remove(digest(0))
        #expect(store.removeAll().others.count == 1)
        #expect(store.count == 0)
    }

    @Test("the slots of removed values are reused, so that the arrays stop growing")
    func reuse() {
        var store = MemoryStore(limit: 10)
        for number in 0..<10_000 {
            _ = store.insert(Value(UInt64(number)), for: digest(UInt64(number)), cost: 1)
        }
        #expect(store.capacity <= 14)
    }

    @Test("a value above the limit for one value is not kept, although there is room")
    func entryLimit() {
        var store = MemoryStore(limit: 100, entryLimit: 10)
        let large = Value(1)
        #expect(store.insert(large, for: digest(1), cost: 11).first === large)
        #expect(store.insert(Value(2), for: digest(2), cost: 10).first == nil && store.count == 1)
    }

    @Test(
        "a pinned value that grows beyond what eviction can free is removed itself, and the limit holds"
    )
    func pinnedGrowth() {
        var store = MemoryStore(limit: 4)
        for number in UInt64(0)..<2 {
            _ = store.insert(Value(number), for: digest(number), cost: 2)
            _ = store.pin(digest(number))
        }
        _ = store.insert(Value(9), for: digest(1), cost: 3)
        #expect(store.cost == 2 && store.value(digest(0)) != nil)
    }

    private func digest(_ number: UInt64) -> SHA256.Digest {
        SHA256.Digest(first: number, second: 0, third: 0, fourth: 0)
    }
}

extension MemoryStore {
    fileprivate mutating func value(_ digest: SHA256.Digest) -> Value? { value(for: digest, now: 0) }
}

private final class Value: Sendable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }
}

/// The same policy, slow and simple, with the newest entry last.
private struct Model {
    let limit: Int
    var entries: [(number: UInt64, cost: Int, value: Value)] = []

    mutating func value(_ number: UInt64) -> Value? {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
        entries.append(entries.remove(at: index))
        return entries.last?.value
    }

    mutating func insert(_ value: Value, _ number: UInt64, _ cost: Int) {
        remove(number)
        trim(to: limit - cost)
        entries.append((number, cost, value))
    }

    mutating func remove(_ number: UInt64) { entries.removeAll { $0.number == number } }

    mutating func trim(to bound: Int) {
        while entries.reduce(0, { $0 + $1.cost }) > bound { entries.removeFirst() }
    }
}
