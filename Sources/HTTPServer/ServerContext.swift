import Synchronization
import SystemSupport

/// The state that all threads of a server share.
final class ServerContext: Sendable {
    let configuration: HTTPServer.Configuration
    let handler: any HTTPHandler
    let listeners: [Listener]
    let report: (@Sendable (HTTPServer.Answer) -> Void)?
    let fileCalls: FileCalls
    let counters = ServerCounters(places: .ofProcess)
    let requestIDs = RequestIDs()
    /// The threads that handle requests. A write may wait for seconds, and no read waits for it.
    let readers, writers: BlockingThreads
    /// The threads that store bodies. A slow disk holds up no other request.
    let bodyThreads = BlockingThreads(count: 2, name: "marquee-body")
    let bodyMemory = SharedBudget(limit: bodyMemoryLimit)
    /// The connections that may read the rest of a refused request.
    let lingerPlaces = SharedBudget(limit: 256)
    let answerMemory: AnswerMemory
    private let ending = Lock(Ending())

    /// The most memory for the bodies of requests that are being received, in bytes. Beyond a quarter of it, bodies are
    /// stored as they come.
    private static let bodyMemoryLimit = 256 << 20

    init(
        configuration: HTTPServer.Configuration, handler: any HTTPHandler, listeners: [Listener],
        report: (@Sendable (HTTPServer.Answer) -> Void)?, fileCalls: FileCalls
    ) {
        self.configuration = configuration
        self.handler = handler
        self.listeners = listeners
        self.report = report
        self.fileCalls = fileCalls
        answerMemory = AnswerMemory(limit: configuration.answerMemory)
        readers = BlockingThreads(count: configuration.blockingThreads, name: "marquee-request")
        writers = BlockingThreads(count: configuration.blockingThreads, name: "marquee-write")
    }

    /// Whether the server runs, drains or stops.
    var end: Ending { ending.withLock { $0 } }

    /// When answers under way must have ended; nil while the server runs.
    var stopTime: ContinuousClock.Instant? { end.stopTime }

    /// Gives memory back to the system after much has been sent.
    func trimMemory(now: ContinuousClock.Instant) {
        guard let time = answerMemory.trimTime, time <= now, answerMemory.takeTrim(now: now) else { return }
        // Ignored: without a thread the memory goes back the next time.
        try? readers.enqueue { AnswerMemory.trim() }
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

/// The answers that other threads give to requests, for an event loop; nil when a part of a body is stored.
typealias LoopMailbox = Mailbox<(connection: ConnectionKey, response: HTTPResponse?)>

/// Identifies a connection of an event loop. A loop does not use a key twice.
struct ConnectionKey: Hashable, Sendable {
    /// A running number, then the connection's index in the loop: 32 bits each. epoll returns it with an event.
    let packed: UInt64

    /// The connection's index in the loop.
    var slot: UInt32 { UInt32(truncatingIfNeeded: packed) }
}

extension ConnectionKey {
    init(slot: UInt32, number: UInt32) { packed = UInt64(number) << 32 | UInt64(slot) }
}

/// Gives each request an id, which the log and the answer's X-Request-Id repeat.
///
///     X-Request-Id: 5f1c2a00000012b        a random prefix of the server, then a running number
///
/// A client or a proxy may send an id of its own.
final class RequestIDs: Sendable {
    /// Tells the ids of this server from those of others.
    private let prefix = UInt64.random(in: 0..<1 << 24) << RequestIDs.numberBits
    private let number = Atomic<UInt64>(0)

    /// 15 hexadecimal digits: a Swift string of so many bytes needs no memory of its own.
    private static let digits = 15
    private static let numberBits: UInt64 = 36
    /// The most bytes of a client's own id.
    private static let longest = 128

    /// The request's own X-Request-Id, if it can stand in a log, else a new id.
    func id(of head: RequestHead) -> String {
        if let own = head.value(of: "x-request-id"), Self.isUsable(own) { return own }
        return next()
    }

    private func next() -> String {
        let number = number.wrappingAdd(1, ordering: .relaxed).oldValue & (1 << Self.numberBits - 1)
        let bits = prefix | number
        return unsafe String(unsafeUninitializedCapacity: Self.digits) { buffer in
            for index in 0..<Self.digits {
                let digit = UInt8(bits >> (4 * UInt64(Self.digits - 1 - index)) & 0xF)
                unsafe buffer[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return Self.digits
        }
    }

    /// Whether an id has 1 to 128 visible ASCII characters without quotes and backslashes, so that it can stand in a
    /// log, a header field and a page as it is.
    private static func isUsable(_ id: String) -> Bool {
        (1...longest).contains(id.utf8.count)
            && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'\\".utf8.contains($0) }
    }
}
