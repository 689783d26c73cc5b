import FoundationEssentials
import SystemSupport

/// How many ends a pool remembers.
private let remembered = 1024

/// Shared work under way, at most one piece for each key.
///
/// The memory of what has ended closes a gap. A caller looks in the cache and finds nothing; the transfer that was under
/// way stores its file and ends; the caller would begin a second one. So a caller takes a `stamp` before it looks, and
/// `join` refuses a caller whose work has ended since: it looks again.
///
/// Safe for concurrent use.
final class TaskPool<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Work = SharedTask<Value>

    private struct State {
        var tasks: [Key: Work] = [:]
        var lastNumber = 0
        /// How many pieces of work have ended.
        var ends = 0
        /// The keys of the last ones, in a ring: that of end `n` is at `n % remembered`. Nil where work was forgotten.
        var ended: [Key?] = []
        /// When work was forgotten last: stamps from before are void, for whatever key.
        var forgotten = 0

        /// Whether work for a key has ended since a stamp, as far as it is remembered; true where it is not.
        func hasEnded(_ key: Key, since stamp: Int) -> Bool {
            guard stamp < ends else { return false }
            if stamp < forgotten { return true }
            if ends - stamp > ended.count { return true }
            return (stamp..<ends).contains { ended[$0 % remembered] == key }
        }

        mutating func noteEnd(_ key: Key?) {
            if ended.count < remembered { ended.append(key) } else { ended[ends % remembered] = key }
            ends += 1
        }
    }

    private let state = Lock(State())

    /// The present, to be taken before a look in the cache.
    var stamp: Int { state.withLock { $0.ends } }

    /// The work under way.
    var tasks: [Work] { state.withLock { $0.tasks.values.filter { !$0.isOver } } }

    /// The work under way for a key.
    subscript(key: Key) -> Work? { state.withLock { $0.tasks[key] } }

    /// Adds a caller to the work for `key`, or makes that work, which the first caller then begins.
    /// - Parameter stamp: when the caller looked in the cache; nil for one that did not.
    /// - Returns: nil if work for `key` has ended since `stamp`.
    func join(
        _ key: Key, url: URL, priority: ImageRequest.Priority, listener: TaskListener? = nil,
        since stamp: Int? = nil
    ) -> (work: Work, caller: Int, isFirst: Bool)? {
        while true {
            let found = state.withLock { state -> (work: Work, isFirst: Bool)? in
                if let work = state.tasks[key], !work.isOver { return (work, false) }
                if let stamp, state.hasEnded(key, since: stamp) { return nil }
                state.lastNumber += 1
                let work = Work(number: state.lastNumber, url: url)
                state.tasks[key] = work
                return (work, true)
            }
            guard let found else { return nil }
            // Nil where the work has ended since.
            guard let caller = found.work.join(priority, listener: listener) else { continue }
            return (found.work, caller, found.isFirst)
        }
    }

    /// Ends the work, which everybody who waits is told.
    func finish(_ key: Key, _ work: Work, _ outcome: Work.Outcome) {
        remove(key, work)
        work.finish(outcome)
    }

    /// Takes the work for some keys out, before it has ended: nothing that it brings is kept, its callers get their outcome,
    /// and later callers begin anew. Callers that have looked in the cache already, for whatever key, look again.
    func forget(where isMeant: (Key) -> Bool) {
        let works = state.withLock { state in
            state.noteEnd(nil)
            state.forgotten = state.ends
            return state.tasks.keys.filter(isMeant).compactMap { state.tasks.removeValue(forKey: $0) }
        }
        for work in works { work.forget() }
    }

    /// Whether something was forgotten since `stamp`: what was found in the cache before may have been removed.
    func hasForgotten(since stamp: Int) -> Bool { state.withLock { stamp < $0.forgotten } }

    /// Takes the work out: it has ended or was abandoned.
    func remove(_ key: Key, _ work: Work) {
        state.withLock { state in
            guard state.tasks[key] === work else { return }
            state.tasks[key] = nil
            state.noteEnd(key)
        }
    }
}
