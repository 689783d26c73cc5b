/// Values that `store` has accepted and that are not on the disk yet, bounded in bytes. Without room a caller waits.
/// Not safe for concurrent use: `DiskCache` holds it under its lock.
struct StagingArea {
    /// A value on its way to the disk. A class: identity distinguishes it from the next value of its key.
    final class Entry: Sendable {
        let body: any ByteSource
        let metadata: [UInt8]
        let expiry: Int?

        init(body: any ByteSource, metadata: [UInt8], expiry: Int? = nil) {
            self.body = body
            self.metadata = metadata
            self.expiry = expiry
        }

        var cost: Int { body.count + metadata.count }
    }

    /// A caller of `store` that waits for room.
    struct Waiter {
        let key: CacheKey
        let entry: Entry
        let continuation: CheckedContinuation<Void, Never>
    }

    private let limit: Int
    private var entries: [CacheKey: Entry] = [:]
    private(set) var byteCount = 0
    private(set) var waiting: [Waiter] = []

    init(limit: Int) { self.limit = limit }

    subscript(key: CacheKey) -> Entry? { entries[key] }

    /// Stages a value, in place of an older one of its key; false without room. A value larger than the limit is staged
    /// when it is alone.
    mutating func admit(_ entry: Entry, for key: CacheKey) -> Bool {
        guard waiting.isEmpty, fits(entry) else { return false }
        insert(entry, for: key)
        return true
    }

    /// Adds a waiter. `finish` returns it when its value is staged.
    mutating func wait(_ waiter: Waiter) { waiting.append(waiter) }

    /// Drops a value that is written or lost, unless a newer one has replaced it. Returns the waiters whose values are
    /// staged now: the caller resumes them outside the lock.
    mutating func finish(_ entry: Entry, for key: CacheKey) -> [Waiter] {
        if entries[key] === entry { discard(key) }
        return admitWaiters()
    }

    /// Drops a value that is not written yet.
    mutating func discard(_ key: CacheKey) {
        if let old = entries.removeValue(forKey: key) { byteCount -= old.cost }
        checkInvariants()
    }

    /// Drops all values that are not written yet, and removes and returns all waiters.
    mutating func discardAll() -> [Waiter] {
        defer { waiting = [] }
        entries.removeAll()
        byteCount = 0
        return waiting
    }

    /// Removes and returns the waiters for a key.
    mutating func discardWaiters(for key: CacheKey) -> [Waiter] {
        defer { waiting.removeAll { $0.key == key } }
        return waiting.filter { $0.key == key }
    }

    private func fits(_ entry: Entry) -> Bool { byteCount == 0 || byteCount + entry.cost <= limit }

    private mutating func insert(_ entry: Entry, for key: CacheKey) {
        discard(key)
        entries[key] = entry
        byteCount += entry.cost
        checkInvariants()
    }

    /// Traps in a debug build if the sums do not agree. Called at the end of each transition.
    private func checkInvariants() {
        #if DEBUG
            let costs = entries.values.map(\.cost)
            precondition(
                costs.reduce(0, +) == byteCount, "StagingArea: the sum of the entries' costs != byteCount")
            precondition(
                byteCount <= limit || costs.count { $0 > 0 } == 1,
                "StagingArea: several entries exceed the limit")
        #endif
    }

    /// Stages the values of waiters that fit, in order, and returns these waiters. Call it when there may be room.
    mutating func admitWaiters() -> [Waiter] {
        var admitted: [Waiter] = []
        for waiter in waiting {
            guard fits(waiter.entry) else { break }
            insert(waiter.entry, for: waiter.key)
            admitted.append(waiter)
        }
        waiting.removeFirst(admitted.count)
        return admitted
    }
}
