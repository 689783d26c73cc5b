import SystemSupport

/// The lookups and stores of a disk cache for one host, of all processes, as far as they were written.
package struct HostStatistics: Equatable, Sendable {
    /// Lookups that found an entry.
    package internal(set) var hits = 0
    /// Lookups that found no entry.
    package internal(set) var misses = 0
    /// Values written to the disk.
    package internal(set) var stores = 0
    /// Entries, and partial bodies of interrupted downloads, that failed a check and were removed.
    package internal(set) var corrupt = 0

    static func += (one: inout HostStatistics, other: HostStatistics) {
        one.hits &+= other.hits
        one.misses &+= other.misses
        one.stores &+= other.stores
        one.corrupt &+= other.corrupt
    }
}

/// The look-ups of one day, of all hosts and processes.
package struct DayLookups: Equatable, Sendable {
    /// Lookups that found an entry.
    package internal(set) var hits = 0
    /// Lookups that did not.
    package internal(set) var misses = 0

    static func += (one: inout DayLookups, other: DayLookups) {
        one.hits &+= other.hits
        one.misses &+= other.misses
    }
}

extension DiskCache {
    /// The hits, misses and stores for each host, and the lookups of each day, of all processes. Hosts are in lower
    /// case, without port. The empty name is for URLs without a host.
    package func statistics() async -> StatisticsTable {
        await run(on: writer, orElse: StatisticsTable()) { [self] in recordStatistics() }
    }

    /// Adds this instance's statistics to the folder's file, and returns the sums. If another process has the file
    /// locked, or the disk fails, the statistics wait for the next call. On the writer's thread.
    @discardableResult
    func recordStatistics() -> StatisticsTable {
        let changes = state.withLock { state in
            defer { state.statistics = StatisticsTable() }
            return state.statistics.counted(on: FileTime.coarseNow.seconds / Self.secondsPerDay)
        }
        // Ignored: these are hints, and the next store reports a fault of the disk.
        guard let folder = state.withLock({ $0.folder }), folder.usage != nil,
            var known = try? folder.addStatistics(changes)
        else {
            state.withLock { $0.statistics.addHosts(of: changes) }
            return changes
        }
        if !known.isWritten {
            state.withLock { $0.statistics.addHosts(of: changes) }
            known.table.add(changes)
        }
        return known.table
    }

    private static let secondsPerDay = 86_400
}

extension CacheFolder {
    /// The most bytes that are read of a file of statistics.
    private static let statisticsLimit = 1 << 20

    /// Adds to the folder's statistics. Returns the sums, and whether they are written.
    fileprivate func addStatistics(
        _ changes: StatisticsTable
    ) throws(FileFault) -> (table: StatisticsTable, isWritten: Bool) {
        let file = try calls.openForWriting(Self.statisticsName, in: descriptor, creating: .ifAbsent)
        let isOurs = try calls.tryLock(file)
        defer { calls.unlock(file) }
        let size = min(try calls.status(of: file).size, Self.statisticsLimit)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try calls.read(file, into: &bytes)
        var table = StatisticsTable(text: String(decoding: bytes.prefix(count), as: UTF8.self))
        guard isOurs, !changes.isEmpty else { return (table, isOurs) }
        table.add(changes)
        // Never shorter than the old text: line feeds overwrite the rest.
        let text = Array(table.text.utf8)
        try calls.write(
            file, text + [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, count - text.count)), at: 0)
        return (table, true)
    }
}

/// The statistics of all hosts, as a small file of the cache folder holds them:
///
///     marquee statistics 1
///     hits misses stores corrupt host
///     120 36 36 0 example.org
///     20780 120 36
///
/// A line of three numbers is a day (since 1970, UTC) with the hits and misses of all hosts.
///
/// Hints: an invalid line is skipped, and statistics that a killed process had not written are lost.
package struct StatisticsTable: Equatable, Sendable {
    /// The most hosts. The sums of all further hosts have the empty name, as have URLs without a host.
    private static let hostLimit = 1_000
    private static let heading = "marquee statistics 1\nhits misses stores corrupt host\n"

    /// The most days: about a quarter of a year.
    private static let dayLimit = 92

    package private(set) var hosts: [String: HostStatistics] = [:]
    /// The lookups of all hosts, by days since 1970.
    package private(set) var days: [Int: DayLookups] = [:]

    var isEmpty: Bool { hosts.isEmpty }

    mutating func add(_ statistics: HostStatistics, for host: String) {
        let isKnown = hosts[host] != nil || hosts.count < Self.hostLimit
        hosts[isKnown ? host : "", default: HostStatistics()] += statistics
    }

    mutating func add(_ other: StatisticsTable) {
        addHosts(of: other)
        for (day, lookups) in other.days { add(lookups, on: day) }
    }

    /// Adds the hosts without the days: a lookup belongs to the day on which it is written.
    fileprivate mutating func addHosts(of other: StatisticsTable) {
        for (host, statistics) in other.hosts { add(statistics, for: host) }
    }

    /// Adds lookups to a day, and drops the oldest day above the limit.
    mutating func add(_ lookups: DayLookups, on day: Int) {
        days[day, default: DayLookups()] += lookups
        while days.count > Self.dayLimit, let first = days.keys.min() { days[first] = nil }
    }

    /// The same table, with the lookups of all hosts added to a day.
    func counted(on day: Int) -> StatisticsTable {
        var table = self
        let all = hosts.values.reduce(into: DayLookups()) {
            $0 += DayLookups(hits: $1.hits, misses: $1.misses)
        }
        if all != DayLookups() { table.add(all, on: day) }
        return table
    }

    init() {}

    init(text: String) {
        guard text.hasPrefix("marquee statistics 1\n") else { return }
        for line in text.split(separator: "\n").dropFirst(2) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            let numbers = words.prefix(4).compactMap { Int($0) }
            if words.count == 3, numbers.count == 3 {
                add(DayLookups(hits: numbers[1], misses: numbers[2]), on: numbers[0])
            }
            guard words.count == 5, numbers.count == 4 else { continue }
            add(
                HostStatistics(
                    hits: numbers[0], misses: numbers[1], stores: numbers[2], corrupt: numbers[3]),
                for: String(words[4]))
        }
    }

    var text: String {
        Self.heading
            + hosts.sorted { $0.key < $1.key }.map { host, one in
                "\(one.hits) \(one.misses) \(one.stores) \(one.corrupt) \(host)\n"
            }.joined()
            + days.sorted { $0.key < $1.key }.map { "\($0) \($1.hits) \($1.misses)\n" }.joined()
    }
}
