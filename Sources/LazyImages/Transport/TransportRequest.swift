public import FoundationEssentials

/// One HTTP request: by default a GET without a body.
public struct TransportRequest: Sendable {
    /// The method. Default: GET.
    public var method = HTTPMethod.get
    /// An absolute http or https URL.
    public var url: URL
    /// The header fields to send, without those that the transport adds (Host, Content-Length).
    public var fields: HeaderFields
    /// The body. Default: nil, none.
    public var body: OpenBody?
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// The TLS requirements; nil for plain http.
    public var security: TransportSecurity?

    /// Signs the request. Default: nil, no signature.
    package var signature: RequestSignature?
    /// The allowed addresses. Default: nil, all.
    public var addresses: AddressRules?

    /// A GET of `url` with these fields and timeouts, and the default TLS requirements.
    /// - Parameters:
    ///   - url: an absolute http or https URL.
    ///   - fields: header fields to send. Default: none.
    ///   - timeouts: how long each phase may take.
    public init(url: URL, fields: HeaderFields = HeaderFields(), timeouts: Timeouts = Timeouts()) {
        self.init(
            url: url, fields: fields, timeouts: timeouts,
            security: SecurityPolicy().transportSecurity(for: Origin(url)))
    }

    init(
        url: URL, fields: HeaderFields, timeouts: Timeouts, security: TransportSecurity?,
        addresses: AddressRules? = nil
    ) {
        self.url = url
        self.fields = fields
        self.timeouts = timeouts
        self.security = security
        self.addresses = addresses
    }
}

/// The requirements for a TLS connection. A transport that cannot enforce one of them refuses the transfer.
public struct TransportSecurity: Sendable, Hashable {
    /// The oldest accepted version of TLS.
    public var minimumTLSVersion: SecurityPolicy.TLSVersion
    /// Whether key exchanges must have forward secrecy.
    public var requiresForwardSecrecy: Bool
    /// How the server's certificate is verified.
    public var trust: SecurityPolicy.ServerTrust
    /// The certificate for a server that requests one; nil for none.
    public var clientCertificate: SecurityPolicy.ClientCertificate?
}
