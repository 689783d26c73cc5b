/// One piece of work that callers share. It is known by its identity, never by its key alone: one that was abandoned may
/// still be ending while another for the same key is under way, and must not answer the other one's callers.
final class Flight: Sendable {
    /// Of two flights of one table, the one with the smaller number began first.
    let number: Int
    /// Where it reports how far it is.
    let progress = ProgressRelay()
    /// Stands for it where it waits for a flight of another table. Carries its priority there.
    let ticket = LoadTicket()

    init(number: Int) { self.number = number }
}

/// Who waits for what: at most one flight per key, however many callers wait for it. Plain logic, not safe for concurrent
/// use and not to be copied: an actor owns it, and performs outside what it decides.
struct FlightTable<Key: Hashable & Sendable, Value: Sendable> {
    typealias Outcome = Result<Value, ImageLoadingError>

    /// One caller that waits. A class, so that handing it on is no copy.
    final class Caller: Sendable {
        let ticket: LoadTicket
        let priority: ImageRequest.Priority
        let progress: ProgressListener?
        private let continuation: CheckedContinuation<Outcome, Never>

        init(
            ticket: LoadTicket, priority: ImageRequest.Priority, progress: ProgressListener?,
            continuation: CheckedContinuation<Outcome, Never>
        ) {
            self.ticket = ticket
            self.priority = priority
            self.progress = progress
            self.continuation = continuation
        }

        func with(_ priority: ImageRequest.Priority) -> Caller {
            Caller(ticket: ticket, priority: priority, progress: progress, continuation: continuation)
        }

        func resume(_ outcome: Outcome) {
            progress?.finish()
            continuation.resume(returning: outcome)
        }
    }

    /// What a caller's arrival means: it is the first and the flight must be started, or it shares one under way.
    enum Arrival {
        case first(Flight)
        case shares(Flight)
    }

    /// What a caller's leaving means: when it was the last, the flight is over, and its task is to be cancelled.
    struct Departure {
        let caller: Caller
        let isLast: Bool
        var task: Task<Void, Never>?
    }

    /// A class, so that a change costs one look-up of the key and no more.
    private final class Entry {
        let flight: Flight
        var callers: [LoadTicket: Caller] = [:]
        var task: Task<Void, Never>?
        /// How many callers there are of each priority: the highest is found without looking at all of them.
        var count = SIMD8<Int32>()

        var priority: ImageRequest.Priority {
            ImageRequest.Priority.allCases.last { count[$0.rawValue] > 0 } ?? .veryLow
        }

        init(_ flight: Flight) { self.flight = flight }

        func add(_ caller: Caller) {
            callers[caller.ticket] = caller
            count[caller.priority.rawValue] += 1
            if let progress = caller.progress { flight.progress.add(progress, for: caller.ticket) }
        }

        func remove(_ ticket: LoadTicket) -> Caller? {
            guard let caller = callers.removeValue(forKey: ticket) else { return nil }
            count[caller.priority.rawValue] -= 1
            flight.progress.remove(ticket)
            return caller
        }
    }

    private var entries: [Key: Entry] = [:]
    private var keys: [LoadTicket: Key] = [:]
    private var lastNumber = 0

    /// How many flights are under way.
    var count: Int { entries.count }

    /// Adds a caller to the flight for `key`.
    mutating func join(_ key: Key, _ caller: Caller) -> Arrival {
        let previous = keys.updateValue(key, forKey: caller.ticket)
        precondition(previous == nil, "a LoadTicket stands for one load at a time")
        if let entry = entries[key] {
            entry.add(caller)
            return .shares(entry.flight)
        }
        lastNumber += 1
        let entry = Entry(Flight(number: lastNumber))
        entry.add(caller)
        entries[key] = entry
        return .first(entry.flight)
    }

    /// Notes the task that does the flight's work, so that it can be cancelled. One whose flight is over is cancelled at
    /// once.
    mutating func setTask(_ task: Task<Void, Never>, of key: Key, _ flight: Flight) {
        if let entry = entries[key], entry.flight === flight { entry.task = task } else { task.cancel() }
    }

    /// Whether somebody still waits for the flight.
    func isUnderWay(_ key: Key, _ flight: Flight) -> Bool { entries[key]?.flight === flight }

    /// Takes one caller out. Nil if it waits no more: it has its answer.
    mutating func leave(_ ticket: LoadTicket) -> Departure? {
        guard let key = keys.removeValue(forKey: ticket), let entry = entries[key],
            let caller = entry.remove(ticket)
        else { return nil }
        guard entry.callers.isEmpty else { return Departure(caller: caller, isLast: false) }
        entries[key] = nil
        return Departure(caller: caller, isLast: true, task: entry.task)
    }

    /// Ends a flight and hands over those who waited for it, first come first; none if it was abandoned meanwhile.
    mutating func finish(_ key: Key, _ flight: Flight) -> [Caller] {
        guard let entry = entries[key], entry.flight === flight else { return [] }
        entries[key] = nil
        for ticket in entry.callers.keys { keys[ticket] = nil }
        let callers = Array(entry.callers.values)
        return callers.count == 1 ? callers : callers.sorted { $0.ticket < $1.ticket }
    }

    /// The flights whose callers all have a lower priority than this, with their tasks.
    func flights(below priority: ImageRequest.Priority) -> [(
        key: Key, flight: Flight, task: Task<Void, Never>?
    )] {
        entries.filter { $0.value.priority < priority }.map { ($0.key, $0.value.flight, $0.value.task) }
    }

    /// The highest priority among the flight's callers, unless it has ended.
    func priority(ofFlight key: Key) -> ImageRequest.Priority? { entries[key]?.priority }

    /// The key a caller waits for and its flight.
    func flight(of ticket: LoadTicket) -> (key: Key, flight: Flight)? {
        guard let key = keys[ticket], let flight = entries[key]?.flight else { return nil }
        return (key, flight)
    }

    /// Gives one caller another priority.
    mutating func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        guard let key = keys[ticket], let entry = entries[key], let caller = entry.callers[ticket] else {
            return
        }
        entry.count[caller.priority.rawValue] -= 1
        entry.count[priority.rawValue] += 1
        entry.callers[ticket] = caller.with(priority)
    }
}
