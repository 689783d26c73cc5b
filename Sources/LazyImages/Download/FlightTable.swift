/// Who waits for what: at most one flight per key, however many callers wait for it. A plain struct, not safe for
/// concurrent use: an actor owns it, and performs outside what it decides.
///
/// A flight is known by its number, never by its key alone: one that was abandoned may still be ending while a new one
/// for the same key is under way, and must not answer the new one's callers.
struct FlightTable<Key: Hashable & Sendable, Value: Sendable> {
    typealias Outcome = Result<Value, ImageLoadingError>

    /// One caller that waits.
    struct Caller {
        let ticket: LoadTicket
        var priority: ImageRequest.Priority
        let progress: ProgressListener?
        let continuation: CheckedContinuation<Outcome, Never>

        func resume(_ outcome: Outcome) {
            progress?.finish()
            continuation.resume(returning: outcome)
        }
    }

    /// What a caller's arrival means: it is the first and the flight must be started, or it shares one under way.
    enum Arrival {
        case first(flight: Int)
        case shares(flight: Int)
    }

    /// What a caller's leaving means: when it was the last, the flight is over, and its task is to be cancelled.
    struct Departure {
        let caller: Caller
        let isLast: Bool
        var task: Task<Void, Never>?
    }

    private struct Flight {
        let number: Int
        var callers: [LoadTicket: Caller] = [:]
        var task: Task<Void, Never>?
        let progress = ProgressRelay()
        /// How many callers there are of each priority: the highest is found without looking at all of them.
        var count = SIMD8<Int32>()

        var priority: ImageRequest.Priority {
            ImageRequest.Priority.allCases.last { count[$0.rawValue] > 0 } ?? .veryLow
        }
    }

    private var flights: [Key: Flight] = [:]
    private var keys: [LoadTicket: Key] = [:]
    private var lastNumber = 0

    /// How many flights are under way.
    var count: Int { flights.count }

    /// Adds a caller to the flight for `key`.
    mutating func join(_ key: Key, _ caller: Caller) -> Arrival {
        precondition(keys[caller.ticket] == nil, "a LoadTicket stands for one load at a time")
        keys[caller.ticket] = key
        let isFirst = flights[key] == nil
        if isFirst {
            lastNumber += 1
            flights[key] = Flight(number: lastNumber)
        }
        flights[key]?.callers[caller.ticket] = caller
        flights[key]?.count[caller.priority.rawValue] += 1
        if let progress = caller.progress { flights[key]?.progress.add(progress, for: caller.ticket) }
        let number = flights[key]?.number ?? lastNumber
        return isFirst ? .first(flight: number) : .shares(flight: number)
    }

    /// Notes the task that does the flight's work, so that it can be cancelled. One whose flight is over is cancelled at
    /// once.
    mutating func setTask(_ task: Task<Void, Never>, of key: Key, flight number: Int) {
        if isUnderWay(key, flight: number) { flights[key]?.task = task } else { task.cancel() }
    }

    /// Whether somebody still waits for the flight.
    func isUnderWay(_ key: Key, flight number: Int) -> Bool { flights[key]?.number == number }

    /// Where the flight for `key` reports how far it is.
    func progress(of key: Key) -> ProgressRelay? { flights[key]?.progress }

    /// Takes one caller out. Nil if it waits no more: it has its answer.
    mutating func leave(_ ticket: LoadTicket) -> Departure? {
        guard let key = keys.removeValue(forKey: ticket),
            let caller = flights[key]?.callers.removeValue(forKey: ticket)
        else { return nil }
        flights[key]?.count[caller.priority.rawValue] -= 1
        flights[key]?.progress.remove(ticket)
        guard flights[key]?.callers.isEmpty == true else {
            return Departure(caller: caller, isLast: false)
        }
        return Departure(caller: caller, isLast: true, task: flights.removeValue(forKey: key)?.task)
    }

    /// Ends a flight and hands over those who waited for it, first come first; none if it was abandoned meanwhile.
    mutating func finish(_ key: Key, flight number: Int) -> [Caller] {
        guard flights[key]?.number == number, let flight = flights.removeValue(forKey: key) else { return [] }
        for ticket in flight.callers.keys { keys[ticket] = nil }
        return flight.callers.values.sorted { $0.ticket < $1.ticket }
    }

    /// The highest priority among the flight's callers, unless it has ended.
    func priority(ofFlight key: Key) -> ImageRequest.Priority? { flights[key]?.priority }

    /// The key a caller waits for and the number of its flight.
    func flight(of ticket: LoadTicket) -> (key: Key, number: Int)? {
        guard let key = keys[ticket], let number = flights[key]?.number else { return nil }
        return (key, number)
    }

    /// Gives one caller another priority.
    mutating func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        guard let key = keys[ticket], let old = flights[key]?.callers[ticket]?.priority else { return }
        flights[key]?.callers[ticket]?.priority = priority
        flights[key]?.count[old.rawValue] -= 1
        flights[key]?.count[priority.rawValue] += 1
    }
}
