/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the body that have arrived.
    public var received: Int
    /// Bytes the server promises; nil if it does not say.
    public var expected: Int?

    /// A progress of these numbers.
    /// - Parameters:
    ///   - received: bytes of the body that have arrived.
    ///   - expected: bytes that the server promises; nil if it does not say.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
