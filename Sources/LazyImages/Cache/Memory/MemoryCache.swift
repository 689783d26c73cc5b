public import FoundationEssentials
import SystemSupport

/// A memory tier: objects by key, bounded in bytes. What goes first is what was used least of late, by W-TinyLFU: a scroll
/// through a list longer than the cache does not empty it of what is wanted again and again. Every answer is synchronous
/// and takes well below a microsecond; objects are shared, never copied.
///
/// Safe for concurrent use from any thread or actor. No object ends while the cache's lock is held: its `deinit` may
/// take its time and may call the cache.
public final class MemoryCache<Value: AnyObject & Sendable>: Sendable {
    /// The most bytes the values may cost together.
    public let limit: Int

    private let store: Lock<MemoryStore>
    private let timeToLive: Int64?
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - limit: the most bytes the values may cost together. Default: what ``MemoryLimit/standard`` says.
    ///   - entryLimit: the most bytes one value may cost. Default: the limit.
    ///   - timeToLive: after what time a value is none any more. Default: never.
    ///   - clock: what the time to live is measured by.
    public init(
        limit: Int = MemoryLimit.standard, entryLimit: Int? = nil, timeToLive: Duration? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit
        store = Lock(MemoryStore(limit: limit, entryLimit: entryLimit))
        self.timeToLive = timeToLive?.nanoseconds
        let start = clock.now
        now = { start.duration(to: clock.now).nanoseconds }
    }

    /// The value of a key, or nil. Counts as a use, a hit or a miss.
    /// - Parameter key: what the value was stored under.
    public func value(for key: CacheKey) -> Value? {
        let time = timeToLive == nil ? 0 : now()
        guard let object = store.withLock({ $0.value(for: key.digest, now: time) }) else {
            if timeToLive != nil { letGo(store.withLock { $0.removeExpired(key.digest, now: time) }) }
            return nil
        }
        // Only values of this type are ever put in.
        return unsafe unsafeDowncast(object, to: Value.self)
    }

    /// As above, but counts no miss, because a look that follows does.
    func value(for key: CacheKey, countsMiss: Bool) -> Value? { look(for: key, countsHit: true, countsMiss) }

    /// As above, for who has looked a moment ago and been counted then.
    func valueAgain(for key: CacheKey) -> Value? { look(for: key, countsHit: false, false) }

    private func look(for key: CacheKey, countsHit: Bool, _ countsMiss: Bool) -> Value? {
        let time = timeToLive == nil ? 0 : now()
        let object = store.withLock { store in
            store.value(for: key.digest, now: time, countsHit: countsHit, countsMiss: countsMiss)
        }
        // Only values of this type are ever put in.
        return object.map { unsafe unsafeDowncast($0, to: Value.self) }
    }

    /// Keeps a value, in the place of an older one for its key. One that costs more than one value may is not kept, and
    /// what it would have replaced is gone too.
    /// - Parameters:
    ///   - value: what to keep; it is shared, not copied.
    ///   - key: what it is found by.
    ///   - cost: in bytes, not negative.
    public func store(_ value: consuming Value, for key: CacheKey, cost: Int) {
        precondition(cost >= 0, "a cost is a number of bytes")
        // Wrapping only after centuries.
        let deadline = timeToLive.map { now() &+ $0 } ?? .max
        // Handed over and not shared for a moment, which would count its references twice under the lock.
        var handover: MemoryStore.Value? = consume value
        let digest = key.digest
        letGo(
            store.withLock { store in
                guard let value = handover.take() else { return nil }
                return store.insert(value, for: digest, cost: cost, deadline: deadline)
            })
    }

    /// Keeps a key's value, if there is one, from being let go of for want of room, until it is unpinned as often.
    /// - Parameter key: the key, with or without a value.
    public func pin(_ key: CacheKey) { store.withLock { $0.pin(key.digest) } }

    /// Undoes one ``pin(_:)``.
    /// - Parameter key: the key that was pinned.
    public func unpin(_ key: CacheKey) { store.withLock { $0.unpin(key.digest) } }

    /// Lets go of a key's value.
    /// - Parameter key: what the value was stored under.
    public func remove(_ key: CacheKey) { letGo(store.withLock { $0.remove(key.digest) }) }

    /// Lets go of a key's value, if it is this one.
    func remove(_ key: CacheKey, ifStill value: Value) {
        letGo(store.withLock { $0.remove(key.digest, ifStill: value) })
    }

    /// Lets go of every value for which `isUnwanted` says so, which is asked outside the lock: a value stored meanwhile
    /// stays. Values say themselves where they are from (`url`, and before redirects
    /// `requestedURL`); the texts of their keys, kept only for this, would cost every store that evicts a tenth of its time.
    /// - Parameter isUnwanted: tells whether a value goes.
    public func removeAll(where isUnwanted: (_ value: Value) -> Bool) {
        for (digest, value) in store.withLock({ $0.snapshot }) {
            guard unsafe isUnwanted(unsafeDowncast(value, to: Value.self)) else { continue }
            letGo(store.withLock { $0.remove(digest, ifStill: value) })
        }
    }

    /// Lets go of every value that `url` was asked for to get, or that came from there after redirects.
    /// - Parameter url: the address, in any spelling.
    public func removeAll(from url: URL) where Value: CachedAddress {
        let wanted = CanonicalURL(url.absoluteString).text
        removeAll { value in
            CanonicalURL(value.requestedURL.absoluteString).text == wanted
                || CanonicalURL(value.url.absoluteString).text == wanted
        }
    }

    /// Lets go of all values.
    public func removeAll() { letGo(store.withLock { $0.removeAll() }) }

    /// Lets go of what is worth least until the rest costs at most `cost` bytes, or is pinned. The limit stays.
    /// - Parameter cost: how much may stay, in bytes.
    public func trim(toCost cost: Int) { letGo(store.withLock { $0.trim(to: cost) }) }

    /// Ends what nobody else holds. A function that is not inlined, because the optimiser takes a result that is only
    /// thrown away for dead already before the lock is opened, and ends the objects under it.
    @inline(never)
    private func letGo(_ removed: consuming MemoryStore.Removed?) {}

    /// How often what happened since the cache was made, and what it holds.
    public var counters: MemoryCacheCounters { store.withLock { MemoryCacheCounters($0) } }
}

/// A value that knows where it is from.
public protocol CachedAddress {
    /// Where it came from, after redirects.
    var url: URL { get }
    /// What was asked for, before redirects.
    var requestedURL: URL { get }
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

    init(_ store: borrowing MemoryStore) {
        hits = store.hits
        misses = store.misses
        stores = store.stores
        evictions = store.evictions
        entries = store.count
        bytes = store.cost
    }
}

/// How much memory a memory tier takes where nobody says otherwise.
public enum MemoryLimit {
    /// 15 % of the memory this process may use (its control group's limit, or the machine's memory), at most 512 MiB, in
    /// bytes. Looked up once.
    public static let standard = limit(allowance: SystemMemory().allowance)

    private static let share = 0.15
    private static let most = 512 << 20
    /// Where the kernel does not tell.
    private static let unknown = 64 << 20

    static func limit(allowance: Int?) -> Int {
        allowance.map { min(most, Int(Double($0) * share)) } ?? unknown
    }
}
