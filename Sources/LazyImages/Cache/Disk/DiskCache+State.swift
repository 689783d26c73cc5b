import SystemSupport

extension DiskCache {
    /// The mutable state, under the cache's lock.
    struct State {
        var folder: CacheFolder?
        var staging: StagingArea
        var faults = FaultLog()
        var counters = CacheCounters()
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

        var currentCounters: CacheCounters {
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

        mutating func record(_ fault: FileFault, writing isWriting: Bool) {
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
