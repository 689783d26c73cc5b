/// The progress of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the body that have arrived.
    public var received: Int
    /// The length of the body in bytes; nil if the server does not say.
    public var expected: Int?

    /// A progress with these numbers.
    /// - Parameters:
    ///   - received: bytes of the body that have arrived.
    ///   - expected: the length of the body in bytes; nil if unknown.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
