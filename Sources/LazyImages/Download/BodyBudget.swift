import Synchronization

/// Limits the bytes of bodies in memory, for all transfers of one downloader.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) { self.limit = limit }

    /// Bytes reserved now.
    var bytesInUse: Int { used.load(ordering: .relaxed) }

    fileprivate func take(_ count: Int) -> Bool {
        let after = used.add(count, ordering: .relaxed).newValue
        if after <= limit { return true }
        used.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func give(_ count: Int) { used.subtract(count, ordering: .relaxed) }

    /// One body's share of the budget, given back when the object is released.
    final class Reservation: Sendable {
        private let budget: BodyBudget
        private let count = Atomic(0)

        init(of budget: BodyBudget) { self.budget = budget }

        deinit { budget.give(count.load(ordering: .relaxed)) }

        /// Reserves `more` bytes; returns false and changes nothing if the budget has not enough left.
        func grow(by more: Int) -> Bool {
            guard budget.take(more) else { return false }
            count.add(more, ordering: .relaxed)
            return true
        }

        /// Gives everything back.
        func giveBack() { budget.give(count.exchange(0, ordering: .relaxed)) }
    }
}
