/// The one seam to the network. ``CurlTransport`` is the real one; tests and other programs put their own behind it.
public protocol Transport: Sendable {
    /// Performs one request and returns the head of its answer once the whole body has gone to `receiver`, or `receiver`
    /// has had enough. Never follows a redirect. Cancelling the calling task frees the connection at once and
    /// throws `.cancelled`.
    /// - Parameters:
    ///   - request: what to send, and its limits.
    ///   - receiver: takes the head and the body as they arrive.
    /// - Throws: what stands between the request and the last byte of its answer. A status is no error here.
    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead
}

/// Takes the parts of one answer as they arrive. Called on the transport's own thread, never by two at once: what it
/// does is quick. What it refuses, and why, it remembers itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). False: no body is wanted, free the connection.
    /// - Parameter head: status and fields of the answer.
    func receive(_ head: ResponseHead) -> Bool
    /// The next bytes of the body. False: no more are wanted, free the connection.
    /// - Parameter bytes: the next piece of the body.
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// So many bytes of the request's body have been sent, 64 KiB more or fewer. Fewer than the last time where the
    /// transport had to begin anew. One that does not care leaves it out.
    /// - Parameter count: bytes of the request's body that were sent so far.
    func sent(_ count: Int)
    /// The transfer has ended, well or not; the last call. A transport that measures nothing leaves it out.
    /// - Parameter metrics: where the time of the transfer went.
    func receive(_ metrics: TransferMetrics)
}

extension BodyReceiver {
    /// Does nothing, for receivers to whom it is all one.
    /// - Parameter count: bytes of the request's body that were sent so far.
    public func sent(_ count: Int) {}

    /// Does nothing, for receivers to whom it is all one.
    /// - Parameter metrics: where the time of the transfer went.
    public func receive(_ metrics: TransferMetrics) {}
}
