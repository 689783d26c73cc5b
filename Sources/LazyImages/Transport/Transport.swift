/// Makes HTTP requests. The library uses ``CurlTransport``; tests and other programs can replace it.
public protocol Transport: Sendable {
    /// Makes one request. Returns the head of the answer when `receiver` has the whole body, or wants no more of it.
    /// Follows no redirects. Cancelling the calling task frees the connection at once and throws `.cancelled`.
    /// - Parameters:
    ///   - request: the request and its limits.
    ///   - receiver: receives the head and the body as they arrive.
    /// - Throws: the reason why no complete answer arrived. A status such as 404 is not an error here.
    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead
}

/// Receives the parts of one answer as they arrive. Called on the transport's thread, one call at a time; calls must be
/// quick: a receiver that has to wait for something, such as a disk, says so in ``mayContinue(_:)``. A receiver that
/// returns false keeps the reason itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). Return false to refuse the body and free the
    /// connection.
    /// - Parameter head: status and fields of the answer.
    func receive(_ head: ResponseHead) -> Bool
    /// Whether the next bytes of the body may come. A transport asks before each piece of the body. After false it keeps
    /// the bytes, reads no more from the connection, and asks again once `resume` was called. While it waits, the timeout
    /// for a stall does not run; the total timeout does. A transport that cannot wait need not ask: it hands over the
    /// bytes, which the receiver then has to keep. Optional.
    /// - Parameter resume: continues the transfer. A receiver that returns false calls it once, later or even before it
    ///   returns, from any thread; one that returns true does not call it. It has no effect once the transfer has ended.
    func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool
    /// More bytes of the body have arrived. Return false to stop, and free the connection.
    /// - Parameter bytes: the next piece of the body.
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// More of the request's body has been sent. Called about every 64 KiB. The count falls if the transport has to
    /// send the body again. Optional.
    /// - Parameter count: bytes of the request's body sent so far.
    func sent(_ count: Int)
    /// The transfer has ended, with or without success. The last call; a transport that measures nothing does not make
    /// it. Optional.
    /// - Parameter metrics: the times and sizes of the transfer.
    func receive(_ metrics: TransferMetrics)
}

extension BodyReceiver {
    /// Returns true: the receiver never waits.
    /// - Parameter resume: not called.
    public func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool { true }

    /// Does nothing.
    /// - Parameter count: bytes of the request's body sent so far.
    public func sent(_ count: Int) {}

    /// Does nothing.
    /// - Parameter metrics: the times and sizes of the transfer.
    public func receive(_ metrics: TransferMetrics) {}
}
