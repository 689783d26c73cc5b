import SystemSupport

/// Slots that tasks wait for. Downloads, uploads and the sources of a service share one queue, so that a host sees its
/// limit once.
///
/// The race of a cancelled task with its entering: the cancellation may come before the task waits, while it waits, or
/// after it got the slot.
///
/// 1. The task looks under the lock whether it is cancelled, and only then waits: an earlier cancellation is seen here.
/// 2. A later cancellation finds the waiter under the same lock, and takes it out of the line.
/// 3. After that it finds no waiter. The task has its slot, and gives it back when its work notices the cancellation.
///
/// Safe for concurrent use.
package final class SlotQueue: Sendable {
    /// Why there is no slot.
    package enum Refusal: Error, Equatable {
        case cancelled
        /// The host's circuit breaker is open for this time.
        case hostFails(pause: Duration)
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Refusal?, Never>
        let priority: @Sendable () -> Int
    }

    private struct State {
        var slots: Slots
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
    }

    private let now: @Sendable () -> Duration
    private let state: Lock<State>

    /// - Parameters:
    ///   - perHost: the most slots of one host.
    ///   - total: the most slots in all.
    ///   - breaker: the circuit breaker of the hosts.
    ///   - now: the time on a monotonic clock.
    package init(
        perHost: Int, total: Int, breaker: HostCircuitBreaker, now: @escaping @Sendable () -> Duration
    ) {
        self.now = now
        state = Lock(State(slots: Slots(perHost: perHost, total: total, breaker: breaker)))
    }

    /// The number of new work, larger than all before.
    package func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// How much work waits.
    package var waitingCount: Int { state.withLock { $0.slots.waitingCount } }

    /// Waits for a slot.
    /// - Parameters:
    ///   - number: the number of the work, which orders equal priorities.
    ///   - overrides: whether the work may run while the host's circuit breaker is open.
    ///   - priority: reads the present priority. Called under the lock, so that no change is lost between the reading and
    ///     the waiting.
    package func enter(
        _ number: Int, host: String, overrides: Bool = false, priority: @escaping @Sendable () -> Int
    ) async throws(Refusal) -> Slot {
        let refusal = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state, _ in
                    if Task.isCancelled { return [(continuation, .cancelled)] }
                    state.waiters[number] = Waiter(continuation: continuation, priority: priority)
                    state.slots.enter(number, host: host, priority: priority(), overrides: overrides)
                    return []
                }
            }
        } onCancel: {
            change { state, _ in
                guard state.slots.cancel(number), let waiter = state.waiters.removeValue(forKey: number)
                else {
                    return []
                }
                return [(waiter.continuation, .cancelled)]
            }
        }
        if let refusal { throw refusal }
        return Slot(queue: self, number: number)
    }

    /// Reads the priority of waiting work anew.
    package func reorder(_ number: Int) {
        change { state, _ in
            if let priority = state.waiters[number]?.priority() { state.slots.reorder(number, priority) }
            return []
        }
    }

    /// Takes a slot away from work that does not end in time. Does nothing if the number has none.
    package func revoke(_ number: Int) { leave(number, .inconclusive) }

    fileprivate func leave(_ number: Int, _ report: HostReport) {
        change { state, now in
            state.slots.leave(number, report, now: now)
            return []
        }
    }

    /// Changes the state, and resumes the waiters that have a slot or get none, with the lock released.
    private func change(
        _ body: (inout State, _ now: Duration) -> [(CheckedContinuation<Refusal?, Never>, Refusal?)]
    ) {
        let now = now()
        let resumed = state.withLock { state in
            var resumed = body(&state, now)
            while let (number, admission) = state.slots.next(now: now) {
                guard let waiter = state.waiters.removeValue(forKey: number) else { continue }
                switch admission {
                case .admitted: resumed.append((waiter.continuation, nil))
                case .refused(let until):
                    resumed.append((waiter.continuation, .hostFails(pause: until - now)))
                }
            }
            return resumed
        }
        for (continuation, refusal) in resumed { continuation.resume(returning: refusal) }
    }
}

/// The right to run, until it is left. It cannot be copied, so that the compiler shows where work has none.
package struct Slot: ~Copyable {
    fileprivate let queue: SlotQueue
    fileprivate let number: Int

    /// Gives the slot back. Does nothing if it was revoked.
    package consuming func leave(_ report: HostReport) { queue.leave(number, report) }
}

/// Decides which work may run: at most `perHost` at once for one host and `total` in all, and none for a host whose
/// circuit breaker is open. The highest priority goes first, and among equals the first to arrive. A plain struct, not
/// safe for concurrent use; `SlotQueue` adds the lock and the waiting.
///
/// Work is known by numbers, in order of arrival. Work that waits again, after a redirect or a pause, keeps its number
/// and so its place before later work.
package struct Slots {
    /// What becomes of waiting work.
    package enum Admission: Equatable {
        case admitted
        /// The host's circuit breaker is open until this time.
        case refused(until: Duration)
    }

    private struct Place: Comparable {
        let priority: Int
        let number: Int

        /// Whether `one` comes first.
        static func < (one: Place, other: Place) -> Bool {
            one.priority == other.priority ? one.number < other.number : one.priority > other.priority
        }
    }

    private struct Waiter {
        /// The index of its host.
        let host: Int
        var priority: Int
        let overrides: Bool
    }

    private struct Host {
        let name: String
        var running = 0
        var line = WaitingLine<Place, Int>()
    }

    private let perHost: Int
    private let total: Int
    private var hosts: [Host] = []
    /// The indices of the hosts with work.
    private var indices: [String: Int] = [:]
    /// The indices of the other hosts, for new ones.
    private var unused: [Int] = []
    private var waiters: [Int: Waiter] = [:]
    /// The index of the host of each running number.
    private var running: [Int: Int] = [:]
    private var breaker: HostCircuitBreaker

    /// - Parameter breaker: the circuit breaker of the hosts.
    package init(perHost: Int, total: Int, breaker: HostCircuitBreaker) {
        self.perHost = max(1, perHost)
        self.total = max(1, total)
        self.breaker = breaker
    }

    /// How much work waits.
    package var waitingCount: Int { waiters.count }

    /// Adds work at its place, behind earlier work of the same priority.
    /// - Parameter overrides: whether it may run even while the host's circuit breaker is open.
    package mutating func enter(_ number: Int, host: String, priority: Int, overrides: Bool = false) {
        wait(number, Waiter(host: index(of: host), priority: priority, overrides: overrides))
        checkInvariants()
    }

    private mutating func wait(_ number: Int, _ waiter: Waiter) {
        waiters[number] = waiter
        hosts[waiter.host].line.insert(number, at: Place(priority: waiter.priority, number: number))
    }

    private mutating func index(of name: String) -> Int {
        if let index = indices[name] { return index }
        let index = unused.popLast() ?? hosts.count
        if index == hosts.count { hosts.append(Host(name: name)) } else { hosts[index] = Host(name: name) }
        indices[name] = index
        return index
    }

    /// Removes waiting work; false if it does not wait.
    package mutating func cancel(_ number: Int) -> Bool {
        guard let waiter = stopWaiting(number) else { return false }
        drop(waiter.host)
        checkInvariants()
        return true
    }

    /// Changes the priority of waiting work. Arrival order holds within the new priority.
    package mutating func reorder(_ number: Int, _ priority: Int) {
        guard waiters[number].map({ $0.priority != priority }) ?? false, var waiter = stopWaiting(number)
        else { return }
        waiter.priority = priority
        wait(number, waiter)
        checkInvariants()
    }

    private mutating func stopWaiting(_ number: Int) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: number) else { return nil }
        _ = hosts[waiter.host].line.remove(Place(priority: waiter.priority, number: number))
        return waiter
    }

    /// Gives a slot back. Does nothing if the number has none.
    package mutating func leave(_ number: Int, _ report: HostReport, now: Duration) {
        guard let host = running.removeValue(forKey: number) else { return }
        hosts[host].running -= 1
        breaker.record(report, of: hosts[host].name, now: now)
        drop(host)
        checkInvariants()
    }

    /// The next work that need not wait any longer; nil if all must. Admitted work counts as running.
    package mutating func next(now: Duration) -> (number: Int, admission: Admission)? {
        guard running.count < total else { return nil }
        var best: (place: Place, host: Int)?
        for host in indices.values where hosts[host].running < perHost {
            guard let place = hosts[host].line.firstPlace, best.map({ place < $0.place }) ?? true else {
                continue
            }
            best = (place, host)
        }
        guard let (place, host) = best, let waiter = waiters.removeValue(forKey: place.number) else {
            return nil
        }
        hosts[host].line.removeFirst()
        let admission = breaker.admit(hosts[host].name, now: now, overrides: waiter.overrides)
        if admission == .admitted {
            running[place.number] = host
            hosts[host].running += 1
        }
        drop(host)
        checkInvariants()
        return (place.number, admission)
    }

    /// Drops a host without work.
    private mutating func drop(_ index: Int) {
        let host = hosts[index]
        guard host.running == 0, host.line.count == 0 else { return }
        indices[host.name] = nil
        unused.append(index)
    }

    /// Traps in a debug build if the sums do not agree. Called at the end of each transition.
    private func checkInvariants() {
        #if DEBUG
            let known = indices.values.map { hosts[$0] }
            precondition(
                known.count + unused.count == hosts.count, "Slots: known + unused hosts != all hosts")
            precondition(
                known.reduce(0) { $0 + $1.running } == running.count,
                "Slots: the sum of the hosts' running work != all running work")
            precondition(
                known.reduce(0) { $0 + $1.line.count } == waiters.count,
                "Slots: the sum of the hosts' lines != all waiting work")
            precondition(
                running.count <= total && known.allSatisfy { (0...perHost).contains($0.running) },
                "Slots: more work runs than the limits allow")
            precondition(
                known.allSatisfy { $0.running + $0.line.count > 0 }, "Slots: a host without work is known")
        #endif
    }
}

/// What work says about its host when it leaves its slot.
package enum HostReport: Sendable {
    /// The host has answered, with any status.
    case answered
    /// The host did not answer.
    case failed
    /// The work ended for another reason.
    case inconclusive
}

/// A circuit breaker for each host: after repeated failures work for a host is refused at once for a while. A plain
/// struct, not safe for concurrent use.
///
///     closed --(n failures in a row)--> open until a time --(that time)--> one transfer probes the host
///        ^                                 ^----------(it fails: twice as long)-----|
///        |-----------------------------------------------(it succeeds)--------------|
package struct HostCircuitBreaker: Sendable {
    private struct Host {
        var failures = 0
        /// Nil while the circuit is closed.
        var openUntil: Duration?
        var pause: Duration
        var isProbed = false
    }

    /// The longest time that a circuit stays open.
    private static let longestPause = Duration.seconds(60)
    /// The most hosts to remember. Beyond it all hosts with a closed circuit are forgotten.
    private static let hostLimit = 1000

    private let failures: Int
    private let pause: Duration
    private var hosts: [String: Host] = [:]

    /// - Parameters:
    ///   - failures: after how many failures in a row a circuit opens.
    ///   - pause: how long it stays open at first. The time doubles with each failed probe, up to a minute.
    package init(failures: Int, pause: Duration) { (self.failures, self.pause) = (failures, pause) }

    /// How many hosts have failures.
    package var hostCount: Int { hosts.count }

    /// Whether a host's circuit is open, or is being probed.
    package func isOpen(_ host: String) -> Bool { hosts[host]?.openUntil != nil }

    /// Decides on one transfer. If it is a probe, a report must follow.
    /// - Parameters:
    ///   - now: the time on any monotonic clock.
    ///   - overrides: whether to probe the host even while its circuit is open. Default: false.
    package mutating func admit(_ host: String, now: Duration, overrides: Bool = false) -> Slots.Admission {
        guard !hosts.isEmpty, let until = hosts[host]?.openUntil else { return .admitted }
        if !overrides, hosts[host]?.isProbed == true || now < until {
            return .refused(until: max(until, now))
        }
        hosts[host]?.isProbed = true
        return .admitted
    }

    package mutating func record(_ report: HostReport, of host: String, now: Duration) {
        switch report {
        case .answered: if !hosts.isEmpty { hosts[host] = nil }
        case .inconclusive: if !hosts.isEmpty { hosts[host]?.isProbed = false }
        case .failed: fail(host, now: now)
        }
    }

    private mutating func fail(_ host: String, now: Duration) {
        var state = hosts[host] ?? Host(pause: pause)
        state.failures = min(state.failures, Int.max - 1) + 1
        if state.isProbed {
            state.pause = min(state.pause * 2, Self.longestPause)
            state.openUntil = now + state.pause
            state.isProbed = false
        } else if state.openUntil == nil, state.failures >= failures {
            state.openUntil = now + state.pause
        }
        if hosts.count >= Self.hostLimit { hosts = hosts.filter { $0.value.openUntil != nil } }
        hosts[host] = state
    }
}

/// Waiters in the order of their places. A plain struct, not safe for concurrent use.
///
/// They stand in pages of bounded length, so that one who comes or leaves moves the others of one page only: a hundred
/// thousand who leave cost a hundred thousand short steps.
package struct WaitingLine<Place: Comparable, Waiter> {
    /// None is empty.
    private var pages: [[(place: Place, waiter: Waiter)]] = []
    private static var mostInPage: Int { 128 }

    package private(set) var count = 0

    package init() {}

    /// The waiter whose turn is next.
    package var first: Waiter? { pages.first?.first?.waiter }

    package var firstPlace: Place? { pages.first?.first?.place }

    /// Adds a waiter at its place, mostly at the end.
    package mutating func insert(_ waiter: Waiter, at place: Place) {
        count += 1
        // One beyond all pages joins the last one.
        guard let page = pages.isEmpty ? nil : min(pageIndex(of: place), pages.count - 1) else {
            return pages.append([(place, waiter)])
        }
        pages[page].insert((place, waiter), at: index(of: place, in: page))
        guard pages[page].count > Self.mostInPage else { return }
        let half = Self.mostInPage / 2
        pages.insert(Array(pages[page][half...]), at: page + 1)
        pages[page].removeSubrange(half...)
    }

    package mutating func removeFirst() { _ = remove(0, in: 0) }

    /// Removes and returns the waiter of a place; nil if it does not wait here.
    package mutating func remove(_ place: Place) -> Waiter? {
        let page = pageIndex(of: place)
        guard page < pages.count else { return nil }
        let index = index(of: place, in: page)
        return pages[page][index].place == place ? remove(index, in: page) : nil
    }

    private mutating func remove(_ index: Int, in page: Int) -> Waiter {
        count -= 1
        defer { if pages[page].isEmpty { pages.remove(at: page) } }
        return pages[page].remove(at: index).waiter
    }

    /// The first page that does not end before a place; the number of pages if all do.
    private func pageIndex(of place: Place) -> Int {
        pages.partitioningIndex { page in page.last.map { $0.place >= place } ?? true }
    }

    /// The index of a place in its page, or where it belongs.
    private func index(of place: Place, in page: Int) -> Int {
        pages[page].partitioningIndex { $0.place >= place }
    }
}

extension Array {
    /// The index of the first element that fulfils a condition, which all later ones fulfil too. A binary search.
    fileprivate func partitioningIndex(where isLate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isLate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
