/// What a connection with TLS has to fulfil. A transport that cannot see to a part of it refuses the transfer.
public struct TransportSecurity: Sendable, Hashable {
    /// The oldest version that will do.
    public var minimumTLSVersion: SecurityPolicy.TLSVersion
    /// Whether only key exchanges with forward secrecy will do.
    public var requiresForwardSecrecy: Bool
    /// What the server's certificate is judged by.
    public var trust: SecurityPolicy.ServerTrust
}
