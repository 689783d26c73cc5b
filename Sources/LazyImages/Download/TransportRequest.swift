public import FoundationEssentials

/// One request: a GET without a body, unless it says otherwise.
public struct TransportRequest: Sendable {
    /// What is asked for. Default GET.
    public var method = HTTPMethod.get
    /// An absolute http or https URL.
    public var url: URL
    /// Every header field to send beside those HTTP itself needs.
    public var fields: HTTPFields
    /// What is sent; nil, the default, for nothing.
    public var body: OpenBody?
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// What a connection with TLS has to fulfil; nil for plain http.
    public var security: TransportSecurity?

    /// Which addresses may be connected to; nil, the default, for all.
    public var addresses: AddressRules?

    /// A GET of `url` with these fields and timeouts; with TLS, by the default rules.
    /// - Parameters:
    ///   - url: where to send it.
    ///   - fields: header fields to send. Default: none.
    ///   - timeouts: how long each phase may take.
    public init(url: URL, fields: HTTPFields = HTTPFields(), timeouts: Timeouts = Timeouts()) {
        self.init(
            url: url, fields: fields, timeouts: timeouts,
            security: SecurityPolicy().transportSecurity(for: Origin(url)))
    }

    init(
        url: URL, fields: HTTPFields, timeouts: Timeouts, security: TransportSecurity?,
        addresses: AddressRules? = nil
    ) {
        self.url = url
        self.fields = fields
        self.timeouts = timeouts
        self.security = security
        self.addresses = addresses
    }
}

/// What a connection with TLS has to fulfil. A transport that cannot see to a part of it refuses the transfer.
public struct TransportSecurity: Sendable, Hashable {
    /// The oldest version that will do.
    public var minimumTLSVersion: SecurityPolicy.TLSVersion
    /// Whether only key exchanges with forward secrecy will do.
    public var requiresForwardSecrecy: Bool
    /// What the server's certificate is judged by.
    public var trust: SecurityPolicy.ServerTrust
    /// What the server is shown if it asks for a certificate; nil, the default, for none.
    public var clientCertificate: SecurityPolicy.ClientCertificate?
}
