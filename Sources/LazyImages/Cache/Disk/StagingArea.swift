/// What `store` has accepted and the disk does not have yet, bounded in bytes. What finds no room waits in line.
/// Not safe for concurrent use: `DiskCache` holds it under its lock.
struct StagingArea {
    /// A value on its way to the disk. An object, so that it can be told from the next for the same key.
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

    /// A caller of `store` for whom there was no room.
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

    /// Takes a value, in the place of an older one for the same key; false if there is no room. One that is larger
    /// than all the room there is gets in when it is alone.
    mutating func admit(_ entry: Entry, for key: CacheKey) -> Bool {
        guard waiting.isEmpty, fits(entry) else { return false }
        insert(entry, for: key)
        return true
    }

    /// Takes the value as soon as there is room; `finish` says when.
    mutating func wait(_ waiter: Waiter) { waiting.append(waiter) }

    /// Forgets a value that is on disk, or lost, unless another has taken its place meanwhile. Returns those who
    /// waited and whose values are staged now: the caller resumes them outside the lock.
    mutating func finish(_ entry: Entry, for key: CacheKey) -> [Waiter] {
        if entries[key] === entry { discard(key) }
        return admitWaiters()
    }

    /// Forgets a value before it reached the disk.
    mutating func discard(_ key: CacheKey) {
        if let old = entries.removeValue(forKey: key) { byteCount -= old.cost }
    }

    /// Forgets all values that wait for the disk.
    mutating func discardAll() {
        entries.removeAll()
        byteCount = 0
    }

    /// Forgets the values for a key that found no room yet. Returns those who wait with them.
    mutating func discardWaiters(for key: CacheKey) -> [Waiter] {
        defer { waiting.removeAll { $0.key == key } }
        return waiting.filter { $0.key == key }
    }

    private func fits(_ entry: Entry) -> Bool { byteCount == 0 || byteCount + entry.cost <= limit }

    private mutating func insert(_ entry: Entry, for key: CacheKey) {
        discard(key)
        entries[key] = entry
        byteCount += entry.cost
    }

    /// Lets in whoever waits and fits; to be called as soon as there may be room. Returns them as `finish` does.
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
