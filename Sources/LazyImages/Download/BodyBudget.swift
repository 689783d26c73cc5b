import Synchronization

/// Limits the bytes of bodies in memory, for all transfers of one downloader.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) { self.limit = limit }

    /// Bytes reserved now.
    var bytesInUse: Int { used.load(ordering: .relaxed) }

    /// One body's share of the budget, given back when the object is released.
    final class Reservation: Sendable {
        private let budget: BodyBudget
        private let reserved = Atomic(0)

        init(of budget: BodyBudget) { self.budget = budget }

        deinit { giveBack(count) }

        /// Bytes reserved now.
        var count: Int { reserved.load(ordering: .relaxed) }

        /// Reserves `more` bytes, even beyond the limit.
        /// - Returns: whether the budget had so many left.
        func grow(by more: Int) -> Bool {
            reserved.add(more, ordering: .relaxed)
            return budget.used.add(more, ordering: .relaxed).newValue <= budget.limit
        }

        /// Gives bytes back.
        func giveBack(_ count: Int) {
            reserved.subtract(count, ordering: .relaxed)
            budget.used.subtract(count, ordering: .relaxed)
        }
    }
}
