/// The progress of an upload.
public struct UploadProgress: Sendable, Hashable {
    /// Bytes of the body sent so far. Starts again at 0 if the body has to be sent again.
    public let sent: Int
    /// The length of the body in bytes.
    public let total: Int
}
