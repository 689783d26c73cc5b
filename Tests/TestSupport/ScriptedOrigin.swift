import CSystem
public import FoundationEssentials
import Glibc
public import LazyImages
import SystemSupport

/// A real HTTP origin on a loopback port that does, connection by connection, what its script says, however wrong that
/// is. It stops when the object goes.
public final class ScriptedOrigin: Sendable {
    /// What a connection does next. After the last step it is closed in good order.
    public indirect enum Step: Sendable {
        /// Reads one request's head. At the end of the stream the script is over.
        case readHead
        /// Reads the body that the last head promised by Content-Length.
        case readBody
        /// Reads so many bytes, and keeps them nowhere.
        case readSome(Int)
        /// Reads a request with its body and sends what is made of them; an empty answer ends the script.
        case respond(@Sendable (_ head: String, _ body: [UInt8]) -> String)
        /// Sends a text, with its line ends as they are.
        case send(String)
        /// Sends bytes.
        case sendBytes([UInt8])
        /// Goes on when the gate is open.
        case wait(Gate)
        /// Sends nothing more and waits until the other side has closed.
        case awaitClose
        /// Closes at once, with a reset.
        case reset
        /// Does these steps again and again until the script is over.
        case forever([Step])
    }

    private let state: OriginState

    /// The port it listens on.
    public var port: UInt16 { state.port }

    /// An origin.
    /// - Parameters:
    ///   - isEverywhere: whether it listens on every address of this machine, IPv4 and IPv6. Default: on 127.0.0.1 alone.
    ///   - script: the steps of the connection that comes as number so-and-so, from 0.
    public init(
        isEverywhere: Bool = false, _ script: @escaping @Sendable (_ connection: Int) -> [Step]
    ) throws {
        let state = try OriginState(isEverywhere: isEverywhere)
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

    /// An origin that does the same on every connection.
    public convenience init(_ steps: [Step]) throws { try self.init { _ in steps } }

    deinit { state.stop.open() }

    /// The head of every request, in the order they came.
    public var heads: [String] { state.record.withLock { $0.heads } }
    /// The bodies that were read whole, in the order they came.
    public var bodies: [[UInt8]] { state.record.withLock { $0.bodies } }
    /// How many requests have come.
    public var requests: Tally { state.requests }
    /// How many connections have come.
    public var connections: Tally { state.connections }
    /// How many connections the other side has closed.
    public var closed: Tally { state.closed }

    /// The URL of a path here.
    public func url(_ path: String = "/a.png", host: String = "127.0.0.1") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            preconditionFailure("\(path) is no path")
        }
        return url
    }
}

extension ScriptedOrigin {
    /// A request for the picture here.
    public func request() -> TransportRequest { TransportRequest(url: url(), timeouts: .patient) }
}

extension [ScriptedOrigin.Step] {
    /// Reads requests and answers each of them with these bytes, as long as the connection lasts.
    public static func answering(
        _ body: [UInt8], status: String = "200 OK", fields: String = "Content-Type: image/png\r\n"
    ) -> Self {
        let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
        return [.forever([.readHead, .sendBytes([UInt8](head.utf8) + body)])]
    }
}

extension [ScriptedOrigin.Step] {
    /// Reads requests with their bodies and answers each of them so, as long as the connection lasts.
    public static func taking(
        status: String = "200 OK", fields: String = "", answer: String = ""
    ) -> Self {
        let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(answer.utf8.count)\r\n\r\n"
        return [.forever([.readHead, .readBody, .send(head + answer)])]
    }
}

/// What an origin's threads share.
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

    init(isEverywhere: Bool) throws {
        (listening, port) =
            isEverywhere
            ? try LoopbackSocket.everywhere(backlog: 512) : try LoopbackSocket.bound(backlog: 512)
    }

    deinit { close(listening) }

    /// The next connection; nil when the origin is to stop.
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
