package import SystemSupport

/// A small HTTP/1.1 server. A few threads wait for all connections at once (epoll). A bounded number of other threads
/// handle requests that may block. Nothing runs on Swift's cooperative pool.
///
/// The handler decides what is served: the server knows only bytes, messages and time.
package final class HTTPServer: Sendable {
    let context: ServerContext
    private let mailboxes: [LoopMailbox]
    private let beats: [Counter]
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
        package internal(set) var time: Duration
        /// The other end of the connection: the client, or a proxy in front.
        package let peer: Peer
        /// The values of the request's X-Forwarded-For, as the client sent them. Believe only those that a trusted
        /// proxy wrote.
        package internal(set) var forwardedFor: [String] = []
        /// The request's User-Agent, Referer and traceparent (W3C Trace Context), as the client sent them; nil for none.
        package internal(set) var userAgent, referer, trace: String?
        /// The value of the answer's Cache-Status (RFC 9211); nil if it has none.
        package internal(set) var cacheStatus: String?
        /// The request's id, which the answer's X-Request-Id repeats.
        package internal(set) var id = ""
        /// What the answer is about.
        package internal(set) var route = HTTPRoute.other
        /// The name of the token that allowed the write; nil if there was none.
        package internal(set) var writer: String?
    }

    /// Listens; connections wait until `start()`.
    /// - Parameters:
    ///   - handler: answers the requests.
    ///   - report: called for every answer, on the thread of its connection. Default: nil, no reports.
    ///   - startThread: starts a thread. Default: the system.
    ///   - fileCalls: the system calls for the files of bodies.
    /// - Throws: what is wrong with an address.
    package init(
        configuration: Configuration, handler: any HTTPHandler, report: (@Sendable (Answer) -> Void)? = nil,
        startThread: @escaping BlockingThreads.Starter = BlockingThreads.startThread(name:_:),
        fileCalls: FileCalls = FileCalls()
    ) throws(HTTPServerError) {
        let configuration = configuration.bounded
        var listeners: [Listener] = []
        for address in configuration.addresses {
            listeners.append(try Listener(address, mode: configuration.socketMode))
        }
        do throws(ResourceShortage) {
            threads = try ServerThreads(startThread: startThread)
            mailboxes = try (0..<configuration.eventThreads).map { _ throws(ResourceShortage) in
                try LoopMailbox()
            }
        } catch {
            throw .system(call: "eventfd", errno: error.code)
        }
        beats = mailboxes.map { _ in Counter() }
        do throws(ResourceShortage) {
            pollers = try mailboxes.map { mailbox throws(ResourceShortage) in
                try EventLoop.poller(for: mailbox, listeners)
            }
        } catch {
            throw .system(call: "epoll", errno: error.code)
        }
        context = ServerContext(
            configuration: configuration, handler: handler, listeners: listeners, report: report,
            fileCalls: fileCalls)
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

    /// Wakes the threads that serve connections, and returns how often each has woken before. A number that does not grow
    /// from call to call is that of a thread that hangs.
    package func heartbeats() -> [Int] {
        for mailbox in mailboxes { mailbox.wake.signal() }
        return beats.map(\.value)
    }

    /// Serves on threads of its own, and returns at once. A stopped server does not start again.
    ///
    /// - Throws: when the system gives no thread; a later call may succeed.
    package func start() throws(HTTPServerError) {
        // Threads are counted under the lock, so that a concurrent stop waits for them.
        try isStarted.withLock { isStarted throws(HTTPServerError) in
            guard !isStarted else { return }
            for (number, (mailbox, poller)) in zip(mailboxes, pollers).enumerated() {
                let beat = beats[number]
                do throws(ResourceShortage) {
                    let context = context
                    try threads.start { EventLoop(context, mailbox, poller, beat).run() }
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

extension HTTPServer {
    /// Where a server listens, and its limits.
    package struct Configuration: Sendable, Hashable {
        /// The addresses to listen on. Default: 127.0.0.1, at a port that the system chooses.
        package var addresses = [ListenAddress.internet(address: "127.0.0.1", port: 0)]
        /// Threads that wait for connections. Default: one for each processor, at most 4.
        package var eventThreads = min(4, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        /// Reads that are handled at once, each on its own thread, and as many other requests; further ones wait.
        /// Default 16.
        package var blockingThreads = 16
        /// How long a read waits for a thread, default 5 s; then it is answered 503.
        package var queueTime = Duration.seconds(5)
        /// Connections served at once, default 32,768; further ones are answered 503. The process's limit of
        /// descriptors may allow fewer: a part of them is kept for files and transfers.
        package var maximumConnections = 32_768
        /// The permissions of local sockets: who may connect. Nil, the default, leaves them to the process's umask.
        package var socketMode: UInt32?
        /// The most bytes of a request's head, default 16 KiB; a longer one is answered 431.
        package var headerLimit = 16 << 10
        /// The most bytes of a request's target, default 8 KiB; a longer one is answered 414.
        package var targetLimit = 8 << 10
        /// How long a head may take from its first byte, default 10 s; a slower one is answered 408.
        package var headerTimeout = Duration.seconds(10)
        /// How long a body may take, besides the time that `minimumBodyRate` grants, default 20 s; a slower one is
        /// answered 408.
        package var bodyTimeout = Duration.seconds(20)
        /// The fewest bytes a second of a body, default 500.
        package var minimumBodyRate = 500
        /// How long an idle connection stays open, default 75 s. That is longer than most proxies keep one: a proxy
        /// must not send a request into a connection that is closing.
        package var idleTimeout = Duration.seconds(75)
        /// How long a client may take no bytes of an answer, default 30 s; then the connection is closed.
        package var writeTimeout = Duration.seconds(30)
        /// How long running answers may go on after the server has stopped, default 1 s.
        package var stopGrace = Duration.seconds(1)
        /// How long a draining server keeps an idle connection when it stops, for a request that is on its way, default
        /// 100 ms: half a turn around the earth.
        package var lastCall = Duration.milliseconds(100)
        /// A delay before each answer, default none. It makes a near network feel like a distant one.
        package var latency = Duration.zero
        /// Bytes a second for the bodies on one connection; nil, the default, sets no limit.
        package var bandwidth: Int?
        /// The most bytes of answers that clients have not taken yet, default 256 MiB; further large answers become 503.
        package var answerMemory = 256 << 20
        /// The folder of request bodies that are too long for memory. Default: `TMPDIR`, else `/var/tmp`.
        package var temporaryFolder = UserFolder.temporary

        /// The defaults.
        package init() {}

        /// The same with every value within its bounds, so that no sum of times overflows.
        var bounded: Configuration {
            var bounded = self
            bounded.eventThreads = min(max(1, eventThreads), 64)
            bounded.blockingThreads = min(max(1, blockingThreads), 1024)
            bounded.maximumConnections = min(max(1, maximumConnections), 1 << 20)
            bounded.headerLimit = min(max(64, headerLimit), 1 << 20)
            bounded.targetLimit = min(max(64, targetLimit), bounded.headerLimit)
            bounded.minimumBodyRate = max(1, minimumBodyRate)
            for time in [
                \Configuration.headerTimeout, \.bodyTimeout, \.idleTimeout, \.writeTimeout, \.stopGrace,
                \.lastCall, \.latency, \.queueTime,
            ] {
                bounded[keyPath: time] = min(max(.zero, self[keyPath: time]), Self.longestTime)
            }
            bounded.bandwidth = bandwidth.map { max(1, $0) }
            return bounded
        }

        static let longestTime = Duration.seconds(86_400)
    }
}

/// Why a server cannot start.
package enum HTTPServerError: Error, Sendable, Hashable {
    /// The text is not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// No interface of this machine has this address.
    case addressNotHere(String)
    /// Another program listens on this port.
    case portInUse(address: String, port: UInt16)
    /// Only the administrator may open this port.
    case portNotPermitted(port: UInt16)
    /// Another program listens at the path of a local socket.
    case pathInUse(String)
    /// At the path of a local socket is something else, such as `a file`.
    case pathTaken(String, by: String)
    /// The path of a local socket is empty or longer than the system's limit of 107 bytes.
    case invalidPath(String)
    /// The system refused a local socket at this path, with this error number.
    case pathRefused(String, errno: Int32)
    /// The system refused another call, with this error number.
    case system(call: String, errno: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .invalidAddress(let address):
            "\(address) is not an IP address; use 127.0.0.1, ::1, or 0.0.0.0 for every interface"
        case .addressNotHere(let address): "this machine does not have the address \(address); use 127.0.0.1"
        case .portInUse(let address, let port):
            "port \(port) of \(address) is in use; choose another, or 0 for any that is free"
        case .portNotPermitted(let port):
            "port \(port) needs the administrator's rights; choose one above 1023, or 0 for any that is free"
        case .pathInUse(let path): "another program listens at \(path); choose another path"
        case .pathTaken(let path, let kind):
            "there is \(kind) at \(path), which no socket replaces; remove it, or choose another path"
        case .invalidPath(let path):
            "\"\(path)\" is not a path for a local socket; give one of 1 to 107 bytes"
        case .pathRefused(let path, let errno):
            "the system refused a local socket at \(path): \(SystemError.text(errno)); choose another path"
        case .system(let call, let errno): "the system refused \(call): \(SystemError.text(errno))"
        }
    }
}

/// The threads of one server, counted, so that a stop can wait for the last of them.
final class ServerThreads: Sendable {
    private let running = Lock(0)
    private let allEnded: WakeDescriptor

    private let startThread: BlockingThreads.Starter

    /// - Parameter startThread: starts a thread.
    init(startThread: @escaping BlockingThreads.Starter) throws(ResourceShortage) {
        allEnded = try WakeDescriptor()
        self.startThread = startThread
    }

    /// Runs `body` on a new thread. The first thread must not end before the last one has started: a count of zero
    /// means that all have ended.
    /// - Throws: when the system gives no thread. `body` does not run then.
    func start(_ body: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        running.withLock { $0 += 1 }
        do {
            try startThread("marquee-server") { [self] in
                Self.blockSignals()
                body()
                if running.withLock({ count in
                    count -= 1
                    return count == 0
                }) {
                    allEnded.signal()
                }
            }
        } catch {
            // If this was the first thread, the caller may try again; if not, the others go on.
            running.withLock { $0 -= 1 }
            throw error
        }
    }

    /// Blocks until every thread has ended; returns at once if none was started.
    func waitUntilEnded() {
        if running.withLock({ $0 > 0 }) { allEnded.wait() }
    }

    /// A client that goes away during sendfile raises SIGPIPE, and sendfile has no flag against it. The program's other
    /// signals belong to its own threads.
    private static func blockSignals() {
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
