import SystemSupport

/// The state that all threads of a server share.
final class ServerContext: Sendable {
    let configuration: HTTPServer.Configuration
    let handler: any HTTPHandler
    let listeners: [Listener]
    let report: (@Sendable (HTTPServer.Answer) -> Void)?
    let counters = ServerCounters(places: .ofProcess)
    let requestIDs = RequestIDs()
    /// The threads that handle requests.
    let blocking: BlockingThreads
    let bodyMemory = BodyMemory(limit: bodyMemoryLimit)
    let answerMemory: AnswerMemory
    private let ending = Lock(Ending())

    /// The most memory for the bodies of requests that are being received, in bytes.
    private static let bodyMemoryLimit = 64 << 20

    init(
        configuration: HTTPServer.Configuration, handler: any HTTPHandler, listeners: [Listener],
        report: (@Sendable (HTTPServer.Answer) -> Void)?
    ) {
        self.configuration = configuration
        self.handler = handler
        self.listeners = listeners
        self.report = report
        answerMemory = AnswerMemory(limit: configuration.answerMemory)
        blocking = BlockingThreads(count: configuration.blockingThreads, name: "marquee-request")
    }

    /// Whether the server runs, drains or stops.
    var end: Ending { ending.withLock { $0 } }

    /// When answers under way must have ended; nil while the server runs.
    var stopTime: ContinuousClock.Instant? { end.stopTime }

    /// Gives memory back to the system after much has been sent.
    func trimMemory(now: ContinuousClock.Instant) {
        guard let time = answerMemory.trimTime, time <= now, answerMemory.takeTrim(now: now) else { return }
        // Ignored: without a thread the memory goes back the next time.
        try? blocking.enqueue { AnswerMemory.trim() }
    }

    func drain() { ending.withLock { $0.isDraining = true } }

    /// - Parameter grace: the time left for running answers.
    func stop(grace: Duration) {
        ending.withLock { $0.stopTime = $0.stopTime ?? ContinuousClock.now + grace }
    }

    /// How a server ends.
    struct Ending: Sendable {
        /// Whether answers end their connections, and a stop waits for requests that are on their way.
        var isDraining = false
        /// When answers under way must have ended; nil while the server runs.
        var stopTime: ContinuousClock.Instant?

        /// Whether connections end without waiting for another request.
        var isAtOnce: Bool { stopTime != nil && !isDraining }
    }
}

/// Messages from other threads to an event loop.
final class LoopMailbox: Sendable {
    /// Becomes readable when a message waits.
    let wake: WakeDescriptor
    private let answers = Lock<[(connection: ConnectionKey, response: HTTPResponse)]>([])

    init() throws(ResourceShortage) { wake = try WakeDescriptor() }

    /// Hands over the answer to a request.
    func post(_ response: HTTPResponse, for connection: ConnectionKey) {
        let isFirst = answers.withLock { answers in
            answers.append((connection, response))
            return answers.count == 1
        }
        // The loop takes all answers at once, so one signal is enough.
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

/// Identifies a connection of an event loop. A loop does not use a key twice.
struct ConnectionKey: Hashable, Sendable {
    /// The connection's index in the loop.
    let slot: UInt32
    /// A running number.
    let number: UInt32

    /// The key as the number that epoll returns with an event.
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
