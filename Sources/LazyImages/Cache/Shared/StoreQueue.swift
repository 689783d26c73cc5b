/// The writes and removals that wait for the store, oldest first. Each key has one piece of work at most, the latest. It
/// waits while earlier work of the same key is running. A plain struct, not safe for concurrent use.
struct StoreQueue {
    enum Work: Sendable {
        case put(StagingArea.Entry)
        case remove
    }

    /// Work that has begun.
    struct Order: Sendable {
        let key: CacheKey
        let work: Work
    }

    /// The most removals to remember. Beyond it the oldest is forgotten.
    private static let removalLimit = 4096

    private let byteLimit: Int
    private let countLimit: Int
    private var works: [CacheKey: Work] = [:]
    /// The keys of `works`, oldest first.
    private var order: [CacheKey] = []
    private var underWay: Set<CacheKey> = []
    /// Removed keys that the store may still have, oldest first.
    private var removed: [CacheKey] = []
    private var removedKeys: Set<CacheKey> = []
    private var byteCount = 0
    private var writeCount = 0

    /// - Parameters:
    ///   - bytes: the most bytes of queued values.
    ///   - count: the most queued values.
    init(bytes: Int, count: Int) {
        byteLimit = bytes
        countLimit = count
    }

    /// The queued writes and removals.
    var count: Int { works.count }
    var workCount: Int { underWay.count }
    var isAtWork: Bool { !underWay.isEmpty }
    /// Whether some work could begin.
    var hasNext: Bool { order.contains { !underWay.contains($0) } }

    /// Whether a key was removed, but the store may still have it.
    func isRemoved(_ key: CacheKey) -> Bool { removedKeys.contains(key) }

    /// Adds a write, and replaces older work of its key. Drops the oldest writes beyond the limits.
    /// - Returns: how many writes were dropped.
    mutating func put(_ entry: StagingArea.Entry, for key: CacheKey) -> Int {
        dropWork(of: key)
        dropRemoval(of: key)
        works[key] = .put(entry)
        order.append(key)
        byteCount += entry.cost
        writeCount += 1
        var dropped = 0
        while byteCount > byteLimit || writeCount > countLimit {
            guard let oldest = order.first(where: isWrite) else { break }
            dropWork(of: oldest)
            dropped += 1
        }
        return dropped
    }

    /// Adds a removal, and replaces older work of its key.
    /// - Parameter sends: whether the store gets the removal; a read-only tier only remembers it.
    mutating func remove(_ key: CacheKey, sends: Bool) {
        dropWork(of: key)
        if removedKeys.insert(key).inserted { removed.append(key) }
        if sends {
            works[key] = .remove
            order.append(key)
        }
        if removed.count > Self.removalLimit, let oldest = removed.first {
            dropRemoval(of: oldest)
            dropWork(of: oldest)
        }
    }

    /// Begins the work that has waited longest.
    mutating func next() -> Order? {
        guard let key = order.first(where: { !underWay.contains($0) }), let work = works[key] else {
            return nil
        }
        dropWork(of: key)
        underWay.insert(key)
        return Order(key: key, work: work)
    }

    /// Ends work. A removal that failed is queued again, unless its key has newer work.
    mutating func finish(_ order: Order, _ outcome: StoreClient.WriteOutcome) {
        underWay.remove(order.key)
        guard case .remove = order.work, works[order.key] == nil else { return }
        switch outcome {
        case .done: dropRemoval(of: order.key)
        case .failed(_, isRefusal: true): break
        case .failed where removedKeys.contains(order.key):
            works[order.key] = .remove
            self.order.append(order.key)
        case .failed: break
        }
    }

    /// Drops all queued writes.
    /// - Returns: how many.
    mutating func dropWrites() -> Int {
        let writes = order.filter(isWrite)
        for key in writes { dropWork(of: key) }
        return writes.count
    }

    private func isWrite(_ key: CacheKey) -> Bool { if case .put = works[key] { true } else { false } }

    private mutating func dropWork(of key: CacheKey) {
        guard let work = works.removeValue(forKey: key) else { return }
        if let index = order.firstIndex(of: key) { order.remove(at: index) }
        guard case .put(let entry) = work else { return }
        byteCount -= entry.cost
        writeCount -= 1
    }

    private mutating func dropRemoval(of key: CacheKey) {
        guard removedKeys.remove(key) != nil, let index = removed.firstIndex(of: key) else { return }
        removed.remove(at: index)
    }
}
