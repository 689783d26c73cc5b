import LazyImages
import SystemSupport

/// The sources whose origins are asked while what is stored of them is sent.
final class Revalidations: Sendable {
    private struct State {
        var running: [CacheKey: Int] = [:]
        var number = 0
    }

    private let state = Lock(State())

    /// Begins one.
    /// - Returns: its number; nil where the source's origin is asked already.
    func begin(_ source: CacheKey) -> Int? {
        state.withLock { state in
            guard state.running[source] == nil else { return nil }
            state.number += 1
            state.running[source] = state.number
            return state.number
        }
    }

    /// Whether the source was not purged since.
    func isWanted(_ source: CacheKey, _ number: Int) -> Bool {
        state.withLock { $0.running[source] == number }
    }

    func end(_ source: CacheKey, _ number: Int) {
        state.withLock { state in
            if state.running[source] == number { state.running[source] = nil }
        }
    }

    /// Has nothing kept of what is under way for a source.
    func forget(_ source: CacheKey) { state.withLock { $0.running[source] = nil } }
}
