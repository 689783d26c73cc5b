import FoundationEssentials
import SystemSupport

/// How many finished tasks a pool remembers.
private let remembered = 1024

/// The running shared tasks, at most one for each key.
///
/// The pool remembers finished tasks because of this race:
///
/// 1. a caller looks in the cache and finds nothing;
/// 2. the running transfer stores its file and finishes;
/// 3. the caller would begin a second transfer.
///
/// So a caller takes a `stamp` before it looks. If a task for its key has finished since, `join` refuses the caller,
/// which looks again.
///
/// Safe for concurrent use.
final class TaskPool<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Work = SharedTask<Value>

    private struct State {
        var tasks: [Key: Work] = [:]
        var lastNumber = 0
        /// How many tasks have finished.
        var ends = 0
        /// The keys of the last finished tasks, in a ring: number `n` is at `n % remembered`. Nil for a call of
        /// `forget`.
        var ended: [Key?] = []
        /// The number of the last call of `forget`: earlier stamps are invalid for all keys.
        var forgotten = 0

        /// Whether a task for a key may have finished since a stamp. True if the pool no longer knows.
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

    /// The present stamp, to be taken before a look in the cache.
    var stamp: Int { state.withLock { $0.ends } }

    /// The running tasks.
    var tasks: [Work] { state.withLock { $0.tasks.values.filter { !$0.isOver } } }

    /// The running task for a key.
    subscript(key: Key) -> Work? { state.withLock { $0.tasks[key] } }

    /// Adds a caller to the task for `key`. Makes the task if there is none; its first caller must begin it.
    /// - Parameter stamp: when the caller looked in the cache; nil for a caller that did not.
    /// - Returns: nil if a task for `key` has finished since `stamp`.
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
            // Nil if the task has finished meanwhile.
            guard let caller = found.work.join(priority, listener: listener) else { continue }
            return (found.work, caller, found.isFirst)
        }
    }

    /// Removes the task and finishes it with an outcome, which all its callers get.
    func finish(_ key: Key, _ work: Work, _ outcome: Work.Outcome) {
        remove(key, work)
        work.finish(outcome)
    }

    /// Removes the running tasks of some keys. Their callers get the outcome, but nothing of it is stored. Later
    /// callers begin new tasks. Callers that have already looked in the cache, for any key, look again.
    func forget(where isMeant: (Key) -> Bool) {
        let works = state.withLock { state in
            state.noteEnd(nil)
            state.forgotten = state.ends
            return state.tasks.keys.filter(isMeant).compactMap { state.tasks.removeValue(forKey: $0) }
        }
        for work in works { work.forget() }
    }

    /// Whether `forget` was called since `stamp`: a file found in the cache before may have been removed.
    func hasForgotten(since stamp: Int) -> Bool { state.withLock { stamp < $0.forgotten } }

    /// Removes a task that has finished or was abandoned.
    func remove(_ key: Key, _ work: Work) {
        state.withLock { state in
            guard state.tasks[key] === work else { return }
            state.tasks[key] = nil
            state.noteEnd(key)
        }
    }
}
