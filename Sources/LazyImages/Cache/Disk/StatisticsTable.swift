/// The statistics of all hosts, as a small file of the cache folder holds them:
///
///     marquee statistics 1
///     hits misses stores corrupt host
///     120 36 36 0 example.org
///
/// Hints: an invalid line is skipped, and statistics that a killed process had not written are lost.
struct StatisticsTable: Equatable {
    /// The most hosts. The sums of all further hosts have the empty name, as have URLs without a host.
    private static let hostLimit = 1_000
    private static let heading = "marquee statistics 1\nhits misses stores corrupt host\n"

    private(set) var hosts: [String: HostStatistics] = [:]

    var isEmpty: Bool { hosts.isEmpty }

    mutating func add(_ statistics: HostStatistics, for host: String) {
        let isKnown = hosts[host] != nil || hosts.count < Self.hostLimit
        hosts[isKnown ? host : "", default: HostStatistics()] += statistics
    }

    mutating func add(_ other: StatisticsTable) {
        for (host, statistics) in other.hosts { add(statistics, for: host) }
    }

    init() {}

    init(text: String) {
        guard text.hasPrefix("marquee statistics 1\n") else { return }
        for line in text.split(separator: "\n").dropFirst(2) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            let numbers = words.prefix(4).compactMap { Int($0) }
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
    }
}
