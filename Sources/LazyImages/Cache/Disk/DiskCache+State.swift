import SystemSupport

extension DiskCache {
    /// What happened in one instance since it was opened, and what its folder holds.
    public struct Counters: Equatable, Sendable {
        /// Lookups that found an entry. ``DiskCache/contains(_:)`` does not count.
        public internal(set) var hits = 0
        /// Lookups that found no entry, for any reason.
        public internal(set) var misses = 0
        /// Values written to the disk.
        public internal(set) var stores = 0
        /// Entries removed to make room.
        public internal(set) var evictions = 0
        /// Entries, and partial bodies of interrupted downloads, that failed a check and were removed.
        public internal(set) var corrupt = 0
        /// How often the disk or the folder began to fail. Repeated failures for the same reason count once.
        public internal(set) var faults = 0
        /// The last fault, for people; nil if there was none.
        public internal(set) var lastFault: String?
        /// Entries in the folder, of all processes, by the last count.
        public internal(set) var entries = 0
        /// Bytes in the folder, of all processes, by the last count.
        public internal(set) var bytes = 0
    }

    /// The mutable state, under the cache's lock.
    struct State {
        var folder: CacheFolder?
        var staging: StagingArea
        var faults = FaultLog()
        var counters = Counters()
        /// Statistics that are not in the folder's file yet.
        var statistics = StatisticsTable()

        init(stagingLimit: Int) { staging = StagingArea(limit: stagingLimit) }

        /// The staged value of a key; counts as a hit.
        mutating func stagedHit(_ key: CacheKey) -> StagingArea.Entry? {
            guard let entry = staging[key] else { return nil }
            counters.hits += 1
            return entry
        }

        mutating func countLookup(isHit: Bool, host: String) {
            statistics.add(HostStatistics(hits: isHit ? 1 : 0, misses: isHit ? 0 : 1), for: host)
            guard isHit else { return counters.misses += 1 }
            counters.hits += 1
            faults.recovered(writing: false)
        }

        var currentCounters: Counters {
            var counters = counters
            counters.faults = faults.count
            counters.lastFault = faults.last
            if let total = folder?.usage?.total {
                counters.entries = max(0, total.entries)
                counters.bytes = max(0, total.bytes)
            }
            return counters
        }
    }

    /// Counts faults. Repeated failures of one kind are one fault, until the disk works again.
    struct FaultLog {
        private struct Cause: Equatable {
            let kind: FileCalls.Kind
            let code: Int32
        }

        private(set) var count = 0
        private(set) var last: String?
        private var reading: Cause?
        private var writing: Cause?

        mutating func note(_ fault: FileFault, writing isWriting: Bool) {
            let cause = Cause(kind: fault.kind, code: fault.code)
            last = fault.explanation
            if (isWriting ? writing : reading) != cause { count += 1 }
            if isWriting { writing = cause } else { reading = cause }
        }

        mutating func recovered(writing isWriting: Bool) {
            if isWriting { writing = nil } else { reading = nil }
        }
    }
}
