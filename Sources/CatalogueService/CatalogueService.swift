internal import SystemSupport

/// A small HTTP/1.1 server for one folder: a catalogue and its posters. Each connection has a thread of its own;
/// nothing runs on Swift's cooperative pool, and nothing outside the folder can be reached.
public final class CatalogueService: Sendable {
    /// The port it listens on.
    public let port: UInt16
    private let server: Server

    /// One request and its answer.
    public struct Answer: Sendable, Hashable {
        /// The request's method and target, as the client sent them: not safe for a terminal as they are.
        public let method, target: String
        /// The answer's status.
        public let status: Int
        /// The bytes of the answer's body; fewer may have been taken.
        public let bytes: Int
        /// From the decision on the answer to its last byte.
        public let time: Duration
    }

    /// Opens the folder, and listens; connections wait until `start()`. Throws what is wrong with the folder,
    /// the address or the port.
    /// - Parameter report: is told of every answer to a request, on the thread of its connection; nil, the default, for
    ///   nobody.
    public convenience init(
        folder: String, configuration: Configuration = Configuration(),
        report: (@Sendable (Answer) -> Void)? = nil
    ) throws(CatalogueServiceError) {
        try self.init(folder: folder, configuration: configuration, report: report, startThread: nil)
    }

    /// As above, with threads from elsewhere.
    init(
        folder: String, configuration: Configuration = Configuration(),
        report: (@Sendable (Answer) -> Void)? = nil, startThread: BlockingThreads.Starter?
    ) throws(CatalogueServiceError) {
        server = try Server(
            folder: folder, configuration: configuration.bounded, report: report, startThread: startThread)
        port = server.listener.port
    }

    /// The catalogue that `/` gives: `movies.json` or `movies.xml`, else the folder's only file of JSON or XML. Nil where
    /// there is none, or several.
    public var catalogueName: String? { server.folder.catalogueName() }

    // Nobody is left to stop it. The threads hold the server, not this object, and end by themselves.
    deinit { server.stop.raise() }

    /// Serves, on threads of its own, and returns at once. Once stopped, a service does not start again.
    ///
    /// Throws when the system gives no thread; a later call may succeed. A connection that there is no thread for waits
    /// until there is one.
    public func start() throws(CatalogueServiceError) { try server.start() }

    /// Stops: accepts nothing more, ends idle connections at once, lets running answers finish within a second,
    /// and returns when the last thread has ended. Blocks, so not for the cooperative pool; may be called twice.
    public func stop() { server.stopAndWait() }

    /// What it has done so far.
    public var statistics: Statistics { server.counters.statistics }
}

extension CatalogueService {
    /// How a service listens, what it bounds, and how bad a server it plays.
    public struct Configuration: Sendable, Hashable {
        /// The IP address to listen on. Default 127.0.0.1: only this machine; `::1`, `0.0.0.0` and others do.
        public var address = "127.0.0.1"
        /// The port to listen on. Default 0: the system chooses one that is free.
        public var port: UInt16 = 0
        /// Connections served at once, default 256; more are answered 503.
        public var maximumConnections = 256
        /// The bytes a request's head may have, default 16 KiB; more are answered 431.
        public var headerLimit = 16 << 10
        /// The time a head may take from its first byte, default 10 s; more is answered 408.
        public var headerTimeout = Duration.seconds(10)
        /// How long a connection may be silent between requests, default 30 s; then it is closed.
        public var idleTimeout = Duration.seconds(30)
        /// How long a client may take nothing of an answer, default 30 s; then the connection is closed.
        public var writeTimeout = Duration.seconds(30)
        /// How long answers that are being sent may go on once the service stops, default 1 s.
        public var stopGrace = Duration.seconds(1)
        /// Time before each answer, default none: makes a network near by feel like one far away.
        public var latency = Duration.zero
        /// Bytes a second for the bodies on one connection; nil, the default, is as fast as it goes.
        public var bandwidth: Int?
        /// The share of requests that are answered 500 instead, 0 (the default) to 1.
        public var failureRate = 0.0
        /// Decides which requests fail: the same seed and order of requests, the same failures.
        public var failureSeed: UInt64 = 1
        /// Seconds that files count as fresh (`Cache-Control: max-age`), default an hour.
        public var cacheSeconds = 3600

        /// The defaults.
        public init() {}

        /// With every value brought into its bounds, so that no sum of times overflows.
        var bounded: Configuration {
            var bounded = self
            bounded.maximumConnections = min(max(1, maximumConnections), 65_536)
            bounded.headerLimit = min(max(64, headerLimit), 1 << 20)
            for time in [\Configuration.headerTimeout, \.idleTimeout, \.writeTimeout, \.stopGrace, \.latency]
            {
                bounded[keyPath: time] = min(max(.zero, self[keyPath: time]), .seconds(86_400))
            }
            bounded.bandwidth = bandwidth.map { max(1, $0) }
            bounded.failureRate = failureRate.isNaN ? 0 : min(max(0, failureRate), 1)
            bounded.cacheSeconds = max(0, cacheSeconds)
            return bounded
        }
    }
}

extension CatalogueService {
    /// What a service has done since it was made.
    public struct Statistics: Sendable, Hashable {
        /// Requests answered or being answered, refused ones included. A request is counted before the first
        /// byte of its answer leaves, so whoever has read an answer finds it counted.
        public internal(set) var requests = 0
        /// The same requests by the status of their answer.
        public internal(set) var byStatus: [Int: Int] = [:]
        /// Bytes handed to the system, heads included; it may lag behind what a client has read.
        public internal(set) var bytesSent = 0
        /// Connections open at this moment.
        public internal(set) var connectionsNow = 0
        /// Connections accepted in all, those turned away included.
        public internal(set) var connectionsInAll = 0
    }
}

/// Why a service cannot be started.
public enum CatalogueServiceError: Error, Sendable, Hashable {
    /// There is no folder at this path.
    case noSuchFolder(path: String)
    /// There is something at this path that is not a folder.
    case notAFolder(path: String)
    /// The folder may not be read.
    case folderNotReadable(path: String)
    /// The text is not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// No interface of this machine has the address.
    case addressNotHere(String)
    /// Another program listens there.
    case portInUse(address: String, port: UInt16)
    /// The port is one that only the administrator may open.
    case portNotPermitted(port: UInt16)
    /// The system refused something else: which call, and its error number.
    case system(call: String, errno: Int32)
}

extension CatalogueServiceError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    public var description: String {
        switch self {
        case .noSuchFolder(let path): "there is no folder \(path); name the folder that holds the catalogue"
        case .notAFolder(let path): "\(path) is not a folder; name the folder that holds the catalogue"
        case .folderNotReadable(let path): "the folder \(path) may not be read; change its permissions"
        case .invalidAddress(let address):
            "\(address) is not an IP address; use 127.0.0.1, ::1, or 0.0.0.0 for every interface"
        case .addressNotHere(let address): "this machine does not have the address \(address); use 127.0.0.1"
        case .portInUse(let address, let port):
            "port \(port) of \(address) is in use; choose another, or 0 for any that is free"
        case .portNotPermitted(let port):
            "port \(port) needs the administrator's rights; choose one above 1023, or 0 for any that is free"
        case .system(let call, let errno): "the system refused \(call): \(SystemError.text(errno))"
        }
    }
}
