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
/// quick. A receiver that must wait, as for a disk, says so in ``mayContinue(_:)``. One that refuses the head or bytes
/// keeps the reason itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). Return false to refuse the body and free the
    /// connection.
    /// - Parameter head: status and fields of the answer.
    func receive(_ head: ResponseHead) -> Bool
    /// Whether the receiver can take the next bytes of the body now. A transport asks before each piece of the body.
    /// After false it keeps the piece, stops reading from the connection, and asks again after `resume` was called. The
    /// stall timeout does not run meanwhile; the total timeout does. A transport that cannot wait does not ask: the
    /// receiver must then take the bytes all the same. Optional; the default returns true.
    /// - Parameter resume: continues the transfer. A receiver that returns false calls it once, from any thread, also
    ///   before it returns. One that returns true never calls it. It does nothing after the end of the transfer.
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
