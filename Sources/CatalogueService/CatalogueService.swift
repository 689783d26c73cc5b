import SystemSupport

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
