/// How long each phase of a transfer may take. They run only while the transfer itself runs: time spent waiting for a
/// slot does not count.
public struct Timeouts: Sendable, Hashable {
    /// Name lookup, connection and TLS. Default 10 s.
    public var connect: Duration
    /// From the request's last byte to the answer's first. Default 30 s.
    public var firstByte: Duration
    /// Between two arrivals of bytes, and between two departures of a request's body. Default 15 s.
    public var stall: Duration
    /// From the transfer's start to its last byte. A downloader counts all tries and redirects of one download together,
    /// and does not try again when it has run out. Default 300 s.
    public var total: Duration

    /// Timeouts with the defaults for what is not given.
    /// - Parameters:
    ///   - connect: name lookup, connection and TLS. Default 10 s.
    ///   - firstByte: from the request's last byte to the answer's first. Default 30 s.
    ///   - stall: between two arrivals of bytes. Default 15 s.
    ///   - total: from the start to the last byte. Default 300 s.
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
    /// - Parameter limit: how long each phase may take.
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
            case .stall: "the server sent and took nothing more"
            case .total: "the transfer did not end"
            }
        }
    }
}
