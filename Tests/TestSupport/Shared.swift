import LazyImages
import SystemSupport

/// A value that several tasks of one test change.
public final class Shared<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    /// Begins with this value.
    public init(_ value: Value) { lock = Lock(value) }

    /// The value as it is now.
    public var value: Value { lock.withLock { $0 } }

    /// Changes the value, one caller at a time.
    public func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { body(&$0) }
    }
}
