/// A memory tier: objects by key, bounded in bytes, the least recently used let go first. Every answer is synchronous
/// and takes well below a microsecond; objects are shared, never copied.
///
/// Safe for concurrent use from any thread or actor. No object ends while the cache's lock is held: its `deinit` may
/// take its time and may call the cache.
public final class MemoryCache<Value: AnyObject & Sendable>: Sendable {
    private let store: Lock<LRUStore>

    /// - Parameters:
    ///   - limit: the most bytes the values may cost together.
    public init(limit: Int) { store = Lock(LRUStore(limit: limit)) }

    /// The value of a key, or nil. Counts as a use, a hit or a miss.
    public func value(for key: CacheKey) -> Value? {
        guard let object = store.withLock({ $0.value(for: key.digest) }) else { return nil }
        // Only values of this type are ever put in.
        return unsafe unsafeDowncast(object, to: Value.self)
    }

    /// Keeps a value, in the place of an older one for its key. One that costs more than the limit is not kept, and
    /// what it would have replaced is gone too.
    /// - Parameters:
    ///   - cost: in bytes, not negative.
    public func store(_ value: consuming Value, for key: CacheKey, cost: Int) {
        precondition(cost >= 0, "a cost is a number of bytes")
        // Handed over and not shared for a moment, which would count its references twice under the lock.
        var handover: LRUStore.Value? = consume value
        letGo(
            store.withLock { store in
                handover.take().map { store.insert($0, for: key.digest, cost: cost) }
            })
    }

    /// Keeps a key's value, if there is one, from being let go of for want of room, until it is unpinned as often.
    public func pin(_ key: CacheKey) { store.withLock { $0.pin(key.digest) } }

    /// Undoes one `pin`.
    public func unpin(_ key: CacheKey) { store.withLock { $0.unpin(key.digest) } }

    /// Lets go of a key's value.
    public func remove(_ key: CacheKey) { letGo(store.withLock { $0.remove(key.digest) }) }

    /// Lets go of all values.
    public func removeAll() { letGo(store.withLock { $0.removeAll() }) }

    /// Lets go of the least recently used values until the rest costs at most `cost` bytes. The limit stays.
    public func trim(toCost cost: Int) { letGo(store.withLock { $0.trim(to: cost) }) }

    /// Ends what nobody else holds. A function that is not inlined, because the optimiser takes a result that is only
    /// thrown away for dead already before the lock is opened, and ends the objects under it.
    @inline(never)
    private func letGo(_ removed: consuming LRUStore.Removed?) {}

    /// How often what happened since the cache was made, and what it holds.
    public var counters: MemoryCacheCounters { store.withLock { MemoryCacheCounters($0) } }
}

/// What happened in a memory cache since it was made, and what it holds.
public struct MemoryCacheCounters: Equatable, Sendable {
    /// Lookups that found a value.
    public let hits: Int
    /// Lookups that did not.
    public let misses: Int
    /// Values that were kept.
    public let stores: Int
    /// Values let go for want of room, or by `trim`.
    public let evictions: Int
    /// Values held now.
    public let entries: Int
    /// What they cost together, in bytes.
    public let bytes: Int

    init(_ store: borrowing LRUStore) {
        hits = store.hits
        misses = store.misses
        stores = store.stores
        evictions = store.evictions
        entries = store.count
        bytes = store.cost
    }
}
