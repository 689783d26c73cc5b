import LazyImages
import SystemSupport

/// A value that several tasks of a test share.
public final class Shared<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    /// Starts with this value.
    public init(_ value: Value) { lock = Lock(value) }

    /// The present value.
    public var value: Value { lock.withLock { $0 } }

    /// Changes the value under the lock.
    public func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { body(&$0) }
    }
}
