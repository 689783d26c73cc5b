internal import Glibc
internal import HTTPSemantics
package import SystemSupport

/// A small HTTP/1.1 server. Connections are served by a few threads that wait for all of them at once (epoll), and requests
/// that may block are handled by a bounded number of other threads. Nothing runs on Swift's cooperative pool.
///
/// What is served is the handler's to decide: the server knows bytes, messages and time.
package final class HTTPServer: Sendable {
    let context: ServerContext
    private let mailboxes: [LoopMailbox]
    private let threads: ServerThreads
    private let isStarted = Lock(false)

    /// One request and its answer.
    package struct Answer: Sendable, Hashable {
        /// The request's method and target, as the client sent them: not safe for a terminal as they are.
        package let method, target: String
        /// The answer's status.
        package let status: Int
        /// The bytes of the answer's body; fewer may have been taken.
        package let bytes: Int
        /// From the request's last byte to the answer's last.
        package let time: Duration
        /// The other end of the connection: the client, or a proxy in front.
        package let peer: Peer
        /// The values of the request's X-Forwarded-For, as the client sent them: only a proxy's can be believed.
        package let forwardedFor: [String]
        /// The value of the answer's Cache-Status (RFC 9211); nil where it has none.
        package let cacheStatus: String?

        package init(
            method: String, target: String, status: Int, bytes: Int, time: Duration, peer: Peer,
            forwardedFor: [String] = [], cacheStatus: String? = nil
        ) {
            self.method = method
            self.target = target
            self.status = status
            self.bytes = bytes
            self.time = time
            self.peer = peer
            self.forwardedFor = forwardedFor
            self.cacheStatus = cacheStatus
        }
    }

    /// Listens; connections wait until `start()`. Throws what is wrong with an address.
    /// - Parameters:
    ///   - handler: answers the requests.
    ///   - report: is told of every answer, on the thread of its connection; nil, the default, for nobody.
    ///   - startThread: starts a thread. Default: the system.
    package init(
        configuration: Configuration, handler: any HTTPHandler, report: (@Sendable (Answer) -> Void)? = nil,
        startThread: BlockingThreads.Starter? = nil
    ) throws(HTTPServerError) {
        let configuration = configuration.bounded
        Self.raiseDescriptorLimit()
        var listeners: [Listener] = []
        for address in configuration.addresses { listeners.append(try Listener(address)) }
        do {
            threads =
                if let startThread { try ServerThreads(startThread: startThread) } else {
                    try ServerThreads()
                }
            mailboxes = try (0..<configuration.eventThreads).map { _ in try LoopMailbox() }
        } catch let error as ResourceShortage {
            throw .system(call: "eventfd", errno: error.code)
        } catch {
            throw .system(call: "eventfd", errno: EMFILE)
        }
        context = ServerContext(
            configuration: configuration, handler: handler, listeners: listeners, report: report)
    }

    // Nobody is left to stop it. The threads hold the context, not this object, and end by themselves.
    deinit { signalStop(grace: nil) }

    /// The ports it listens on, in the order of the addresses; nil for a local socket.
    package var ports: [UInt16?] { context.listeners.map(\.port) }

    /// What it has done so far.
    package var statistics: Statistics { context.counters.statistics }

    /// Serves, on threads of its own, and returns at once. Once stopped, a server does not start again.
    ///
    /// Throws when the system gives no thread; a later call may succeed.
    package func start() throws(HTTPServerError) {
        // The threads are counted before the lock is let go, so that a stop at this moment waits for them.
        try isStarted.withLock { isStarted throws(HTTPServerError) in
            guard !isStarted else { return }
            for (number, mailbox) in mailboxes.enumerated() {
                do throws(ResourceShortage) {
                    let context = context
                    try threads.start { EventLoop.run(context, mailbox) }
                } catch {
                    // One thread serves all, more slowly.
                    guard number == 0 else { break }
                    throw .system(call: "pthread_create", errno: error.code)
                }
            }
            isStarted = true
        }
    }

    /// Begins to drain, so that clients go elsewhere: from now on every answer ends its connection (`Connection: close`).
    /// Connections are accepted and served as before until `stop()`, which is gentle then.
    package func drain() { context.drain() }

    /// Stops: takes the connections that wait to be accepted and no more, ends idle connections at once, lets running
    /// answers finish, and returns when the last of its threads has ended. Blocks, so not for the cooperative pool; may be
    /// called twice.
    ///
    /// Of a server that drains, idle connections have a moment more for a request that is on its way, then end by half.
    /// - Parameter grace: how long running answers may take. Default: the configuration's `stopGrace`.
    package func stop(grace: Duration? = nil) {
        // One that was never started must not start any more.
        isStarted.withLock { $0 = true }
        signalStop(grace: grace)
        threads.waitUntilEnded()
        // The threads have done so, if there were any.
        for listener in context.listeners { listener.stop() }
    }

    private func signalStop(grace: Duration?) {
        context.stop(
            grace: min(max(.zero, grace ?? context.configuration.stopGrace), Configuration.longestTime))
        for mailbox in mailboxes { mailbox.wake.signal() }
    }

    /// Every connection takes a descriptor: the limit that the system lets a program raise itself is raised.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension HTTPServer {
    /// What a server has done since it was made.
    package struct Statistics: Sendable, Hashable {
        /// Requests answered or being answered, refused ones included. A request is counted before the first
        /// byte of its answer leaves, so whoever has read an answer finds it counted.
        package internal(set) var requests = 0
        /// The same requests by the status of their answer.
        package internal(set) var byStatus: [Int: Int] = [:]
        /// Bytes handed to the system, heads included; it may lag behind what a client has read.
        package internal(set) var bytesSent = 0
        /// Connections open at this moment.
        package internal(set) var connectionsNow = 0
        /// Connections accepted in all, those turned away included.
        package internal(set) var connectionsInAll = 0
    }
}
