import SystemSupport

extension SharedTier {
    /// How long one request may wait for the store in all its reads together. Without it, each read has the whole time
    /// limit of a read.
    package final class Patience: Sendable {
        private let remaining: Lock<Duration>

        init(_ limit: Duration) { remaining = Lock(limit) }

        var left: Duration { remaining.withLock { $0 } }

        func spend(_ time: Duration) { remaining.withLock { $0 = max(.zero, $0 - time) } }
    }

    /// The patience of a new request: the time limit of one read.
    package func newPatience() -> Patience { Patience(configuration.reading.total) }

    /// The patience of the current request. The service sets it; the transfers that the request begins inherit it.
    @TaskLocal package static var patience: Patience?
}

extension Timeouts {
    /// The same limits, but none above `limit`.
    func within(_ limit: Duration) -> Timeouts {
        Timeouts(
            connect: min(connect, limit), firstByte: min(firstByte, limit), stall: min(stall, limit),
            total: min(total, limit))
    }
}
