import CMarqueeSystem
public import FoundationEssentials
import Glibc
public import LazyImages
import SystemSupport

/// A real HTTP origin on a loopback port. Each connection follows a script, which may break the protocol. The
/// origin stops when the object is released.
public final class ScriptedOrigin: Sendable {
    /// A step of a connection. After the last step the connection is closed normally.
    public indirect enum Step: Sendable {
        /// Reads the head of a request. The end of the stream ends the script.
        case readHead
        /// Reads a body of the last head's Content-Length.
        case readBody
        /// Reads and discards this many bytes.
        case readSome(Int)
        /// Reads a request with its body and sends the returned text. An empty text ends the script, and so does one
        /// that says `Connection: close`.
        case respond(@Sendable (_ head: String, _ body: [UInt8]) -> String)
        /// As `respond`, with bytes.
        case reply(@Sendable (_ head: String, _ body: [UInt8]) -> [UInt8])
        /// Answers the request that was read last, head and body, as a `reply` would.
        case replyToLast(Step)
        /// Sends a text, with its line ends unchanged.
        case send(String)
        /// Sends bytes.
        case sendBytes([UInt8])
        /// Waits until the gate is open.
        case wait(Gate)
        /// Sends nothing and waits until the client has closed.
        case awaitClose
        /// Closes at once, with a reset.
        case reset
        /// Repeats these steps until the script is over.
        case forever([Step])
    }

    private let state: OriginState

    /// The port it listens on.
    public var port: UInt16 { state.port }

    /// Starts an origin.
    /// - Parameters:
    ///   - onAllAddresses: whether it listens on every address of this machine, IPv4 and IPv6. Default: only on
    ///     127.0.0.1.
    ///   - script: the steps of each connection, by its number from 0.
    public init(
        onAllAddresses: Bool = false, _ script: @escaping @Sendable (_ connection: Int) -> [Step]
    ) throws {
        let state = try OriginState(onAllAddresses: onAllAddresses)
        self.state = state
        try BlockingThreads.startThread {
            while let socket = state.accept() {
                let steps = script(state.noteConnection())
                do {
                    try BlockingThreads.startThread { ScriptedConnection(socket, of: state).play(steps) }
                } catch {
                    fatalError("a test has no thread for its origin: \(error)")
                }
            }
        }
    }

    /// Starts an origin with the same steps for every connection.
    public convenience init(_ steps: [Step]) throws { try self.init { _ in steps } }

    deinit { state.stop.open() }

    /// The heads of all requests, in order.
    public var heads: [String] { state.record.withLock { $0.heads } }
    /// The complete bodies, in order.
    public var bodies: [[UInt8]] { state.record.withLock { $0.bodies } }
    /// Counts requests.
    public var requests: Tally { state.requests }
    /// Counts connections.
    public var connections: Tally { state.connections }
    /// Counts connections that the client has closed.
    public var closed: Tally { state.closed }

    /// The URL of a path on this origin.
    public func url(_ path: String = "/a.png", host: String = "127.0.0.1") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            preconditionFailure("\(path) is no path")
        }
        return url
    }
}

extension ScriptedOrigin {
    /// A request for the origin's picture.
    public func request() -> TransportRequest { TransportRequest(url: url(), timeouts: .patient) }
}

extension [ScriptedOrigin.Step] {
    /// Answers every request of a connection with this body.
    public static func answering(
        _ body: [UInt8], status: String = "200 OK", fields: String = "Content-Type: image/png\r\n"
    ) -> Self {
        let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
        return [.forever([.readHead, .sendBytes([UInt8](head.utf8) + body)])]
    }
}

extension [ScriptedOrigin.Step] {
    /// Reads each request's body and answers it.
    public static func acceptingBodies(
        status: String = "200 OK", fields: String = "", answer: String = ""
    ) -> Self {
        let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(answer.utf8.count)\r\n\r\n"
        return [.forever([.readHead, .readBody, .send(head + answer)])]
    }
}

/// The state that an origin's threads share.
final class OriginState: Sendable {
    struct Record {
        var heads: [String] = []
        var bodies: [[UInt8]] = []
        var connections = 0
    }

    let port: UInt16
    let stop = Gate()
    let record = Lock(Record())
    let requests = Tally()
    let connections = Tally()
    let closed = Tally()
    private let listening: Int32

    init(onAllAddresses: Bool) throws {
        (listening, port) =
            onAllAddresses
            ? try LoopbackSocket.boundToAllAddresses(backlog: 512) : try LoopbackSocket.bound(backlog: 512)
    }

    deinit { close(listening) }

    /// The next connection; nil when the origin stops.
    func accept() -> Int32? {
        while LoopbackSocket.wait(for: listening, POLLIN, or: stop) {
            let socket = csystem_accept(listening, nil, nil)
            if socket >= 0 { return socket }
        }
        return nil
    }

    func noteConnection() -> Int {
        let number = record.withLock { record in
            record.connections += 1
            return record.connections - 1
        }
        connections.add()
        return number
    }
}
