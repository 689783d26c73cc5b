/// The one seam to the network. `CurlTransport` is the real one; tests and other programs put their own behind it.
public protocol Transport: Sendable {
    /// Performs one GET and returns the head of its answer once the whole body has gone to `receiver`, or `receiver`
    /// has had enough. Never follows a redirect. Cancelling the calling task frees the connection at once and
    /// throws `.cancelled`.
    /// - Throws: what stands between the request and the last byte of its answer. A status is no error here.
    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead
}
