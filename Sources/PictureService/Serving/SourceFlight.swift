import HTTPSemantics
import LazyImages
import SystemSupport

/// The work on one source that several requests share: one transfer, one decode, one encode for each recipe.
final class SourceFlight: Sendable {
    typealias Delivery = @Sendable (PictureOutcome) -> Void

    private struct Waiter {
        let number: Int
        let deliver: Delivery
    }

    private struct State {
        /// The waiting requests of each recipe, by its derivation.
        var waiting: [String: (recipe: PictureRecipe, waiters: [Waiter])] = [:]
        /// The derivations, oldest first.
        var order: [String] = []
        var number = 0
        var task: Task<Void, Never>?
        /// Whether nobody may join any more, and whether the result must not be stored.
        var isClosed = false
        /// The time from which on nobody may join, in seconds since 1970.
        var end = Int.max
        var isForgotten = false
    }

    let original: PictureOriginal
    /// The client whose request began the work; nil for a program at a local socket.
    let client: IPAddress?
    /// The source's place in the gate.
    let ticket = WorkGate.Ticket()
    private let state = Lock(State())

    init(_ original: PictureOriginal, client: IPAddress? = nil) {
        (self.original, self.client) = (original, client)
    }

    /// Joins the work and waits for a picture.
    /// - Parameter now: seconds since 1970.
    /// - Returns: the waiter's number, and whether it is the only one for this recipe; nil if the work is over, so that
    ///   the caller must begin another.
    func join(
        _ recipe: PictureRecipe, now: Int, _ deliver: @escaping Delivery
    ) -> (number: Int, isFirst: Bool)? {
        let derivation = recipe.derivation
        return state.withLock { state in
            if state.isClosed || now >= state.end { return nil }
            state.number += 1
            let waiter = Waiter(number: state.number, deliver: deliver)
            let isFirst = state.waiting[derivation]?.waiters.append(waiter) == nil
            if isFirst {
                state.waiting[derivation] = (recipe, [waiter])
                state.order.append(derivation)
            }
            return (state.number, isFirst)
        }
    }

    /// Cancels a waiter. When the last one cancels, the work ends.
    /// - Returns: whether the work is over now.
    func leave(_ recipe: PictureRecipe, _ number: Int) -> Bool {
        let derivation = recipe.derivation
        let task = state.withLock { state -> Task<Void, Never>?? in
            state.waiting[derivation]?.waiters.removeAll { $0.number == number }
            guard state.waiting[derivation]?.waiters.isEmpty == true else { return nil }
            state.waiting[derivation] = nil
            state.order.removeAll { $0 == derivation }
            guard state.order.isEmpty else { return nil }
            state.isClosed = true
            return .some(state.task)
        }
        guard let task else { return false }
        task?.cancel()
        return true
    }

    /// The task that does the work, so that it can be cancelled.
    func setTask(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isClosed && state.order.isEmpty
        }
        if isAbandoned { task.cancel() }
    }

    /// Lets nobody join any more. Present waiters are served.
    func close() { state.withLock { $0.isClosed = true } }

    /// Lets nobody join from this time on, in seconds since 1970: the origin's answer is then stale.
    func close(at end: Int) { state.withLock { $0.end = end } }

    /// Lets nobody join any more, and forbids storing the result, because the source was purged.
    func forget() {
        state.withLock { state in
            state.isClosed = true
            state.isForgotten = true
        }
    }

    /// Whether the source was purged meanwhile.
    var isForgotten: Bool { state.withLock { $0.isForgotten } }

    /// The recipe that has waited longest; nil if nobody waits, which ends the work.
    func next() -> PictureRecipe? {
        state.withLock { state in
            guard let first = state.order.first else {
                state.isClosed = true
                return nil
            }
            return state.waiting[first]?.recipe
        }
    }

    /// Delivers a picture or a failure to all waiters of a recipe, if there are any.
    func deliver(_ outcome: PictureOutcome, for recipe: PictureRecipe) {
        let derivation = recipe.derivation
        let waiters = state.withLock { state in
            state.order.removeAll { $0 == derivation }
            return state.waiting.removeValue(forKey: derivation)?.waiters ?? []
        }
        for (index, waiter) in waiters.enumerated() {
            waiter.deliver(index == 0 ? outcome : outcome.collapsed)
        }
    }
}
