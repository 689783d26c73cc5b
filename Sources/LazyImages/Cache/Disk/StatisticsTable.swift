/// The statistics of many hosts, as a small file of the cache folder has them:
///
///     marquee statistics 1
///     hits misses stores corrupt host
///     120 36 36 0 example.org
///
/// Hints, as the counts are: a line that is none is left out, and what a process had not noted when it was killed is lost.
struct StatisticsTable: Equatable {
    /// Hosts that are told apart; what is of others is summed up under the empty name, as is what has no host.
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
