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
