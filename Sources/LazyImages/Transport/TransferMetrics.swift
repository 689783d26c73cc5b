/// The times and sizes of one transfer. Times count from the start of the transfer; zero for a phase that did not
/// happen, as on a reused connection.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the name lookup was done.
    public var nameLookup = Duration.zero
    /// Until the connection was open.
    public var connect = Duration.zero
    /// Until the TLS handshake was done.
    public var secureConnect = Duration.zero
    /// Until the first byte of the answer.
    public var firstByte = Duration.zero
    /// Until the end.
    public var total = Duration.zero
    /// Bytes of the body received.
    public var bytes = 0
    /// Bytes of the request's body sent.
    public var sent = 0
    /// `HTTP/1.1` or `HTTP/2`; empty without an answer.
    public var protocolVersion = ""
    /// Whether the connection was reused.
    public var isReused = false

    /// All values are zero.
    public init() {}
}
