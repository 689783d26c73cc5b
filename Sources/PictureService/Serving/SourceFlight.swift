import LazyImages
import SystemSupport

/// The work on one source that several requests wait for: one transfer, one decode, one encode for each recipe.
final class SourceFlight: Sendable {
    typealias Delivery = @Sendable (PictureOutcome) -> Void

    private struct Waiter {
        let number: Int
        let deliver: Delivery
    }

    private struct State {
        /// Who waits for which recipe, by its derivation.
        var waiting: [String: (recipe: PictureRecipe, waiters: [Waiter])] = [:]
        /// The derivations, oldest first.
        var order: [String] = []
        var number = 0
        var task: Task<Void, Never>?
        /// Whether nobody may join any more, and whether nothing of it may be kept.
        var isClosed = false
        /// From when on nobody may join any more, in seconds since 1970.
        var end = Int.max
        var isForgotten = false
    }

    let original: PictureOriginal
    private let state = Lock(State())

    init(_ original: PictureOriginal) { self.original = original }

    /// Waits for a picture.
    /// - Parameter now: seconds since 1970.
    /// - Returns: a number to leave by, and whether nobody else waits for the recipe; nil where the work is over, and another
    ///   has to be begun.
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

    /// Leaves. The last one ends the work.
    /// - Returns: whether it is over by that.
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

    /// What works for it, so that it can be cancelled.
    func setTask(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isClosed && state.order.isEmpty
        }
        if isAbandoned { task.cancel() }
    }

    /// Lets nobody join any more. Who waits already is served.
    func close() { state.withLock { $0.isClosed = true } }

    /// Lets nobody join from a moment on, in seconds since 1970: what the origin has said holds no longer.
    func close(at end: Int) { state.withLock { $0.end = end } }

    /// Has nothing kept of it, because its source was purged, and lets nobody join any more.
    func forget() {
        state.withLock { state in
            state.isClosed = true
            state.isForgotten = true
        }
    }

    /// Whether its source was purged meanwhile.
    var isForgotten: Bool { state.withLock { $0.isForgotten } }

    /// The recipe that has waited longest; nil where nobody waits any more, and then the work is over.
    func next() -> PictureRecipe? {
        state.withLock { state in
            guard let first = state.order.first else {
                state.isClosed = true
                return nil
            }
            return state.waiting[first]?.recipe
        }
    }

    /// Gives all who wait for a recipe their picture, or word that there is none. Where nobody waits any more, nothing.
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
