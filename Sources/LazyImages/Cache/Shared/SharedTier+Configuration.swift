extension SharedTier {
    /// How long a read takes at most. With the work of its own, a request then waits less than a second.
    package static let readLimit = Duration.milliseconds(800)

    /// The limits of a tier, and the security of its connections.
    public struct Configuration: Sendable {
        /// Whether this tier only reads: it writes and removes nothing in the store. Default false.
        public var isReadOnly = false
        /// Which certificates a store with TLS may have. Default: those that the system trusts.
        public var security = SecurityPolicy()
        /// The largest value that is read or written, in bytes. Default 8 MiB: more would take longer than a read may.
        public var maximumBytes = 8 << 20
        /// Bytes that may wait to be written. Default 32 MiB.
        package var queuedBytes = 32 << 20
        /// Values that may wait to be written. Default 1024.
        package var queuedWrites = 1024
        /// Time limits of a read. Default: 100 ms to connect, 800 ms in all.
        package var reading = Timeouts(
            connect: .milliseconds(100), firstByte: readLimit, stall: readLimit, total: readLimit)
        /// Time limits of a write. Default: 1 s to connect, 1 s without progress, 5 s in all.
        package var writing = Timeouts(
            connect: .seconds(1), firstByte: .seconds(1), stall: .seconds(1), total: .seconds(5))
        /// The clock of the breaker.
        package var timing = RetryTiming.system

        /// The defaults.
        public init() {}
    }
}
