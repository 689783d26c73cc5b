/// What is to be written to the store and removed there, oldest first. For each key there is one thing to do, the latest, and
/// it waits while an earlier one of the same key is under way. A plain struct, not safe for concurrent use.
struct StoreQueue {
    enum Work: Sendable {
        case put(StagingArea.Entry)
        case remove
    }

    /// Work that was begun.
    struct Order: Sendable {
        let key: CacheKey
        let work: Work
    }

    /// Removals that are remembered, at most; the oldest is forgotten.
    private static let removalLimit = 4096

    private let byteLimit: Int
    private let countLimit: Int
    private var works: [CacheKey: Work] = [:]
    /// The keys of `works`, oldest first.
    private var order: [CacheKey] = []
    private var underWay: Set<CacheKey> = []
    /// Keys that the store may still have although they were removed, oldest first.
    private var removed: [CacheKey] = []
    private var removedKeys: Set<CacheKey> = []
    private var byteCount = 0
    private var writeCount = 0

    /// - Parameters:
    ///   - bytes: of values that wait, at most.
    ///   - count: of values that wait, at most.
    init(bytes: Int, count: Int) {
        byteLimit = bytes
        countLimit = count
    }

    /// How much waits.
    var count: Int { works.count }
    var workCount: Int { underWay.count }
    var isAtWork: Bool { !underWay.isEmpty }
    /// Whether something could be begun.
    var hasNext: Bool { order.contains { !underWay.contains($0) } }

    /// Whether a key was removed, and the store may not know yet.
    func isRemoved(_ key: CacheKey) -> Bool { removedKeys.contains(key) }

    /// Adds a write, in the place of what was to be done for its key. The oldest writes make room.
    /// - Returns: how many were dropped.
    mutating func put(_ entry: StagingArea.Entry, for key: CacheKey) -> Int {
        forgetWork(of: key)
        forgetRemoval(of: key)
        works[key] = .put(entry)
        order.append(key)
        byteCount += entry.cost
        writeCount += 1
        var dropped = 0
        while byteCount > byteLimit || writeCount > countLimit {
            guard let oldest = order.first(where: isWrite) else { break }
            forgetWork(of: oldest)
            dropped += 1
        }
        return dropped
    }

    /// Adds a removal, in the place of what was to be done for its key.
    /// - Parameter sends: whether the store is to hear of it.
    mutating func remove(_ key: CacheKey, sends: Bool) {
        forgetWork(of: key)
        if removedKeys.insert(key).inserted { removed.append(key) }
        if sends {
            works[key] = .remove
            order.append(key)
        }
        if removed.count > Self.removalLimit, let oldest = removed.first {
            forgetRemoval(of: oldest)
            forgetWork(of: oldest)
        }
    }

    /// Begins what has waited longest.
    mutating func next() -> Order? {
        guard let key = order.first(where: { !underWay.contains($0) }), let work = works[key] else {
            return nil
        }
        forgetWork(of: key)
        underWay.insert(key)
        return Order(key: key, work: work)
    }

    /// Ends what was begun. A removal that failed waits for another time, unless something newer is to be done for its key.
    mutating func finish(_ order: Order, _ outcome: StoreClient.WriteOutcome) {
        underWay.remove(order.key)
        guard case .remove = order.work, works[order.key] == nil else { return }
        switch outcome {
        case .done: forgetRemoval(of: order.key)
        case .refused: break
        case .failed where removedKeys.contains(order.key):
            works[order.key] = .remove
            self.order.append(order.key)
        case .failed: break
        }
    }

    /// Drops all writes that wait.
    /// - Returns: how many.
    mutating func dropWrites() -> Int {
        let writes = order.filter(isWrite)
        for key in writes { forgetWork(of: key) }
        return writes.count
    }

    private func isWrite(_ key: CacheKey) -> Bool { if case .put = works[key] { true } else { false } }

    private mutating func forgetWork(of key: CacheKey) {
        guard let work = works.removeValue(forKey: key) else { return }
        if let index = order.firstIndex(of: key) { order.remove(at: index) }
        guard case .put(let entry) = work else { return }
        byteCount -= entry.cost
        writeCount -= 1
    }

    private mutating func forgetRemoval(of key: CacheKey) {
        guard removedKeys.remove(key) != nil, let index = removed.firstIndex(of: key) else { return }
        removed.remove(at: index)
    }
}
