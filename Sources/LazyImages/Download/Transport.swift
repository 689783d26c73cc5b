public import FoundationEssentials

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

/// Takes the parts of one answer as they arrive. Called on the transport's own thread, never by two at once: what it
/// does is quick. What it refuses, and why, it remembers itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). False: no body is wanted, free the connection.
    func receive(_ head: ResponseHead) -> Bool
    /// The next bytes of the body. False: no more are wanted, free the connection.
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// The transfer has ended, well or not; the last call. A transport that measures nothing leaves it out.
    func receive(_ metrics: TransferMetrics)
}

extension BodyReceiver {
    /// Does nothing, for receivers to whom it is all one.
    public func receive(_ metrics: TransferMetrics) {}
}

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
        self.url = url
        self.fields = fields
        self.timeouts = timeouts
        security = SecurityPolicy().transportSecurity(for: url)
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
}

/// The status line and header of an answer.
public struct ResponseHead: Sendable, Hashable {
    /// 200 to 599 in an honest answer.
    public var status: Int
    /// The header.
    public var fields: HTTPFields

    /// A head of this status and header.
    public init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.fields = fields
    }

    /// The length the server promises for the body, in bytes: nil if it promises none or what it says is no number.
    public var contentLength: Int? {
        fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// How long each phase of a transfer may take. They run only while the transfer itself runs: time spent waiting for a
/// place does not count.
public struct Timeouts: Sendable, Hashable {
    /// Name lookup, connection and TLS. Default 10 s.
    public var connect: Duration
    /// From the request's last byte to the answer's first. Default 30 s.
    public var firstByte: Duration
    /// Between two arrivals of bytes. Default 15 s.
    public var stall: Duration
    /// From the transfer's start to its last byte. A downloader counts all tries and redirects of one download together,
    /// and does not try again when it has run out. Default 300 s.
    public var total: Duration

    /// Timeouts with the defaults for what is not given.
    public init(
        connect: Duration = .seconds(10), firstByte: Duration = .seconds(30), stall: Duration = .seconds(15),
        total: Duration = .seconds(300)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.stall = stall
        self.total = total
    }

    /// The same limit for every phase.
    public init(each limit: Duration) {
        self.init(connect: limit, firstByte: limit, stall: limit, total: limit)
    }

    /// The limit of one phase.
    func limit(of phase: Phase) -> Duration {
        switch phase {
        case .connect: connect
        case .firstByte: firstByte
        case .stall: stall
        case .total: total
        }
    }

    /// Which timeout ran out.
    public enum Phase: String, Sendable, Hashable {
        /// See the property of the same name.
        case connect, firstByte, stall, total

        /// What did not happen, in words.
        public var explanation: String {
            switch self {
            case .connect: "no connection came about"
            case .firstByte: "the server did not begin to answer"
            case .stall: "the server sent nothing more"
            case .total: "the transfer did not end"
            }
        }
    }
}

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the body that have arrived.
    public var received: Int
    /// Bytes the server promises; nil if it does not say.
    public var expected: Int?

    /// A progress of these numbers.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
