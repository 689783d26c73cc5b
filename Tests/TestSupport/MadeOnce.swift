import SystemSupport

/// Values that take long to make. Each is made once, also for tests that start together: the lock is held meanwhile.
public final class MadeOnce<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Lock<[Key: Value]>([:])

    /// Starts without values.
    public init() {}

    /// The value for a key. `make` runs only the first time.
    public func value(for key: Key, make: () throws -> Value) rethrows -> Value {
        try values.withLock { values in
            if let known = values[key] { return known }
            let made = try make()
            values[key] = made
            return made
        }
    }
}
