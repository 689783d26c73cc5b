import SystemSupport

/// What all threads of a server share.
final class ServerContext: Sendable {
    let configuration: HTTPServer.Configuration
    let handler: any HTTPHandler
    let listeners: [Listener]
    let report: (@Sendable (HTTPServer.Answer) -> Void)?
    let counters = ServerCounters()
    /// Where requests are handled.
    let blocking: BlockingThreads
    let bodyMemory = BodyMemory(limit: bodyMemoryLimit)
    private let ending = Lock(Ending())

    /// What the bodies of requests that are being received take of memory at most, in bytes.
    private static let bodyMemoryLimit = 64 << 20

    init(
        configuration: HTTPServer.Configuration, handler: any HTTPHandler, listeners: [Listener],
        report: (@Sendable (HTTPServer.Answer) -> Void)?
    ) {
        self.configuration = configuration
        self.handler = handler
        self.listeners = listeners
        self.report = report
        blocking = BlockingThreads(count: configuration.blockingThreads, name: "marquee-request")
    }

    /// How far the server is on its way to its end.
    var end: Ending { ending.withLock { $0 } }

    /// When answers under way must have ended; nil while the server runs.
    var stopTime: ContinuousClock.Instant? { end.stopTime }

    func drain() { ending.withLock { $0.isDraining = true } }

    /// - Parameter grace: the time that answers under way have.
    func stop(grace: Duration) {
        ending.withLock { $0.stopTime = $0.stopTime ?? ContinuousClock.now + grace }
    }

    /// The end of a server.
    struct Ending: Sendable {
        /// Whether answers end their connections, and a stop waits for requests that may be on their way.
        var isDraining = false
        /// When answers under way must have ended; nil while the server runs.
        var stopTime: ContinuousClock.Instant?

        /// Whether connections end without waiting for another request.
        var isAtOnce: Bool { stopTime != nil && !isDraining }
    }
}

/// What other threads tell an event loop.
final class LoopMailbox: Sendable {
    /// Becomes readable when there is something for the loop.
    let wake: WakeDescriptor
    private let answers = Lock<[(connection: ConnectionKey, response: HTTPResponse)]>([])

    init() throws(ResourceShortage) { wake = try WakeDescriptor() }

    /// Hands over the answer to a request.
    func post(_ response: HTTPResponse, for connection: ConnectionKey) {
        let isFirst = answers.withLock { answers in
            answers.append((connection, response))
            return answers.count == 1
        }
        // The loop takes all that is there, so one signal is enough for many.
        if isFirst { wake.signal() }
    }

    /// Takes all answers.
    func take() -> [(connection: ConnectionKey, response: HTTPResponse)] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}

/// Names a connection of an event loop: no two of its life have the same key.
struct ConnectionKey: Hashable, Sendable {
    /// Where the loop keeps it.
    let slot: UInt32
    /// Counts the connections.
    let number: UInt32

    /// As epoll hands it back.
    var packed: UInt64 { UInt64(number) << 32 | UInt64(slot) }

    init(slot: UInt32, number: UInt32) {
        self.slot = slot
        self.number = number
    }

    init(packed: UInt64) {
        slot = UInt32(truncatingIfNeeded: packed)
        number = UInt32(truncatingIfNeeded: packed >> 32)
    }
}
