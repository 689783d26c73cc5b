import CSystem
import HTTPSemantics
import SystemSupport

/// One client's requests, answered in order until either side ends the connection. Not safe for concurrent use: only
/// the thread of its event loop touches it.
///
/// A connection is a state machine. Each step runs until it would have to wait, and never blocks.
final class Connection {
    /// What the event loop does with a connection after its steps.
    enum Outcome {
        /// It waits: for its client, for its answer, or for its deadline.
        case waits
        /// It could go on, but lets other connections go first.
        case yields
        /// It is over.
        case isOver
    }

    /// What a connection waits for.
    enum Phase {
        /// The first byte of a request.
        case idle
        /// The rest of a head.
        case head
        /// The rest of a body.
        case body
        /// The handler's answer.
        case handling
        /// The time to send: the configured latency or bandwidth delays the answer.
        case pausing
        /// The client, to take more of the answer.
        case writing
        /// The client's end: the last answer is sent.
        case lingering
    }

    /// The result of one step.
    enum Step {
        case again
        case end(Outcome)
    }

    let key: ConnectionKey
    let peer: Peer
    /// Whether the server has too many connections: the first request is answered 503.
    let isTurnedAway: Bool
    /// When the connection has waited too long.
    var deadline: ContinuousClock.Instant?
    /// The time of this connection's entry among the loop's timers.
    var timer: ContinuousClock.Instant?

    var socket: ClientSocket
    var phase = Phase.idle
    var input = InputBuffer()
    /// The request whose body is being read.
    var incoming: IncomingRequest?
    /// The head of the request that is being handled.
    var handledHead: RequestHead?
    /// When the last byte of that request came.
    var requestEnd = ContinuousClock.now
    /// The answer that the handler gives later; nil while a thread of the server handles the request. The handler owns
    /// it: once the handler has dropped it, it answers by itself.
    weak var pending: PendingAnswer?
    var outgoing: OutgoingAnswer?
    /// Bytes thrown away while lingering.
    var discarded = 0

    /// How long a client that is turned away has for its request.
    private static let turnAwayTime = Duration.seconds(1)
    /// How long a draining server keeps an idle connection when it stops, for a request that is on its way: half a turn
    /// around the earth.
    static let lastCall = Duration.milliseconds(100)

    init(_ descriptor: Int32, key: ConnectionKey, peer: Peer, isTurnedAway: Bool) {
        socket = ClientSocket(descriptor)
        self.key = key
        self.peer = peer
        self.isTurnedAway = isTurnedAway
    }

    /// Whether the connection owes no answer: it has no whole request.
    private var owesNoAnswer: Bool {
        switch phase {
        case .idle, .head, .body, .lingering: true
        case .handling, .pausing, .writing: false
        }
    }

    /// Runs steps until one would have to wait.
    func advance(_ loop: EventLoop) -> Outcome {
        while true {
            let step =
                switch phase {
                case .idle, .head: readHead(loop)
                case .body: readBody(loop)
                case .writing: write(loop)
                case .lingering: linger(loop)
                case .handling, .pausing: Step.end(.waits)
                }
            if case .end(let outcome) = step { return outcome }
        }
    }

    // MARK: Events

    func begin(_ loop: EventLoop) -> Outcome {
        socket.configure()
        deadline = loop.now + (isTurnedAway ? Self.turnAwayTime : loop.context.configuration.idleTimeout)
        return advance(loop)
    }

    func becameReady(_ events: UInt32, _ loop: EventLoop) -> Outcome {
        // The client has closed both directions: nobody reads an answer.
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return .isOver }
        socket.note(events)
        // A client that has closed one direction could still read, but hardly any does: its request is abandoned.
        if socket.hasClientEnded, pending != nil { return .isOver }
        return advance(loop)
    }

    func timedOut(_ loop: EventLoop) -> Outcome {
        switch phase {
        case .head, .body:
            _ = refuse(.plain(.requestTimeout), loop)
            return advance(loop)
        case .pausing:
            phase = .writing
            return advance(loop)
        case .idle where !isTurnedAway:
            socket.recheckInput()
            let outcome = advance(loop)
            guard phase == .idle, case .waits = outcome else { return outcome }
            // A request that is on its way now meets an orderly end, not a reset.
            if case .end(let outcome) = endSending(loop) { return outcome }
            return advance(loop)
        case .handling: return .waits
        case .idle, .writing, .lingering: return .isOver
        }
    }

    /// Sends the handler's answer.
    func answer(_ response: HTTPResponse, _ loop: EventLoop) -> Outcome {
        guard phase == .handling else { return .waits }
        pending = nil
        _ = send(response, to: handledHead, loop)
        return advance(loop)
    }

    /// The server stops. A whole request is still answered, without the configured delays. A connection that owes no
    /// answer ends: at once, or a moment later where the server has drained.
    func stop(_ loop: EventLoop) -> Outcome {
        socket.recheckInput()
        if phase == .pausing { phase = .writing }
        let outcome = advance(loop)
        guard owesNoAnswer, case .waits = outcome else { return outcome }
        if loop.context.end.isAtOnce { return .isOver }
        if phase == .idle { deadline = loop.now + Self.lastCall }
        return outcome
    }

    func close(_ loop: EventLoop) {
        pending?.abandon()
        outgoing?.letGo(loop.context.answerMemory, now: loop.now)
        socket.close()
    }
}
