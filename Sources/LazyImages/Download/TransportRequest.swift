public import FoundationEssentials

/// One GET.
public struct TransportRequest: Sendable {
    /// An absolute http or https URL.
    public var url: URL
    /// Every header field to send beside those HTTP itself needs.
    public var fields: HTTPFields
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// What a connection with TLS has to fulfil; nil for plain http.
    public var security: TransportSecurity?

    /// A GET of `url` with these fields and timeouts; with TLS, by the default rules.
    public init(url: URL, fields: HTTPFields = HTTPFields(), timeouts: Timeouts = Timeouts()) {
        self.init(
            url: url, fields: fields, timeouts: timeouts,
            security: SecurityPolicy().transportSecurity(for: Origin(url)))
    }

    init(url: URL, fields: HTTPFields, timeouts: Timeouts, security: TransportSecurity?) {
        self.url = url
        self.fields = fields
        self.timeouts = timeouts
        self.security = security
    }
}
