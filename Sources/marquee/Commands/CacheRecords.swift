import LazyImages

/// How often lookups found an entry, in all processes so far.
protocol LookupCounts {
    var hits: Int { get }
    var misses: Int { get }
}

extension LookupCounts {
    /// From 0 to 1; nil if there were no lookups.
    var hitRate: Double? { hits + misses == 0 ? nil : Double(hits) / Double(hits + misses) }

    var hitRateText: String {
        hitRate.map { "; \(Int(($0 * 100).rounded())) % of \(hits + misses) lookups hit" } ?? ""
    }
}

struct HostRecord: Encodable, LookupCounts {
    let host: String
    var entries = 0
    var bytes = 0
    var hits = 0
    var misses = 0
    var stores = 0
    var corrupt = 0

    mutating func add(_ count: Int) {
        entries += 1
        bytes += count
    }

    mutating func add(_ served: HostStatistics) {
        hits += served.hits
        misses += served.misses
        stores += served.stores
        corrupt += served.corrupt
    }
}

struct InfoRecord: Encodable, LookupCounts {
    let path: String
    let entries: Int
    let bytes: Int
    let limit: Int
    let newerEntries: Int
    let hits: Int
    let misses: Int
    let corrupt: Int
    /// The faults during this command.
    let faults: Int
    let hosts: [HostRecord]
    let sizes: EntryHistogram
    let ages: EntryHistogram
    let days: [DayRecord]

    init(
        path: String, entries: Int, bytes: Int, limit: Int, newerEntries: Int, faults: Int,
        hosts: [HostRecord], sizes: EntryHistogram, ages: EntryHistogram, days: [DayRecord]
    ) {
        (self.sizes, self.ages, self.days) = (sizes, ages, days)
        (self.path, self.entries, self.bytes, self.limit) = (path, entries, bytes, limit)
        (self.newerEntries, self.faults, self.hosts) = (newerEntries, faults, hosts)
        hits = hosts.reduce(0) { $0 + $1.hits }
        misses = hosts.reduce(0) { $0 + $1.misses }
        corrupt = hosts.reduce(0) { $0 + $1.corrupt }
    }
}

struct PathRecord: Encodable {
    let path: String
}

struct ScanRecord: Encodable {
    let entries: Int
    let bytes: Int
    let removedEntries: Int
    let removedBytes: Int

    init(_ report: DiskCache.ScanReport) {
        (entries, bytes) = (report.entries, report.bytes)
        (removedEntries, removedBytes) = (report.removedEntries, report.removedBytes)
    }
}
