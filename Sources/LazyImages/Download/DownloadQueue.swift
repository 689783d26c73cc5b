/// Decides which waiting transfer may start: at most `perHost` for one host and `total` in all run at once. The most
/// urgent goes first, and among equals the first to arrive. A plain struct, not safe for concurrent use.
///
/// Transfers are known by numbers, in order of arrival. A transfer that waits again, for the next attempt after a
/// redirect, keeps its number and its place before later ones.
///
/// Adding and removing cost O(1), a change of priority a binary search. `next()` looks once at every host with waiting
/// transfers.
struct DownloadQueue {
    typealias Priority = ImageRequest.Priority

    private struct Waiting {
        /// The index of its host.
        let host: Int
        var priority: Priority
    }

    /// One host's transfers: how many run, and for each priority a line of the waiting ones, in ascending order. A line
    /// may have numbers of transfers that have left or changed to another line; they are dropped when they come to the
    /// front.
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

        /// Inserts a number in ascending order, mostly at the end. A number may still be in the line from before.
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
    /// All hosts with transfers, and free entries. An index costs no hashing, unlike a name.
    private var hosts: [Host] = []
    private var indices: [String: Int] = [:]
    private var free: [Int] = []
    private var waiting: [Int: Waiting] = [:]
    private var hostsWithWaiting: Set<Int> = []

    init(perHost: Int, total: Int) {
        self.perHost = max(1, perHost)
        self.total = max(1, total)
    }

    /// How many transfers wait.
    var waitingCount: Int { waiting.count }

    /// Adds a waiting transfer.
    mutating func append(_ number: Int, host name: String, priority: Priority) {
        let host = indices[name] ?? add(name)
        waiting[number] = Waiting(host: host, priority: priority)
        hosts[host].lines[priority.rawValue].insert(number)
        hosts[host].waiting += 1
        if hosts[host].waiting == 1 { hostsWithWaiting.insert(host) }
    }

    /// Removes a waiting transfer; false if it does not wait.
    mutating func remove(_ number: Int) -> Bool {
        guard let entry = waiting.removeValue(forKey: number) else { return false }
        stopWaiting(entry.host)
        return true
    }

    /// Changes the priority of a waiting transfer. Arrival order holds within the new priority.
    mutating func setPriority(_ priority: Priority, of number: Int) {
        guard let entry = waiting[number], entry.priority != priority else { return }
        waiting[number]?.priority = priority
        hosts[entry.host].lines[priority.rawValue].insert(number)
    }

    /// The next transfer to start, which then counts as running; nil if none may start.
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

    /// Notes the end of a running transfer of `host`.
    mutating func release(host name: String) {
        guard let host = indices[name] else { return }
        running -= 1
        hosts[host].running -= 1
        forgetIfIdle(host)
    }

    /// The first waiting transfer of a host, from its most urgent line.
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
