/// Where one transfer's time went, and what it carried. Times are counted from the transfer's start; zero where a phase did
/// not happen, as on a connection that was open already.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the host's address was known.
    public var nameLookup = Duration.zero
    /// Until the connection stood.
    public var connect = Duration.zero
    /// Until TLS stood.
    public var secureConnect = Duration.zero
    /// Until the first byte of the answer.
    public var firstByte = Duration.zero
    /// Until the end.
    public var total = Duration.zero
    /// Bytes of the body that arrived.
    public var bytes = 0
    /// `HTTP/1.1`, `HTTP/2`; empty where no answer came.
    public var protocolVersion = ""
    /// Whether it went over a connection that was open already.
    public var isReused = false

    /// A transfer of which nothing is known.
    public init() {}
}
