internal import HTTPSemantics
package import SystemSupport

/// A small HTTP/1.1 server. A few threads wait for all connections at once (epoll). A bounded number of other threads
/// handle requests that may block. Nothing runs on Swift's cooperative pool.
///
/// The handler decides what is served: the server knows only bytes, messages and time.
package final class HTTPServer: Sendable {
    let context: ServerContext
    private let mailboxes: [LoopMailbox]
    /// The epoll descriptor of each loop. They exist before the threads: a server that starts can accept connections.
    private let pollers: [Poller]
    private let threads: ServerThreads
    private let isStarted = Lock(false)

    /// One request and its answer.
    package struct Answer: Sendable, Hashable {
        /// The request's method and target, as the client sent them: not safe for a terminal.
        package let method, target: String
        /// The answer's status.
        package let status: Int
        /// The bytes of the answer's body; the client may have taken fewer.
        package let bytes: Int
        /// From the request's last byte to the answer's last.
        package let time: Duration
        /// The other end of the connection: the client, or a proxy in front.
        package let peer: Peer
        /// The values of the request's X-Forwarded-For, as the client sent them. Believe only those that a trusted
        /// proxy wrote.
        package let forwardedFor: [String]
        /// The value of the answer's Cache-Status (RFC 9211); nil if it has none.
        package let cacheStatus: String?
        /// The request's id, which the answer's X-Request-Id repeats.
        package let id: String
        /// What the answer is about.
        package let route: HTTPRoute
        /// The name of the token that allowed the write; nil if there was none.
        package let writer: String?

        package init(
            method: String, target: String, status: Int, bytes: Int, time: Duration, peer: Peer,
            forwardedFor: [String] = [], cacheStatus: String? = nil, id: String = "",
            route: HTTPRoute = .other, writer: String? = nil
        ) {
            self.method = method
            self.target = target
            self.status = status
            self.bytes = bytes
            self.time = time
            self.peer = peer
            self.forwardedFor = forwardedFor
            self.cacheStatus = cacheStatus
            self.id = id
            self.route = route
            self.writer = writer
        }
    }

    /// Listens; connections wait until `start()`.
    /// - Parameters:
    ///   - handler: answers the requests.
    ///   - report: called for every answer, on the thread of its connection. Default: nil, no reports.
    ///   - startThread: starts a thread. Default: the system.
    /// - Throws: what is wrong with an address.
    package init(
        configuration: Configuration, handler: any HTTPHandler, report: (@Sendable (Answer) -> Void)? = nil,
        startThread: BlockingThreads.Starter? = nil
    ) throws(HTTPServerError) {
        let configuration = configuration.bounded
        var listeners: [Listener] = []
        for address in configuration.addresses {
            listeners.append(try Listener(address, mode: configuration.socketMode))
        }
        do throws(ResourceShortage) {
            threads =
                if let startThread { try ServerThreads(startThread: startThread) } else {
                    try ServerThreads()
                }
            mailboxes = try (0..<configuration.eventThreads).map { _ throws(ResourceShortage) in
                try LoopMailbox()
            }
        } catch {
            throw .system(call: "eventfd", errno: error.code)
        }
        do throws(ResourceShortage) {
            pollers = try mailboxes.map { mailbox throws(ResourceShortage) in
                try EventLoop.poller(for: mailbox, listeners)
            }
        } catch {
            throw .system(call: "epoll", errno: error.code)
        }
        context = ServerContext(
            configuration: configuration, handler: handler, listeners: listeners, report: report)
    }

    // The threads hold the context, not this object, so they must be told to end.
    deinit { signalStop(grace: nil) }

    /// The ports that the server listens on, in the order of the addresses; nil for a local socket.
    package var ports: [UInt16?] { context.listeners.map(\.port) }

    /// The server's counts so far.
    package var statistics: Statistics {
        var statistics = context.counters.statistics
        statistics.waitingAnswerBytes = context.answerMemory.bytes
        return statistics
    }

    /// Serves on threads of its own, and returns at once. A stopped server does not start again.
    ///
    /// - Throws: when the system gives no thread; a later call may succeed.
    package func start() throws(HTTPServerError) {
        // Threads are counted under the lock, so that a concurrent stop waits for them.
        try isStarted.withLock { isStarted throws(HTTPServerError) in
            guard !isStarted else { return }
            for (number, (mailbox, poller)) in zip(mailboxes, pollers).enumerated() {
                do throws(ResourceShortage) {
                    let context = context
                    try threads.start { EventLoop.run(context, mailbox, poller) }
                } catch {
                    // One thread can serve all connections, more slowly.
                    guard number == 0 else { break }
                    throw .system(call: "pthread_create", errno: error.code)
                }
            }
            isStarted = true
        }
    }

    /// Begins to drain, so that clients go elsewhere: every answer now ends its connection (`Connection: close`). The
    /// server accepts and serves connections until `stop()`.
    package func drain() { context.drain() }

    /// Stops the server: serves the connections that already wait to be accepted, ends idle connections, lets running
    /// answers finish, and returns when the last of its threads has ended. Blocks, so do not call it on the cooperative
    /// pool. A second call is harmless.
    ///
    /// While draining, an idle connection gets another moment for a request that is on its way, then an orderly end.
    /// - Parameter grace: how long running answers may take. Default: the configuration's `stopGrace`.
    package func stop(grace: Duration? = nil) {
        // A server that was never started must not start any more.
        isStarted.withLock { $0 = true }
        signalStop(grace: grace)
        threads.waitUntilEnded()
        // The threads have stopped the listeners, if there were any threads.
        for listener in context.listeners { listener.stop() }
    }

    private func signalStop(grace: Duration?) {
        context.stop(
            grace: min(max(.zero, grace ?? context.configuration.stopGrace), Configuration.longestTime))
        for mailbox in mailboxes { mailbox.wake.signal() }
    }
}

extension HTTPServer {
    /// A server's counts since it was made.
    package struct Statistics: Sendable, Hashable {
        /// Requests answered or being answered, refused ones included, by the route and the status of their answer. A
        /// request is counted before the first byte of its answer leaves, so a client that has read an answer finds it
        /// counted.
        package internal(set) var answers: [HTTPRoute: [Int: Int]] = [:]
        /// Bytes of answers that clients have not taken yet; those that answers share count once.
        package internal(set) var waitingAnswerBytes = 0
        /// The answers among them that became 503 because too many others waited for their clients.
        package internal(set) var shedAnswers = 0
        /// Bytes handed to the system, heads included; the count may lag behind the bytes that a client has read.
        package internal(set) var bytesSent = 0
        /// Connections open at this moment.
        package internal(set) var connectionsNow = 0
        /// Connections accepted in all, those turned away included.
        package internal(set) var connectionsInAll = 0

        /// All these requests.
        package var requests: Int { byStatus.values.reduce(0, +) }

        /// The same requests by the status of their answer.
        package var byStatus: [Int: Int] {
            answers.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }
}
