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

    /// What is to be known of a value beside itself: the text of its key for whoever looks for it by that, and when it
    /// expires by the caller's clock. Apart from the value, so that a hit does not count references to the text.
    private struct Label {
        let text: String
        let deadline: Int64
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
    /// By the indices of the policy's nodes, as are their labels.
    private var values: [Value?] = []
    private var labels: [Label] = []
    /// Whether any value expires: where none does, a hit need not look, which would cost a line of the processor's cache.
    private var hasDeadlines = false
    /// How often each pinned node is pinned.
    private var pins: [Int32: Int] = [:]

    init(limit: Int, entryLimit: Int? = nil) {
        self.limit = limit
        self.entryLimit = min(limit, entryLimit ?? limit)
        trials = WindowTrials(limit: limit)
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
    }

    var count: Int { policy.count }
    var cost: Int { policy.cost }
    /// How many values there is memory for.
    var capacity: Int { policy.indexEnd }

    /// The value of a key, which counts as a use. One that has expired by `now` is handed to `expired` and is none.
    mutating func value(for digest: SHA256.Digest, now: Int64, expired: inout Removed) -> Value? {
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none else {
            misses &+= 1
            return nil
        }
        if hasDeadlines, labels[Int(index)].deadline <= now {
            misses &+= 1
            expired.add(remove(index))
            return nil
        }
        hits &+= 1
        policy.use(index)
        noteUse(digest, index)
        return values[Int(index)]
    }

    /// Keeps a value in the place of an older one for its key, which counts as a use. One that costs more than one may is
    /// not kept, nor is what it would have replaced.
    mutating func insert(
        _ value: consuming Value, for digest: SHA256.Digest, text: String = "", cost: Int,
        deadline: Int64 = .max
    ) -> Removed {
        var removed = Removed()
        let known = policy.node(of: digest)
        guard cost <= entryLimit else {
            if known != WTinyLFU.none { removed.add(remove(known)) }
            removed.add(value)
            return removed
        }
        let index: Int32
        if known == WTinyLFU.none {
            index = policy.add(digest, cost: cost)
            while values.count <= Int(index) {
                values.append(nil)
                labels.append(Label(text: "", deadline: .max))
            }
            if policy.count > sketch.capacity { sketch.grow() }
        } else {
            index = known
            removed.add(takeValue(known))
            policy.setCost(cost, of: known)
            policy.use(known)
        }
        values[Int(index)] = consume value
        labels[Int(index)] = Label(text: text, deadline: deadline)
        if deadline != .max { hasDeadlines = true }
        noteUse(digest, index)
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
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none else { return }
        if pins[index] == nil { policy.pin(index) }
        pins[index, default: 0] += 1
    }

    /// Undoes one `pin`; when that was the last, the value goes in its turn again.
    mutating func unpin(_ digest: SHA256.Digest) {
        let index = policy.node(of: digest)
        guard let count = pins[index] else { return }
        pins[index] = count > 1 ? count - 1 : nil
        if count == 1 { policy.unpin(index) }
    }

    /// Lets go of a key's value: of any, or only of this one.
    mutating func remove(_ digest: SHA256.Digest, ifStill value: Value? = nil) -> Removed {
        var removed = Removed()
        let index = policy.node(of: digest)
        guard index != WTinyLFU.none, value == nil || values[Int(index)] === value else {
            return removed
        }
        removed.add(remove(index))
        return removed
    }

    /// Lets go of what is worth least until at most `bound` is left.
    mutating func trim(to bound: Int) -> Removed {
        var removed = Removed()
        while let victim = policy.removeNext(above: bound) {
            removed.add(take(victim))
            evictions &+= 1
        }
        return removed
    }

    /// Lets go of all values and of the memory that held them. What was used how often stays known.
    mutating func removeAll() -> Removed {
        var removed = Removed()
        for value in values { if let value { removed.add(value) } }
        policy = WTinyLFU(limit: limit, windowShare: trials.share)
        (values, labels) = ([], [])
        pins = [:]
        return removed
    }

    /// Everything that is held, with the texts of the keys, in no order.
    var snapshot: [(digest: SHA256.Digest, text: String, value: Value)] {
        values.enumerated().compactMap { index, value in
            value.map { (policy.digest(of: Int32(index)), labels[index].text, $0) }
        }
    }

    private mutating func noteUse(_ digest: SHA256.Digest, _ index: Int32) {
        sketch.add(digest)
        guard trials.samples(digest), trials.use(digest, cost: policy.cost(of: index), sketch) else { return }
        policy.setWindow(share: trials.share)
    }

    private mutating func remove(_ index: Int32) -> Value {
        policy.remove(index)
        return take(index)
    }

    /// Takes the value from a node that is an entry no more.
    private mutating func take(_ index: Int32) -> Value {
        if !pins.isEmpty { pins[index] = nil }
        return takeValue(index)
    }

    private mutating func takeValue(_ index: Int32) -> Value {
        guard let value = values[Int(index)].take() else { preconditionFailure("an entry has no value") }
        return value
    }
}
