import SystemSupport

extension SharedTier {
    /// How long one request may wait for the store in all, over several reads. Default of a request without one: each read has
    /// its own second.
    package final class Patience: Sendable {
        private let remaining: Lock<Duration>

        /// - Parameter limit: in all. Default: a second.
        package init(_ limit: Duration = .seconds(1)) { remaining = Lock(limit) }

        var left: Duration { remaining.withLock { $0 } }

        func spend(_ time: Duration) { remaining.withLock { $0 = max(.zero, $0 - time) } }
    }

    /// What the present request has left. Set by who serves the request; it holds for the transfers that the request begins.
    @TaskLocal package static var patience: Patience?
}

extension Timeouts {
    /// The same, and no phase longer than a limit.
    func within(_ limit: Duration) -> Timeouts {
        Timeouts(
            connect: min(connect, limit), firstByte: min(firstByte, limit), stall: min(stall, limit),
            total: min(total, limit))
    }
}
