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
