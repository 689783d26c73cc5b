/// The callers of one `SharedTask`, in the order in which they joined. A plain struct, not safe for concurrent use.
struct TaskCallers<Value: Sendable> {
    typealias Priority = ImageRequest.Priority
    typealias Outcome = Result<Value, ImageLoadingError>

    struct Caller {
        /// A caller that joined earlier has a smaller number.
        let number: Int
        fileprivate(set) var priority: Priority
        var listeners: [TaskListener] = []
        var continuations: [CheckedContinuation<Outcome, Never>] = []
    }

    /// In ascending order of their numbers.
    private(set) var all: [Caller] = []
    private var lastNumber = 0
    /// How many callers have each priority. Saves a search through all callers for the highest one.
    private var counts = SIMD8<Int32>()

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    /// The highest priority among the callers; the lowest of all without callers.
    var highestPriority: Priority { Priority.allCases.last { counts[$0.rawValue] > 0 } ?? .veryLow }

    var listeners: [TaskListener] { all.count == 1 ? all[0].listeners : all.flatMap(\.listeners) }

    /// Adds a caller at the end.
    /// - Returns: the caller's number.
    mutating func add(_ priority: Priority) -> Int {
        lastNumber += 1
        all.append(Caller(number: lastNumber, priority: priority))
        counts[priority.rawValue] += 1
        return lastNumber
    }

    /// Removes a caller; nil if it has left already.
    mutating func remove(_ number: Int) -> Caller? {
        guard let index = index(of: number) else { return nil }
        let caller = all.remove(at: index)
        counts[caller.priority.rawValue] -= 1
        return caller
    }

    /// Removes the listeners and the continuations of all callers, which stay.
    /// - Returns: the callers as they were.
    mutating func takeWaiting() -> [Caller] {
        let before = all
        for index in all.indices { (all[index].listeners, all[index].continuations) = ([], []) }
        return before
    }

    func contains(_ number: Int) -> Bool { index(of: number) != nil }

    /// The priority of one caller; nil if it has left.
    func priority(of number: Int) -> Priority? { index(of: number).map { all[$0].priority } }

    mutating func setPriority(_ priority: Priority, of number: Int) {
        guard let index = index(of: number) else { return }
        counts[all[index].priority.rawValue] -= 1
        counts[priority.rawValue] += 1
        all[index].priority = priority
    }

    /// Changes a caller; false if it has left.
    mutating func update(_ number: Int, _ change: (inout Caller) -> Void) -> Bool {
        guard let index = index(of: number) else { return false }
        change(&all[index])
        return true
    }

    /// Where a caller stands; nil if it has left. A binary search.
    private func index(of number: Int) -> Int? {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].number == number ? low : nil
    }
}
