/// Which waiting transfer may start: at most `perHost` of one host and `total` in all; of those that may, the most urgent
/// and, among equals, the one that came first. A plain struct, not safe for concurrent use.
///
/// Transfers are known by numbers, and a smaller number came first. One that lines up again, for the next attempt of a
/// redirect, keeps its number and so goes before all that came later.
///
/// Adding a newcomer and removing cost O(1), a change of priority a binary search; `next()` looks once at every host that
/// has somebody waiting.
struct DownloadQueue {
    typealias Priority = ImageRequest.Priority

    private struct Waiting {
        /// The index of its host.
        let host: Int
        var priority: Priority
    }

    /// One host's transfers: how many run, and for each priority who waits, in ascending order. A line may hold numbers of
    /// transfers that have left or moved to another line; they are dropped when they come to the front.
    private struct Host {
        let name: String
        var running = 0
        var waiting = 0
        var lines = [Line](repeating: Line(), count: Priority.allCases.count)
    }

    private struct Line {
        var numbers: [Int] = []
        var front = 0

        var first: Int? { front < numbers.count ? numbers[front] : nil }

        /// Inserts a number in ascending order: a newcomer at the end. One that was left behind stands there again.
        mutating func insert(_ number: Int) {
            guard let last = numbers.last, front < numbers.count, last >= number else {
                numbers.append(number)
                return
            }
            var low = front
            var high = numbers.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] < number { low = middle + 1 } else { high = middle }
            }
            if numbers[low] != number { numbers.insert(number, at: low) }
        }

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
    /// Every host that has transfers, and entries that hosts have left. An index costs no hashing, unlike a name.
    private var hosts: [Host] = []
    private var indices: [String: Int] = [:]
    private var free: [Int] = []
    private var waiting: [Int: Waiting] = [:]
    private var hostsWithWaiting: Set<Int> = []

    init(perHost: Int, total: Int) {
        self.perHost = max(1, perHost)
        self.total = max(1, total)
    }

    /// How many wait.
    var waitingCount: Int { waiting.count }

    /// Lines a transfer up.
    mutating func append(_ number: Int, host name: String, priority: Priority) {
        let host = indices[name] ?? add(name)
        waiting[number] = Waiting(host: host, priority: priority)
        hosts[host].lines[priority.rawValue].insert(number)
        hosts[host].waiting += 1
        if hosts[host].waiting == 1 { hostsWithWaiting.insert(host) }
    }

    /// Takes a waiting transfer out of the line; false if it does not wait.
    mutating func remove(_ number: Int) -> Bool {
        guard let entry = waiting.removeValue(forKey: number) else { return false }
        stopWaiting(entry.host)
        return true
    }

    /// Gives a waiting transfer another priority. Among its new equals it stands where it came.
    mutating func setPriority(_ priority: Priority, of number: Int) {
        guard let entry = waiting[number], entry.priority != priority else { return }
        waiting[number]?.priority = priority
        hosts[entry.host].lines[priority.rawValue].insert(number)
    }

    /// The transfer that starts now, which then counts as running; nil when nobody may.
    mutating func next() -> Int? {
        guard running < total else { return nil }
        var best: (number: Int, entry: Waiting)?
        for host in hostsWithWaiting where hosts[host].running < perHost {
            guard let candidate = first(of: host) else { continue }
            if let best, (best.entry.priority, -best.number) >= (candidate.entry.priority, -candidate.number)
            {
                continue
            }
            best = candidate
        }
        guard let best else { return nil }
        waiting[best.number] = nil
        running += 1
        hosts[best.entry.host].running += 1
        stopWaiting(best.entry.host)
        return best.number
    }

    /// A running transfer of `host` has ended.
    mutating func release(host name: String) {
        guard let host = indices[name] else { return }
        running -= 1
        hosts[host].running -= 1
        forgetIfIdle(host)
    }

    /// The first in line of a host, over its lines from the most urgent on.
    private mutating func first(of host: Int) -> (number: Int, entry: Waiting)? {
        for line in hosts[host].lines.indices.reversed() {
            while let number = hosts[host].lines[line].first {
                if let entry = waiting[number], entry.priority.rawValue == line, entry.host == host {
                    return (number, entry)
                }
                hosts[host].lines[line].removeFirst()
            }
        }
        return nil
    }

    private mutating func stopWaiting(_ host: Int) {
        hosts[host].waiting -= 1
        if hosts[host].waiting == 0 {
            hostsWithWaiting.remove(host)
            forgetIfIdle(host)
        }
    }

    private mutating func add(_ name: String) -> Int {
        let index = free.popLast() ?? hosts.count
        if index == hosts.count { hosts.append(Host(name: name)) } else { hosts[index] = Host(name: name) }
        indices[name] = index
        return index
    }

    private mutating func forgetIfIdle(_ host: Int) {
        guard hosts[host].running == 0, hosts[host].waiting == 0 else { return }
        indices[hosts[host].name] = nil
        free.append(host)
    }
}
