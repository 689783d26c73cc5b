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
    private let graceEnd = Lock<ContinuousClock.Instant?>(nil)

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

    /// When answers under way must have ended; nil while the server runs.
    var stopTime: ContinuousClock.Instant? { graceEnd.withLock { $0 } }

    func stop() {
        graceEnd.withLock { $0 = $0 ?? ContinuousClock.now + configuration.stopGrace }
        for listener in listeners { listener.stop() }
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
