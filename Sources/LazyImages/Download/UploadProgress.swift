/// How far an upload is.
public struct UploadProgress: Sendable, Hashable {
    /// Bytes of the body that have been sent. It goes back to 0 where the body has to be sent again.
    public let sent: Int
    /// Bytes of the whole body.
    public let total: Int
}
