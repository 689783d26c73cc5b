/// Takes the parts of one answer as they arrive. Called on the transport's own thread, never by two at once: what it
/// does is quick. What it refuses, and why, it remembers itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). False: no body is wanted, free the connection.
    func receive(_ head: ResponseHead) -> Bool
    /// The next bytes of the body. False: no more are wanted, free the connection.
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// The transfer has ended, well or not; the last call. A transport that measures nothing leaves it out.
    func receive(_ metrics: TransferMetrics)
}

extension BodyReceiver {
    /// Does nothing, for receivers to whom it is all one.
    public func receive(_ metrics: TransferMetrics) {}
}
