internal import Glibc

extension HTTPServer {
    /// Where a server listens, and its limits.
    package struct Configuration: Sendable, Hashable {
        /// The addresses to listen on. Default: 127.0.0.1, at a port that the system chooses.
        package var addresses = [ListenAddress.internet(address: "127.0.0.1", port: 0)]
        /// Threads that wait for connections. Default: one for each processor, at most 4.
        package var eventThreads = min(4, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        /// Requests that are handled at once, each on its own thread; others wait. Default 16.
        package var blockingThreads = 16
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
        /// A delay before each answer, default none. It makes a near network feel like a distant one.
        package var latency = Duration.zero
        /// Bytes a second for the bodies on one connection; nil, the default, sets no limit.
        package var bandwidth: Int?
        /// The most bytes of answers that clients have not taken yet, default 256 MiB; further large answers become 503.
        package var answerMemory = 256 << 20
        /// The folder of request bodies that are too long for memory. Default: `TMPDIR`, else `/var/tmp`.
        package var temporaryFolder = HTTPServer.temporaryFolder

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
                \.latency,
            ] {
                bounded[keyPath: time] = min(max(.zero, self[keyPath: time]), Self.longestTime)
            }
            bounded.bandwidth = bandwidth.map { max(1, $0) }
            return bounded
        }

        static let longestTime = Duration.seconds(86_400)
    }

    private static let temporaryFolder: String = {
        guard let folder = unsafe getenv("TMPDIR"), unsafe folder.pointee != 0 else { return "/var/tmp" }
        return unsafe String(cString: folder)
    }()
}
