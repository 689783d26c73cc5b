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
    mutating func addHosts(of other: StatisticsTable) {
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
