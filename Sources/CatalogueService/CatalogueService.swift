import LazyImages

/// A small HTTP/1.1 server for one folder: a catalogue and its posters. Each connection has a thread of its own;
/// nothing runs on Swift's cooperative pool, and nothing outside the folder can be reached.
public final class CatalogueService: Sendable {
    /// The port it listens on.
    public let port: UInt16
    private let server: Server

    /// Opens the folder, and listens; connections wait until `start()`. Throws what is wrong with the folder,
    /// the address or the port.
    public convenience init(
        folder: String, configuration: Configuration = Configuration()
    ) throws(CatalogueServiceError) {
        try self.init(folder: folder, configuration: configuration, startThread: nil)
    }

    /// As above, with threads from elsewhere.
    init(
        folder: String, configuration: Configuration = Configuration(), startThread: BlockingThreads.Starter?
    ) throws(CatalogueServiceError) {
        server = try Server(
            folder: folder, configuration: configuration.bounded, startThread: startThread)
        port = server.listener.port
    }

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
