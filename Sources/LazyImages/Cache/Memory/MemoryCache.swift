package import FoundationEssentials
import SystemSupport

/// A memory tier: objects by key, bounded in bytes. Eviction follows W-TinyLFU: scrolling through a list longer than
/// the cache does not evict objects that are used again and again. Every call is synchronous; a lookup takes well below
/// a microsecond. Objects are shared, never copied.
///
/// Safe for concurrent use from any thread or actor. Evicted objects are released outside the cache's lock: their
/// `deinit` may be slow and may call the cache.
public final class MemoryCache<Value: AnyObject & Sendable>: Sendable {
    /// The most bytes that all values may cost; 0 or more. A lower limit evicts at once what exceeds it, except pinned
    /// values.
    public var limit: Int {
        get { store.withLock { $0.limit } }
        set { release(store.withLock { $0.setLimit(max(0, newValue)) }) }
    }

    private let store: Lock<MemoryStore>
    private let timeToLive: Int64?
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - limit: the most bytes that all values may cost. Default: nil, 15 % of the memory that
    ///     this process may use, at most 512 MiB.
    ///   - entryLimit: the most bytes that one value may cost. Default: the limit.
    ///   - timeToLive: how long a value stays valid. Default: nil, for ever.
    ///   - clock: measures the time to live.
    public init(
        limit: Int? = nil, entryLimit: Int? = nil, timeToLive: Duration? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        store = Lock(MemoryStore(limit: limit ?? MemoryLimit.standard, entryLimit: entryLimit))
        self.timeToLive = timeToLive?.nanoseconds
        let start = clock.now
        now = { start.duration(to: clock.now).nanoseconds }
    }

    /// The value of a key, or nil. Counts as a use, and as a hit or a miss.
    /// - Parameter key: the value's key.
    public func value(for key: CacheKey) -> Value? {
        let time = timeToLive == nil ? 0 : now()
        guard let object = store.withLock({ $0.value(for: key.digest, now: time) }) else {
            if timeToLive != nil { release(store.withLock { $0.removeExpired(key.digest, now: time) }) }
            return nil
        }
        // The cache stores only values of this type.
        return unsafe unsafeDowncast(object, to: Value.self)
    }

    /// Whether a key has a value. Counts neither a use nor a lookup.
    /// - Parameter key: the value's key.
    public func contains(_ key: CacheKey) -> Bool {
        let time = timeToLive == nil ? 0 : now()
        return store.withLock { $0.contains(key.digest, now: time) }
    }

    /// As `value(for:)`, but counts no miss, for a caller that looks again later or has looked before.
    /// - Parameter countsHit: false for a caller that has counted an earlier look.
    func value(for key: CacheKey, countsHit: Bool) -> Value? {
        let time = timeToLive == nil ? 0 : now()
        let object = store.withLock { store in
            store.value(for: key.digest, now: time, countsHit: countsHit, countsMiss: false)
        }
        // The cache stores only values of this type.
        return object.map { unsafe unsafeDowncast($0, to: Value.self) }
    }

    /// Stores a value, in place of the older one of its key. A value that costs more than the entry limit is not
    /// stored, but the older one is removed.
    /// - Parameters:
    ///   - value: the value; it is shared, not copied.
    ///   - key: its key.
    ///   - cost: in bytes, not negative.
    public func store(_ value: consuming Value, for key: CacheKey, cost: Int) {
        guard cost >= 0 else { fatalError("a cost of \(cost): it is a number of bytes, 0 or more") }
        // Wraps only after centuries.
        let deadline = timeToLive.map { now() &+ $0 } ?? .max
        // Moved into the closure, not shared with it: that saves reference counting under the lock.
        var handover: MemoryStore.Value? = consume value
        let digest = key.digest
        release(
            store.withLock { store in
                guard let value = handover.take() else { return nil }
                return store.insert(value, for: digest, cost: cost, deadline: deadline)
            })
    }

    /// Pins a key's value: it is not evicted while one of its pins is kept.
    /// - Parameter key: the key, with or without a value.
    /// - Returns: the pin, which does not retain the cache; nil if there is no value.
    public func pin(_ key: CacheKey) -> MemoryPin? {
        guard let number = store.withLock({ $0.pin(key.digest) }) else { return nil }
        return MemoryPin { [weak self] in self?.store.withLock { $0.unpin(key.digest, number) } }
    }

    /// Removes a key's value.
    /// - Parameter key: the value's key.
    public func remove(_ key: CacheKey) { release(store.withLock { $0.remove(key.digest) }) }

    /// Removes a key's value, if it is this one.
    func remove(_ key: CacheKey, ifStill value: Value) {
        release(store.withLock { $0.remove(key.digest, ifStill: value) })
    }

    /// Removes every value for which `isUnwanted` is true. `isUnwanted` runs outside the lock: a value stored meanwhile
    /// stays. It sees values, not keys: keeping the keys' texts only for this would make each store that evicts a tenth
    /// slower.
    /// - Parameter isUnwanted: whether to remove a value.
    package func removeAll(where isUnwanted: (_ value: Value) -> Bool) {
        for (digest, value) in store.withLock({ $0.snapshot }) {
            guard unsafe isUnwanted(unsafeDowncast(value, to: Value.self)) else { continue }
            release(store.withLock { $0.remove(digest, ifStill: value) })
        }
    }

    /// Removes every value that was loaded from `url`, before or after redirects.
    /// - Parameter url: the URL, in any spelling.
    package func removeAll(from url: URL) where Value: CachedAddress {
        let wanted = CanonicalURL.text(of: url.absoluteString)
        removeAll { value in
            CanonicalURL.text(of: value.requestedURL.absoluteString) == wanted
                || CanonicalURL.text(of: value.url.absoluteString) == wanted
        }
    }

    /// Removes all values.
    public func removeAll() { release(store.withLock { $0.removeAll() }) }

    /// Evicts the least valuable entries until the others cost at most `cost` bytes, or are pinned. The limit stays.
    /// - Parameter cost: the bytes that may stay.
    package func trim(toCost cost: Int) { release(store.withLock { $0.trim(to: cost) }) }

    /// Releases removed values outside the lock. Never inlined: the optimiser would see an unused result, and release
    /// the objects while the lock is still held.
    @inline(never)
    private func release(_ removed: consuming MemoryStore.Removed?) {}

    /// What happened since the cache was created, and what it holds.
    public var counters: CacheCounters {
        store.withLock { store in
            CacheCounters(
                hits: store.hits, misses: store.misses, stores: store.stores, evictions: store.evictions,
                entries: store.count, bytes: store.cost)
        }
    }
}

/// Keeps a value in a memory cache until it is released.
public final class MemoryPin: Sendable {
    private let unpin: @Sendable () -> Void

    /// A pin of a program's own loader.
    /// - Parameter unpin: called once, when the pin is released.
    public init(_ unpin: @escaping @Sendable () -> Void) { self.unpin = unpin }

    deinit { unpin() }
}

/// A value that knows its URLs.
package protocol CachedAddress {
    /// The URL after redirects.
    var url: URL { get }
    /// The URL of the request, before redirects.
    var requestedURL: URL { get }
}

/// The default limit of a memory tier.
package enum MemoryLimit {
    /// In bytes: 15 % of the memory that this process may use (its control group's limit, or the machine's memory), at
    /// most 512 MiB. Read once.
    package static let standard = limit(allowance: SystemMemory().allowance)

    private static let share = 0.15
    private static let most = 512 << 20
    /// Used if the kernel does not say.
    private static let unknown = 64 << 20

    package static func limit(allowance: Int?) -> Int {
        allowance.map { min(most, Int(Double($0) * share)) } ?? unknown
    }
}

/// What happened in a cache tier since it was created, and what it holds.
public struct CacheCounters: Equatable, Sendable {
    /// Lookups that found a value. `contains` does not count.
    public package(set) var hits = 0
    /// Lookups that found no value, for any reason.
    public package(set) var misses = 0
    /// Values stored.
    public package(set) var stores = 0
    /// Values removed to make room.
    public package(set) var evictions = 0
    /// Values that failed a check, and were removed, or refused by a shared tier; on disk, partial bodies of interrupted
    /// downloads too. None in memory.
    public package(set) var corrupt = 0
    /// How often the disk or the folder began to fail; repeated failures for the same reason count once. A shared tier
    /// counts each failed request. None in memory.
    public package(set) var faults = 0
    /// The last fault of the disk, for people; nil if there was none.
    public package(set) var lastFault: String?
    /// Values held now; on disk, of all processes, by the last count. 0 for a shared tier.
    public package(set) var entries = 0
    /// Their bytes.
    public package(set) var bytes = 0
}
