import LazyImages
import SystemSupport

/// The memory tier with plain LRU, built as compactly as ours, to measure the cost of our policy.
final class ExactLRU<Value: AnyObject & Sendable>: Sendable {
    private let store: Lock<Store>

    init(limit: Int) { store = Lock(Store(limit: limit)) }

    func value(for key: CacheKey) -> Value? { store.withLock { $0.value(for: key) } }

    func store(_ value: Value, for key: CacheKey, cost: Int) {
        store.withLock { $0.insert(value, for: key, cost: cost) }
    }

    private struct Node {
        var key: CacheKey
        var value: Value
        var cost: Int
        var newer: Int
        var older: Int
    }

    private struct Store {
        private static var end: Int { -1 }
        private let limit: Int
        private var cost = 0
        private var places: [CacheKey: Int] = [:]
        private var nodes: [Node] = []
        private var free: [Int] = []
        private var newest = end
        private var oldest = end

        init(limit: Int) { self.limit = limit }

        mutating func value(for key: CacheKey) -> Value? {
            guard let index = places[key] else { return nil }
            if newest != index {
                unlink(index)
                linkAsNewest(index)
            }
            return nodes[index].value
        }

        mutating func insert(_ value: Value, for key: CacheKey, cost: Int) {
            if let index = places[key] { remove(index) }
            guard cost <= limit else { return }
            while self.cost + cost > limit { remove(oldest) }
            let node = Node(key: key, value: value, cost: cost, newer: Self.end, older: Self.end)
            let index = free.popLast() ?? nodes.count
            if index == nodes.count { nodes.append(node) } else { nodes[index] = node }
            places[key] = index
            self.cost += cost
            linkAsNewest(index)
        }

        /// The old value is freed when another replaces it, which is good enough for a reference.
        private mutating func remove(_ index: Int) {
            unlink(index)
            places[nodes[index].key] = nil
            cost -= nodes[index].cost
            free.append(index)
        }

        private mutating func unlink(_ index: Int) {
            let (newer, older) = (nodes[index].newer, nodes[index].older)
            if newer == Self.end { newest = older } else { nodes[newer].older = older }
            if older == Self.end { oldest = newer } else { nodes[older].newer = newer }
        }

        private mutating func linkAsNewest(_ index: Int) {
            nodes[index].newer = Self.end
            nodes[index].older = newest
            if newest == Self.end { oldest = index } else { nodes[newest].newer = index }
            newest = index
        }
    }
}
