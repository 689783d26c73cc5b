/// Which waiting transfer may start: at most `perHost` of one host and `total` in all; of those that may, the most urgent
/// and, among equals, the one that came first. A plain struct, not safe for concurrent use.
///
/// Adding, removing and changing cost O(1); `next()` looks once at every host that has somebody waiting.
struct DownloadQueue {
    typealias Priority = ImageRequest.Priority

    private struct Waiting {
        let host: String
        var priority: Priority
        let arrival: Int
    }

    /// One host's transfers: how many run, and for each priority who waits, in the order of arrival. A line may hold
    /// numbers of transfers that have left or moved to another line; they are dropped when they come to the front.
    private struct Host {
        var running = 0
        var waiting = 0
        var lines = [Line](repeating: Line(), count: Priority.allCases.count)
    }

    private struct Line {
        var numbers: [Int] = []
        var front = 0

        var first: Int? { front < numbers.count ? numbers[front] : nil }

        mutating func removeFirst() {
            front += 1
            if front > 64, front * 2 > numbers.count {
                numbers.removeFirst(front)
                front = 0
            }
        }
    }

    private let perHost: Int
    private let total: Int
    private var running = 0
    private var hosts: [String: Host] = [:]
    private var waiting: [Int: Waiting] = [:]
    private var hostsWithWaiting: Set<String> = []
    private var arrivals = 0

    init(perHost: Int, total: Int) {
        self.perHost = max(1, perHost)
        self.total = max(1, total)
    }

    /// How many wait.
    var waitingCount: Int { waiting.count }

    /// Puts a transfer, by its number, at the end of the line.
    mutating func append(_ number: Int, host: String, priority: Priority) {
        arrivals += 1
        waiting[number] = Waiting(host: host, priority: priority, arrival: arrivals)
        hosts[host, default: Host()].lines[priority.rawValue].numbers.append(number)
        hosts[host]?.waiting += 1
        hostsWithWaiting.insert(host)
    }

    /// Takes a waiting transfer out of the line; false if it does not wait.
    mutating func remove(_ number: Int) -> Bool {
        guard let entry = waiting.removeValue(forKey: number) else { return false }
        stopWaiting(host: entry.host)
        return true
    }

    /// Gives a waiting transfer another priority. Among its new equals it comes last: keeping their lines in the order of
    /// arrival would cost a search.
    mutating func setPriority(_ priority: Priority, of number: Int) {
        guard let entry = waiting[number], entry.priority != priority else { return }
        arrivals += 1
        waiting[number] = Waiting(host: entry.host, priority: priority, arrival: arrivals)
        hosts[entry.host]?.lines[priority.rawValue].numbers.append(number)
    }

    /// The transfer that starts now, which then counts as running; nil when nobody may.
    mutating func next() -> Int? {
        guard running < total else { return nil }
        var best: (number: Int, entry: Waiting)?
        for host in hostsWithWaiting where hosts[host].map({ $0.running < perHost }) == true {
            guard let candidate = first(of: host) else { continue }
            if let best,
                (best.entry.priority, -best.entry.arrival) >= (
                    candidate.entry.priority, -candidate.entry.arrival
                )
            {
                continue
            }
            best = candidate
        }
        guard let best else { return nil }
        waiting[best.number] = nil
        running += 1
        hosts[best.entry.host]?.running += 1
        stopWaiting(host: best.entry.host)
        return best.number
    }

    /// A running transfer of `host` has ended.
    mutating func release(host: String) {
        running -= 1
        hosts[host]?.running -= 1
        forgetIfIdle(host)
    }

    /// The first in line of a host, over its lines from the most urgent on.
    private mutating func first(of host: String) -> (number: Int, entry: Waiting)? {
        for priority in Priority.allCases.reversed() {
            while let number = hosts[host]?.lines[priority.rawValue].first {
                if let entry = waiting[number], entry.priority == priority, entry.host == host {
                    return (number, entry)
                }
                hosts[host]?.lines[priority.rawValue].removeFirst()
            }
        }
        return nil
    }

    private mutating func stopWaiting(host: String) {
        hosts[host]?.waiting -= 1
        if hosts[host]?.waiting == 0 {
            hostsWithWaiting.remove(host)
            forgetIfIdle(host)
        }
    }

    private mutating func forgetIfIdle(_ host: String) {
        if let state = hosts[host], state.running == 0, state.waiting == 0 { hosts[host] = nil }
    }
}
