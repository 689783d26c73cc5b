/// How long each phase of a transfer may take. Waiting for a slot does not count.
public struct Timeouts: Sendable, Hashable {
    /// Name lookup, connection and TLS. Default: 10 s.
    public var connect: Duration
    /// From the request's last byte to the answer's first. Default: 30 s.
    public var firstByte: Duration
    /// Without a byte received, or without a byte of the request's body sent. Default: 15 s.
    public var stall: Duration
    /// From the transfer's start to its last byte. Counts all attempts and redirects of a download together; no retry
    /// follows when it runs out. Default: 300 s.
    public var total: Duration

    /// Timeouts with the defaults for what is not given.
    /// - Parameters:
    ///   - connect: name lookup, connection and TLS. Default: 10 s.
    ///   - firstByte: from the request's last byte to the answer's first. Default: 30 s.
    ///   - stall: the longest time without a byte received or sent. Default: 15 s.
    ///   - total: from the start to the last byte. Default: 300 s.
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
        case .total, .decoding: total
        }
    }

    /// Which timeout ran out.
    public enum Phase: Sendable, Hashable {
        /// The phase that the property of this name limits.
        case connect, firstByte, stall, total
        /// The time limit of a request ended while its file was there already, and waited for a decoder or was decoded.
        case decoding

        /// For messages: what did not happen in time.
        package var explanation: String {
            switch self {
            case .connect: "no connection"
            case .firstByte: "the server did not begin to answer"
            case .stall: "the server stopped sending or receiving"
            case .total: "the transfer did not finish"
            case .decoding: "the file was there, but the image was not decoded"
            }
        }
    }
}
