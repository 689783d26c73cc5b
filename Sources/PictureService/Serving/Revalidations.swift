import LazyImages
import SystemSupport

/// The sources that are being revalidated in the background, while their stored pictures are sent.
final class Revalidations: Sendable {
    private struct State {
        var running: [CacheKey: Int] = [:]
        var number = 0
    }

    private let state = Lock(State())

    /// Begins a revalidation.
    /// - Returns: its number; nil if one is running for this source.
    func begin(_ source: CacheKey) -> Int? {
        state.withLock { state in
            guard state.running[source] == nil else { return nil }
            state.number += 1
            state.running[source] = state.number
            return state.number
        }
    }

    /// Whether the source has not been purged since then.
    func isWanted(_ source: CacheKey, _ number: Int) -> Bool {
        state.withLock { $0.running[source] == number }
    }

    func end(_ source: CacheKey, _ number: Int) {
        state.withLock { state in
            if state.running[source] == number { state.running[source] = nil }
        }
    }

    /// Discards the result of a running revalidation.
    func forget(_ source: CacheKey) { state.withLock { $0.running[source] = nil } }
}
