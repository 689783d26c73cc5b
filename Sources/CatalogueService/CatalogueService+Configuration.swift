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
