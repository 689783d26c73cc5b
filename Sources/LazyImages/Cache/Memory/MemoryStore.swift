import Hashing

/// Values by key, bounded by their total cost. `WTinyLFU` decides which are evicted; `WindowTrials` chooses the size of
/// its window. A lookup allocates nothing. Values are plain object references of any class, so that all caches share
/// the compiled code.
///
/// A pinned value is not evicted. An expired value is removed when somebody looks for it, or evicted in its turn.
///
/// Not safe for concurrent use: `MemoryCache` holds it under its lock.
struct MemoryStore {
    typealias Value = any (AnyObject & Sendable)

    /// Values removed from the store. The caller releases them outside the lock, since a `deinit` may be slow or call
    /// back. The first has its own property: mostly there is only one, and it needs no array.
    struct Removed {
        private(set) var first: Value?
        private(set) var others: [Value] = []

        fileprivate mutating func add(_ value: consuming Value) {
            if first == nil { first = value } else { others.append(value) }
        }
    }

    /// A value, and its expiry by the caller's clock.
    private struct Entry {
        static let empty = Entry(value: nil, deadline: .max)

        var value: Value?
        var deadline: Int64
    }

    /// The most that all values may cost.
    private(set) var limit: Int
    /// The most that one value may cost.
    var entryLimit: Int { min(limit, wantedEntryLimit ?? limit) }
    private let wantedEntryLimit: Int?
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var stores = 0
    private(set) var evictions = 0

    private var policy: WTinyLFU
    private var trials: WindowTrials
    private var sketch = FrequencySketch()
    /// Whether the store has ever been full.
    private var isFull = false
    /// By the index of the policy's node.
    private var entries: [Entry] = []
    /// The numbers of each pinned node's pins.
    private var pins: [Int32: Set<Int>] = [:]
    private var lastPin = 0
    /// Uses that the policy does not know yet, in order. It learns many at once, before each decision, as in
    /// "BP-Wrapper" (Ding, Jiang, Zhang, ICDE 2009). Telling it each use would read the memory of the node's neighbours
    /// under the lock.
    private var pendingUses: [Int32] = []

    /// The most uses that wait in `uses`.
    private static let maximumPendingUses = 64

    init(limit: Int, entryLimit: Int? = nil) {
        self.limit = limit
        wantedEntryLimit = entryLimit
        trials = WindowTrials(limit: limit)
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
        pendingUses.reserveCapacity(Self.maximumPendingUses)
    }

    var count: Int { policy.count }
    var cost: Int { policy.cost }
    /// How many values the arrays have room for.
    var capacity: Int { policy.indexEnd }

    /// The value of a key, unless it has expired by `now`. Counts as a use.
    mutating func value(
        for digest: SHA256.Digest, now: Int64, countsHit: Bool = true, countsMiss: Bool = true
    ) -> Value? {
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none, !hasExpired(index, now) else {
            if countsMiss { misses &+= 1 }
            return nil
        }
        if countsHit { hits &+= 1 }
        if pendingUses.count == Self.maximumPendingUses { flushUses() }
        pendingUses.append(index)
        return entries[Int(index)].value
    }

    /// Whether a key has a value that has not expired by `now`. Counts nothing.
    func contains(_ digest: SHA256.Digest, now: Int64) -> Bool {
        let index = policy.node(of: digest)
        return index != WTinyLFU.none && !hasExpired(index, now)
    }

    /// Removes a key's value if it has expired by `now`.
    mutating func removeExpired(_ digest: SHA256.Digest, now: Int64) -> Removed {
        var removed = Removed()
        let index = policy.node(of: digest)
        if index != WTinyLFU.none, hasExpired(index, now) { removed.add(remove(index)) }
        return removed
    }

    private func hasExpired(_ index: Int32, _ now: Int64) -> Bool {
        entries[Int(index)].deadline <= now
    }

    /// Stores a value, in place of the older one of its key; counts as a use. A value that costs more than the entry
    /// limit is not stored, but the older one is removed.
    mutating func insert(
        _ value: consuming Value, for digest: SHA256.Digest, cost: Int, deadline: Int64 = .max
    ) -> Removed {
        var removed = Removed()
        flushUses()
        let known = policy.node(of: digest)
        guard cost <= entryLimit else {
            if known != WTinyLFU.none { removed.add(remove(known)) }
            removed.add(value)
            return removed
        }
        let index: Int32
        if known == WTinyLFU.none {
            index = policy.add(digest, cost: cost)
            trials.wake()
            while entries.count <= Int(index) { entries.append(.empty) }
            entries[Int(index)] = Entry(value: consume value, deadline: deadline)
            if policy.count > sketch.capacity { sketch.grow() }
        } else {
            index = known
            removed.add(takeValue(known))
            policy.setCost(cost, of: known)
            policy.use(known)
            entries[Int(index)].value = consume value
            entries[Int(index)].deadline = deadline
        }
        recordUse(digest, index)
        if !isFull, policy.cost > limit {
            isFull = true
            trials.start(entries: policy.count, hits: hits, uses: hits + stores)
            policy.setWindow(share: trials.share)
        }
        while let victim = policy.removeNext(sketch) {
            removed.add(take(victim))
            evictions &+= 1
        }
        stores &+= 1
        // The cost can only exceed the limit if a pinned value has grown and nothing else can be evicted.
        if policy.cost > limit { removed.add(remove(index)) }
        return removed
    }

    /// Pins a key's value, if there is one: it is not evicted until all its pins are undone.
    /// - Returns: the number of the pin; nil without a value.
    mutating func pin(_ digest: SHA256.Digest) -> Int? {
        flushUses()
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none else { return nil }
        if pins[index] == nil { policy.pin(index) }
        lastPin += 1
        pins[index, default: []].insert(lastPin)
        return lastPin
    }

    /// Undoes a pin. After the last one the value can be evicted again. A pin of a value that was removed has no effect
    /// on a later one of its key.
    mutating func unpin(_ digest: SHA256.Digest, _ pin: Int) {
        flushUses()
        let index = policy.node(of: digest)
        guard pins[index]?.remove(pin) != nil, pins[index]?.isEmpty == true else { return }
        pins[index] = nil
        policy.unpin(index)
    }

    /// Removes a key's value: any value, or only this one.
    mutating func remove(_ digest: SHA256.Digest, ifStill value: Value? = nil) -> Removed {
        var removed = Removed()
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none, value == nil || entries[Int(index)].value === value else {
            return removed
        }
        removed.add(remove(index))
        return removed
    }

    /// Changes the limit, and evicts what exceeds it.
    mutating func setLimit(_ limit: Int) -> Removed {
        flushUses()
        self.limit = limit
        trials.setLimit(limit)
        policy.setLimit(limit, windowShare: trials.share)
        return trim(to: limit)
    }

    /// Evicts the least valuable entries until at most `bound` is left.
    mutating func trim(to bound: Int) -> Removed {
        var removed = Removed()
        flushUses()
        while let victim = policy.removeNext(above: bound) {
            removed.add(take(victim))
            evictions &+= 1
        }
        return removed
    }

    /// Removes all values and frees their memory. The sketch keeps its counts.
    mutating func removeAll() -> Removed {
        var removed = Removed()
        flushUses()
        for entry in entries { if let value = entry.value { removed.add(value) } }
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
        entries = []
        pins = [:]
        return removed
    }

    /// All values, in no order.
    var snapshot: [(digest: SHA256.Digest, value: Value)] {
        entries.enumerated().compactMap { index, entry in
            entry.value.map { (policy.digest(of: Int32(index)), $0) }
        }
    }

    /// Tells the policy the pending uses.
    private mutating func flushUses() {
        guard !pendingUses.isEmpty else { return }
        for position in pendingUses.indices {
            let index = pendingUses[position]
            policy.use(index)
            recordUse(policy.digest(of: index), index)
        }
        pendingUses.removeAll(keepingCapacity: true)
    }

    private mutating func recordUse(_ digest: SHA256.Digest, _ index: Int32) {
        let isSampled = trials.samples(digest)
        // Plain LRU needs no frequencies; then only the trials use the sketch.
        if isSampled || !trials.isPlainLRU { sketch.add(digest) }
        guard isSampled, trials.use(digest, cost: policy.cost(of: index), sketch) else { return }
        policy.setWindow(share: trials.share)
    }

    private mutating func remove(_ index: Int32) -> Value {
        flushUses()
        policy.remove(index)
        return take(index)
    }

    /// Takes the value of a node that is no longer an entry.
    private mutating func take(_ index: Int32) -> Value {
        if !pins.isEmpty { pins[index] = nil }
        return takeValue(index)
    }

    private mutating func takeValue(_ index: Int32) -> Value {
        guard let value = entries[Int(index)].value.take() else {
            preconditionFailure("an entry has no value")
        }
        return value
    }
}

/// A hash table from keys to node indices: open addressing, linear probing, deletion by shifting back. Keys are
/// digests, whose bits serve as hashes. The table stores no keys: the caller compares them.
struct KeyTable {
    /// 32 bits of the key's hash, where its search begins, and its node.
    private struct Slot: BitwiseCopyable {
        var hash: UInt32
        var node: Int32

        static let empty = Slot(hash: 0, node: none)
    }

    /// No node.
    static let none: Int32 = 0

    private var slots = [Slot](repeating: .empty, count: 64)
    private var count = 0

    /// The node with this hash for which `isRight` is true, or `none`.
    @inline(__always)
    func node(_ digest: SHA256.Digest, where isRight: (Int32) -> Bool) -> Int32 {
        let hash = Self.hash(of: digest)
        let mask = slots.count - 1
        var index = Int(hash) & mask
        while slots[index].node != Self.none {
            if slots[index].hash == hash, isRight(slots[index].node) { return slots[index].node }
            index = (index + 1) & mask
        }
        return Self.none
    }

    /// Inserts a node for a new key. At most half of the slots are taken.
    mutating func insert(_ node: Int32, _ digest: SHA256.Digest) {
        count += 1
        if 2 * count > slots.count { grow() }
        insert(Slot(hash: Self.hash(of: digest), node: node))
    }

    /// Empties a node's slot, and moves back the slots after it whose search passes it, so that no search ends too
    /// early.
    mutating func remove(_ node: Int32, _ digest: SHA256.Digest) {
        count -= 1
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var gap = Int(Self.hash(of: digest)) & mask
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

    /// Writes a slot into the first empty place of its search.
    private mutating func insert(_ slot: Slot) {
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var index = Int(slot.hash) & mask
        while slots[index].node != Self.none { index = (index + 1) & mask }
        slots[index] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: .empty, count: 2 * old.count)
        for slot in old where slot.node != Self.none { insert(slot) }
    }

    private static func hash(of digest: SHA256.Digest) -> UInt32 { UInt32(truncatingIfNeeded: digest.first) }
}
