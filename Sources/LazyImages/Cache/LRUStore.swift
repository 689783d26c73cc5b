/// Values in the order of their last use, bounded by the sum of their costs: the least recently used go first.
/// Every operation is O(1) for each value it adds or removes; finding one allocates nothing.
///
/// Flat arrays: a table of open addressing (linear probing, deletion by shifting back) leads from a key's hash to
/// a node's index, and the nodes are linked by indices into a ring in the order of their use. Keys are digests, so
/// that their bits serve as a hash as they are. Values are plain object references, whatever their class, so that the
/// compiled code is the same for all.
///
/// A pinned value is not let go of for want of room: its node stands outside the ring, linked to itself.
///
/// Not safe for concurrent use: `MemoryCache` holds it under its lock.
struct LRUStore {
    typealias Value = any (AnyObject & Sendable)

    /// Values that are no longer held. To be let go of outside the lock, since the end of an object may take long
    /// or call back. The first is apart because there is mostly one, which then costs no array.
    struct Removed {
        private(set) var first: Value?
        private(set) var others: [Value] = []

        fileprivate mutating func add(_ value: consuming Value) {
            if first == nil { first = value } else { others.append(value) }
        }
    }

    /// A key, its cost, and its neighbours in the order of use.
    private struct Node: BitwiseCopyable {
        var digest: SHA256.Digest
        var cost: Int
        var newer: Int32
        var older: Int32
    }

    /// A place of the table: 32 bits of the key's hash, which also say where its search begins, and its node.
    private struct Slot: BitwiseCopyable {
        var hash: UInt32
        var node: Int32

        static let empty = Slot(hash: 0, node: none)
    }

    /// The node that holds no value: it closes the ring between the newest (its `older`) and the oldest (its `newer`),
    /// and stands for no node elsewhere.
    private static let none: Int32 = 0
    private static let ringOfNone = Node(
        digest: SHA256.Digest(first: 0, second: 0, third: 0, fourth: 0), cost: 0, newer: none, older: none)

    /// The most that the costs may sum up to.
    let limit: Int
    private(set) var cost = 0
    private(set) var count = 0
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var stores = 0
    private(set) var evictions = 0

    private var slots = [Slot](repeating: .empty, count: 64)
    private var nodes = [ringOfNone]
    private var values: [Value?] = [nil]
    /// How often each pinned node is pinned.
    private var pins: [Int32: Int] = [:]
    /// Nodes that hold nothing, linked by `older`.
    private var firstFree = none

    init(limit: Int) { self.limit = limit }

    /// How many values there is memory for.
    var capacity: Int { nodes.count }

    /// The value of a key, which is the most recently used one from now on.
    mutating func value(for digest: SHA256.Digest) -> Value? {
        let node = node(of: digest)
        guard node != Self.none else {
            misses &+= 1
            return nil
        }
        hits &+= 1
        makeNewest(node)
        return values[Int(node)]
    }

    /// Keeps a value in the place of an older one for its key, as the most recently used. One that costs more than
    /// the limit is not kept, nor is what it would have replaced.
    mutating func insert(_ value: consuming Value, for digest: SHA256.Digest, cost: Int) -> Removed {
        var removed = Removed()
        let known = node(of: digest)
        let pinCount = pins[known]
        if known != Self.none { removed.add(remove(known)) }
        guard cost <= limit else {
            removed.add(value)
            return removed
        }
        let evicted = count
        trim(to: limit - cost, &removed)
        evictions &+= evicted - count
        // What is pinned may leave no room.
        guard self.cost + cost <= limit else {
            removed.add(value)
            return removed
        }
        if 2 * (count + 1) > slots.count { growTable() }
        add(value, for: digest, cost: cost)
        stores &+= 1
        if let pinCount { pin(node(of: digest), count: pinCount) }
        return removed
    }

    /// Keeps a key's value from being let go of for want of room, until it is unpinned as often. Nothing where there is no
    /// value.
    mutating func pin(_ digest: SHA256.Digest) {
        let node = node(of: digest)
        guard node != Self.none else { return }
        if let count = pins[node] { pins[node] = count + 1 } else { pin(node, count: 1) }
    }

    /// Undoes one `pin`; the value is the most recently used one when that was the last.
    mutating func unpin(_ digest: SHA256.Digest) {
        let node = node(of: digest)
        guard let count = pins[node] else { return }
        pins[node] = count > 1 ? count - 1 : nil
        if count == 1 { linkAsNewest(node) }
    }

    /// Lets go of a key's value.
    mutating func remove(_ digest: SHA256.Digest) -> Removed {
        var removed = Removed()
        let node = node(of: digest)
        if node != Self.none { removed.add(remove(node)) }
        return removed
    }

    /// Lets go of the least recently used values until at most `bound` is left.
    mutating func trim(to bound: Int) -> Removed {
        var removed = Removed()
        let before = count
        trim(to: bound, &removed)
        evictions &+= before - count
        return removed
    }

    /// Lets go of all values and of the memory that held them.
    mutating func removeAll() -> Removed {
        var removed = Removed()
        for value in values { if let value { removed.add(value) } }
        slots = [Slot](repeating: .empty, count: 64)
        (nodes, values) = ([Self.ringOfNone], [nil])
        (cost, count, firstFree) = (0, 0, Self.none)
        pins = [:]
        return removed
    }

    private mutating func trim(to bound: Int, _ removed: inout Removed) {
        while cost > bound, nodes[0].newer != Self.none {
            removed.add(remove(nodes[0].newer))
        }
    }
}

// MARK: Nodes

extension LRUStore {
    private mutating func add(_ value: consuming Value, for digest: SHA256.Digest, cost: Int) {
        let index = newNode(Node(digest: digest, cost: cost, newer: Self.none, older: Self.none))
        values[Int(index)] = consume value
        linkAsNewest(index)
        enter(index, hash: Self.hash(of: digest))
        self.cost += cost
        count += 1
    }

    private mutating func newNode(_ node: Node) -> Int32 {
        let index = firstFree
        if index != Self.none {
            firstFree = nodes[Int(index)].older
            nodes[Int(index)] = node
            return index
        }
        nodes.append(node)
        values.append(nil)
        return Int32(nodes.count - 1)
    }

    /// Takes a node out of the ring and links it to itself.
    private mutating func pin(_ index: Int32, count: Int) {
        pins[index] = count
        var nodes = nodes.mutableSpan
        Self.unlink(index, &nodes)
        nodes[Int(index)].newer = index
        nodes[Int(index)].older = index
    }

    /// Takes a node out of use.
    private mutating func remove(_ index: Int32) -> Value {
        if !pins.isEmpty { pins[index] = nil }
        let node = free(index)
        leave(index, hash: Self.hash(of: node.digest))
        firstFree = index
        cost -= node.cost
        count -= 1
        guard let value = values[Int(index)].take() else { preconditionFailure("a node in use has no value") }
        return value
    }

    // Each of these takes the nodes as a span first, so that the array is made sure to be ours once and not for every
    // link: a hit would spend half its time there.

    private mutating func makeNewest(_ index: Int32) {
        var nodes = nodes.mutableSpan
        // The newest already, or pinned.
        guard nodes[0].older != index, nodes[Int(index)].newer != index else { return }
        Self.unlink(index, &nodes)
        Self.linkAsNewest(index, &nodes)
    }

    /// Takes a node out of the ring and puts it before the free ones; returns what it was.
    private mutating func free(_ index: Int32) -> Node {
        let nextFree = firstFree
        var nodes = nodes.mutableSpan
        let node = nodes[Int(index)]
        Self.unlink(index, &nodes)
        nodes[Int(index)].older = nextFree
        return node
    }

    private mutating func linkAsNewest(_ index: Int32) {
        var nodes = nodes.mutableSpan
        Self.linkAsNewest(index, &nodes)
    }

    private static func unlink(_ index: Int32, _ nodes: inout MutableSpan<Node>) {
        let (newer, older) = (nodes[Int(index)].newer, nodes[Int(index)].older)
        nodes[Int(newer)].older = older
        nodes[Int(older)].newer = newer
    }

    private static func linkAsNewest(_ index: Int32, _ nodes: inout MutableSpan<Node>) {
        let newest = nodes[0].older
        nodes[Int(index)].newer = none
        nodes[Int(index)].older = newest
        nodes[Int(newest)].newer = index
        nodes[0].older = index
    }
}

// MARK: The table

extension LRUStore {
    private static func hash(of digest: SHA256.Digest) -> UInt32 { UInt32(truncatingIfNeeded: digest.first) }

    /// The key's node, or none.
    private func node(of digest: SHA256.Digest) -> Int32 {
        let hash = Self.hash(of: digest)
        let mask = slots.count - 1
        var index = Int(hash) & mask
        while slots[index].node != Self.none {
            if slots[index].hash == hash, nodes[Int(slots[index].node)].digest == digest {
                return slots[index].node
            }
            index = (index + 1) & mask
        }
        return Self.none
    }

    /// Puts a node into the first empty slot of its search.
    private mutating func enter(_ node: Int32, hash: UInt32) {
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var index = Int(hash) & mask
        while slots[index].node != Self.none { index = (index + 1) & mask }
        slots[index] = Slot(hash: hash, node: node)
    }

    /// Empties a node's slot and moves back those behind it that were pushed away from their places by it, so that no
    /// search ends too early.
    private mutating func leave(_ node: Int32, hash: UInt32) {
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var gap = Int(hash) & mask
        while slots[gap].node != node { gap = (gap + 1) & mask }
        var index = (gap + 1) & mask
        while slots[index].node != Self.none {
            let home = Int(slots[index].hash) & mask
            if (index - home) & mask >= (index - gap) & mask {
                slots[gap] = slots[index]
                gap = index
            }
            index = (index + 1) & mask
        }
        slots[gap] = .empty
    }

    private mutating func growTable() {
        let old = slots
        slots = [Slot](repeating: .empty, count: 2 * old.count)
        for slot in old where slot.node != Self.none { enter(slot.node, hash: slot.hash) }
    }
}
