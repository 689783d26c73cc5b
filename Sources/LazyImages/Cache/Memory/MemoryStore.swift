/// Values by key, bounded by the sum of their costs: W-TinyLFU decides which of them go when there is no room, with a window
/// that trials choose the size of. Finding a value allocates nothing. Values are plain object references, whatever their
/// class, so that the compiled code is the same for all.
///
/// A pinned value is not let go of for want of room. A value that has expired is let go of when it is looked for, or in
/// its turn.
///
/// Not safe for concurrent use: `MemoryCache` holds it under its lock.
struct MemoryStore {
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

    /// A value, and when it expires by the caller's clock.
    private struct Entry {
        static let empty = Entry(value: nil, deadline: .max)

        var value: Value?
        var deadline: Int64
    }

    /// The most that the costs may sum up to.
    let limit: Int
    /// The most that one value may cost.
    let entryLimit: Int
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var stores = 0
    private(set) var evictions = 0

    private var policy: WTinyLFU
    private var trials: WindowTrials
    private var sketch = FrequencySketch()
    /// Whether there was no room for a value yet.
    private var isFull = false
    /// By the indices of the policy's nodes.
    private var entries: [Entry] = []
    /// How often each pinned node is pinned.
    private var pins: [Int32: Int] = [:]
    /// Nodes whose use the policy does not know of yet, in their order. It is told of many at once, before anything is
    /// chosen by it, as in "BP-Wrapper" (Ding, Jiang, Zhang, ICDE 2009): told of each, it would have to wait under the
    /// lock for the memory of the node's neighbours.
    private var uses: [Int32] = []

    /// The most uses the policy does not know of.
    private static let mostUses = 64

    init(limit: Int, entryLimit: Int? = nil) {
        self.limit = limit
        self.entryLimit = min(limit, entryLimit ?? limit)
        trials = WindowTrials(limit: limit)
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
        uses.reserveCapacity(Self.mostUses)
    }

    var count: Int { policy.count }
    var cost: Int { policy.cost }
    /// How many values there is memory for.
    var capacity: Int { policy.indexEnd }

    /// The value of a key, which counts as a use; one that has expired by `now` is none.
    mutating func value(for digest: SHA256.Digest, now: Int64) -> Value? {
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none, !hasExpired(index, now) else {
            misses &+= 1
            return nil
        }
        hits &+= 1
        if uses.count == Self.mostUses { tellUses() }
        uses.append(index)
        return entries[Int(index)].value
    }

    /// As above, for a look that need not count as a hit or a miss.
    mutating func value(
        for digest: SHA256.Digest, now: Int64, countsHit: Bool, countsMiss: Bool
    ) -> Value? {
        let before = (hits: hits, misses: misses)
        defer {
            if !countsHit { hits = before.hits }
            if !countsMiss { misses = before.misses }
        }
        return value(for: digest, now: now)
    }

    /// Lets go of a key's value if it has expired by `now`.
    mutating func removeExpired(_ digest: SHA256.Digest, now: Int64) -> Removed {
        var removed = Removed()
        let index = policy.node(of: digest)
        if index != WTinyLFU.none, hasExpired(index, now) { removed.add(remove(index)) }
        return removed
    }

    private func hasExpired(_ index: Int32, _ now: Int64) -> Bool {
        entries[Int(index)].deadline <= now
    }

    /// Keeps a value in the place of an older one for its key, which counts as a use. One that costs more than one may is
    /// not kept, nor is what it would have replaced.
    mutating func insert(
        _ value: consuming Value, for digest: SHA256.Digest, cost: Int, deadline: Int64 = .max
    ) -> Removed {
        var removed = Removed()
        tellUses()
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
        noteUse(digest, index)
        if !isFull, policy.cost > limit {
            isFull = true
            trials.begin(entries: policy.count, hits: hits, uses: hits + stores)
            policy.setWindow(share: trials.share)
        }
        while let victim = policy.removeNext(sketch) {
            removed.add(take(victim))
            evictions &+= 1
        }
        stores &+= 1
        // Only a pinned value that has grown can be left: nothing else may go for it.
        if policy.cost > limit { removed.add(remove(index)) }
        return removed
    }

    /// Keeps a key's value from being let go of for want of room, until it is unpinned as often. Nothing where there is no
    /// value.
    mutating func pin(_ digest: SHA256.Digest) {
        tellUses()
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none else { return }
        if pins[index] == nil { policy.pin(index) }
        pins[index, default: 0] += 1
    }

    /// Undoes one `pin`; when that was the last, the value goes in its turn again.
    mutating func unpin(_ digest: SHA256.Digest) {
        tellUses()
        let index = policy.node(of: digest)
        guard let count = pins[index] else { return }
        pins[index] = count > 1 ? count - 1 : nil
        if count == 1 { policy.unpin(index) }
    }

    /// Lets go of a key's value: of any, or only of this one.
    mutating func remove(_ digest: SHA256.Digest, ifStill value: Value? = nil) -> Removed {
        var removed = Removed()
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none, value == nil || entries[Int(index)].value === value else {
            return removed
        }
        removed.add(remove(index))
        return removed
    }

    /// Lets go of what is worth least until at most `bound` is left.
    mutating func trim(to bound: Int) -> Removed {
        var removed = Removed()
        tellUses()
        while let victim = policy.removeNext(above: bound) {
            removed.add(take(victim))
            evictions &+= 1
        }
        return removed
    }

    /// Lets go of all values and of the memory that held them. What was used how often stays known.
    mutating func removeAll() -> Removed {
        var removed = Removed()
        tellUses()
        for entry in entries { if let value = entry.value { removed.add(value) } }
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
        entries = []
        pins = [:]
        return removed
    }

    /// Everything that is held, in no order.
    var snapshot: [(digest: SHA256.Digest, value: Value)] {
        entries.enumerated().compactMap { index, entry in
            entry.value.map { (policy.digest(of: Int32(index)), $0) }
        }
    }

    /// Tells the policy of the uses it does not know of.
    private mutating func tellUses() {
        guard !uses.isEmpty else { return }
        for position in uses.indices {
            let index = uses[position]
            policy.use(index)
            noteUse(policy.digest(of: index), index)
        }
        uses.removeAll(keepingCapacity: true)
    }

    private mutating func noteUse(_ digest: SHA256.Digest, _ index: Int32) {
        let isSampled = trials.samples(digest)
        // Plain LRU does not ask how often a key was used; only the trials do then.
        if isSampled || !trials.isPlainLRU { sketch.add(digest) }
        guard isSampled, trials.use(digest, cost: policy.cost(of: index), sketch) else { return }
        policy.setWindow(share: trials.share)
    }

    private mutating func remove(_ index: Int32) -> Value {
        tellUses()
        policy.remove(index)
        return take(index)
    }

    /// Takes the value from a node that is an entry no more.
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
