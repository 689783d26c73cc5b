import CSystem
import Glibc
import HTTPSemantics
import SystemSupport

/// One client's requests, answered in order until either side ends it. Used by the thread of its event loop alone.
final class Connection {
    /// What becomes of a connection after it has gone on as far as it could.
    enum Outcome {
        /// It waits: for its client, for its answer, or for its deadline.
        case waits
        /// It could go on, and lets others go first.
        case yields
        /// It is over.
        case isOver
    }

    /// What a connection does. Each case says what it waits for.
    private enum Phase {
        /// The first byte of a request.
        case idle
        /// The rest of a head.
        case head
        /// The rest of a body.
        case body
        /// The handler's answer.
        case handling
        /// The time of its answer: the configured latency, or the bandwidth.
        case pausing
        /// The client, which takes the answer.
        case writing
        /// The client's end: the last answer is sent.
        case lingering
    }

    let key: ConnectionKey
    /// Whether there are too many connections: the request is answered 503.
    let isTurnedAway: Bool
    /// When the connection has waited long enough.
    private(set) var deadline: ContinuousClock.Instant?
    /// The time of this connection's entry among the loop's timers.
    var timer: ContinuousClock.Instant?

    private let socket: Int32
    private let peer: Peer
    private var phase = Phase.idle
    private var input = InputBuffer()
    private var incoming: IncomingRequest?
    /// The head of the request that is being handled, and when its last byte came.
    private var handled: RequestHead?
    private var requestEnd = ContinuousClock.now
    /// The answer that somebody else gives to that request; nil while a thread of the server handles it.
    private var pending: PendingAnswer?
    private var outgoing: OutgoingAnswer?
    /// Edges that epoll has told of and that no call has used up.
    private var isReadable = true
    private var isWritable = true
    private var hasClientEnded = false
    /// Bytes thrown away while lingering.
    private var discarded = 0

    /// Bytes of an answer that are sent before other connections get their turn.
    private static let turnBytes = 1 << 20
    /// A body that nobody wants is read past up to this size, so that the connection can go on.
    static let unwantedBody = 64 << 10
    /// What is read and thrown away at most after the last answer, and for how long.
    private static let lingerBytes = 1 << 20
    private static let lingerTime = Duration.seconds(1)
    /// The time for a client that is turned away to say what it wanted.
    private static let turnAwayTime = Duration.seconds(1)
    /// How long an idle connection of a server that drained stays open for a request that is on its way when the server
    /// stops: half a turn around the earth.
    private static let lastCall = Duration.milliseconds(100)
    /// Answers of limited bandwidth go out in this many pieces a second.
    private static let piecesPerSecond = 20

    init(_ socket: Int32, key: ConnectionKey, peer: Peer, isTurnedAway: Bool) {
        self.socket = socket
        self.key = key
        self.peer = peer
        self.isTurnedAway = isTurnedAway
    }

    /// Whether no whole request is here that an answer is owed to.
    private var isOwedNothing: Bool {
        switch phase {
        case .idle, .head, .body, .lingering: true
        case .handling, .pausing, .writing: false
        }
    }

    // MARK: Events

    func begin(_ loop: EventLoop) -> Outcome {
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        // An answer's last bytes must not wait for the client to acknowledge the ones before. Local sockets have no such option.
        _ = unsafe setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        deadline = loop.now + (isTurnedAway ? Self.turnAwayTime : loop.context.configuration.idleTimeout)
        return advance(loop)
    }

    func becameReady(_ events: UInt32, _ loop: EventLoop) -> Outcome {
        // The other side is gone for both directions: nobody reads an answer.
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            return .isOver
        }
        if events & EPOLLRDHUP.rawValue != 0 {
            hasClientEnded = true
            // It could still read, but hardly any client does; and work for one that has gone is in vain.
            if pending != nil { return .isOver }
        }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        if events & EPOLLOUT.rawValue != 0 { isWritable = true }
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
            // A request may have come that no event has told of yet.
            isReadable = true
            let outcome = advance(loop)
            guard phase == .idle, case .waits = outcome else { return outcome }
            // One that is on its way now meets an end, and no reset.
            if case .end(let outcome) = endSending(loop) { return outcome }
            return advance(loop)
        case .handling: return .waits
        case .idle, .writing, .lingering: return .isOver
        }
    }

    /// Takes the handler's answer.
    func answer(_ response: HTTPResponse, _ loop: EventLoop) -> Outcome {
        guard phase == .handling else { return .waits }
        pending = nil
        _ = send(response, to: handled, loop)
        return advance(loop)
    }

    /// The server stops: a request that is here is answered, as fast as it can be. A connection that is owed nothing ends,
    /// at once or, where the server has drained, a moment later.
    func stop(_ loop: EventLoop) -> Outcome {
        // A request may have come that no event has told of yet.
        isReadable = true
        if phase == .pausing { phase = .writing }
        let outcome = advance(loop)
        guard isOwedNothing, case .waits = outcome else { return outcome }
        if loop.context.end.isAtOnce { return .isOver }
        if phase == .idle { deadline = loop.now + Self.lastCall }
        return outcome
    }

    func close() {
        pending?.abandon()
        Glibc.close(socket)
    }

    // MARK: Going on

    /// What a step came to.
    private enum Step {
        case again
        case end(Outcome)
    }

    /// Goes on as far as it can without waiting.
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

    private func readHead(_ loop: EventLoop) -> Step {
        let limit = loop.context.configuration.headerLimit
        if let head = input.takeHead() {
            guard head.count <= limit else { return refuse(.plain(.headerFieldsTooLarge), loop) }
            return takeHead(head, loop)
        }
        guard input.count <= limit else { return refuse(.plain(.headerFieldsTooLarge), loop) }
        if phase == .idle, !input.isEmpty {
            phase = .head
            deadline = loop.now + loop.context.configuration.headerTimeout
        }
        return receive(loop)
    }

    private func takeHead(_ bytes: ArraySlice<UInt8>, _ loop: EventLoop) -> Step {
        let head: RequestHead
        do {
            head = try RequestHead(parsing: bytes)
        } catch {
            return refuse(.refusing(error), loop)
        }
        if isTurnedAway { return refuse(.plain(.serviceUnavailable, "too many connections"), loop) }
        guard head.target.utf8.count <= loop.context.configuration.targetLimit else {
            return refuse(.plain(.targetTooLong), loop)
        }
        // The only expectation that there is (RFC 9110 section 10.1.1).
        if let expectation = head.fields["expect"], head.minorVersion == 1,
            !expectation.equalsIgnoringCase("100-continue")
        {
            return refuse(.plain(.expectationFailed), loop)
        }
        switch loop.context.handler.admit(head, from: peer) {
        case .answer(var response):
            guard head.framing != .none else { return send(response, to: head, loop) }
            // A client that waits to be told to send its body may send it after this answer or not: what follows is not
            // known.
            if head.expectsContinue {
                response.closes = true
                return send(response, to: head, loop)
            }
            return beginBody(of: head, for: .discarding(response), limit: Self.unwantedBody, loop)
        case .later(let start): return wait(for: start, head, loop)
        case .handle(let bodyLimit):
            guard head.framing != .none else { return handle(head, .none, loop) }
            let spool = BodySpool(
                budget: loop.context.bodyMemory, folder: loop.context.configuration.temporaryFolder)
            return beginBody(of: head, for: .handling(spool), limit: bodyLimit, loop)
        }
    }

    private func beginBody(
        of head: RequestHead, for purpose: IncomingRequest.Purpose, limit: Int, _ loop: EventLoop
    ) -> Step {
        do {
            let request = try IncomingRequest(head: head, purpose: purpose, limit: limit, start: loop.now)
            if head.expectsContinue, input.isEmpty, !sendContinue(loop) { return .end(.isOver) }
            deadline = request.deadline(loop.context.configuration)
            incoming = request
            phase = .body
            return .again
        } catch {
            return send(IncomingRequest.answer(to: error, instead: purpose), to: head, loop)
        }
    }

    private func readBody(_ loop: EventLoop) -> Step {
        guard let head = incoming?.head, let progress = incoming?.take(from: &input) else {
            return .end(.isOver)
        }
        switch progress {
        case .handle(let body):
            incoming = nil
            return handle(head, body, loop)
        case .answer(let response):
            incoming?.abandon()
            incoming = nil
            return send(response, to: head, loop)
        case .needsMore:
            let step = receive(loop)
            deadline = incoming?.deadline(loop.context.configuration)
            return step
        }
    }

    /// Has the handler answer, on a thread that may block.
    private func handle(_ head: RequestHead, _ body: RequestBody, _ loop: EventLoop) -> Step {
        phase = .handling
        deadline = nil
        handled = head
        requestEnd = loop.now
        let request = HTTPRequest(head: head, body: body, peer: peer)
        do throws(ResourceShortage) {
            try loop.context.blocking.enqueue {
                [handler = loop.context.handler, mailbox = loop.mailbox, key] in
                mailbox.post(handler.respond(to: request), for: key)
            }
            return .end(.waits)
        } catch {
            return send(.plain(.serviceUnavailable), to: head, loop)
        }
    }

    /// Has somebody else answer, in their own time.
    private func wait(
        for start: @Sendable (PendingAnswer) -> Void, _ head: RequestHead, _ loop: EventLoop
    ) -> Step {
        phase = .handling
        deadline = nil
        handled = head
        requestEnd = loop.now
        let hasBody = head.framing != .none
        let pending = PendingAnswer { [mailbox = loop.mailbox, key] response in
            var response = response
            // Where the next request begins is not known.
            if hasBody { response.closes = true }
            mailbox.post(response, for: key)
        }
        self.pending = pending
        start(pending)
        return .end(hasClientEnded ? .isOver : .waits)
    }

    // MARK: Receiving

    /// Reads what there is into `input`.
    private func receive(_ loop: EventLoop) -> Step {
        guard isReadable else { return .end(.waits) }
        let count = receiveBytes(loop)
        if count > 0 {
            input.append(loop.readBuffer[..<count])
            return .again
        }
        if count < 0, errno == EAGAIN {
            isReadable = false
            return .end(.waits)
        }
        return .end(.isOver)
    }

    /// Reads into the loop's buffer: the bytes read, 0 where the client has ended, or -1 and errno.
    private func receiveBytes(_ loop: EventLoop) -> Int {
        while true {
            let size = loop.readBuffer.count
            let count = unsafe recv(socket, &loop.readBuffer, size, 0)
            if count < 0, errno == EINTR { continue }
            // What comes after this is told of again. The end of the client may have been told of already.
            if count > 0, count < size, !hasClientEnded { isReadable = false }
            return count
        }
    }

    // MARK: Sending

    /// Answers what is no request that can be served, and ends the connection.
    private func refuse(_ response: HTTPResponse, _ loop: EventLoop) -> Step {
        incoming?.abandon()
        var response = response
        response.closes = true
        return send(response, to: incoming.take()?.head, loop)
    }

    private func sendContinue(_ loop: EventLoop) -> Bool {
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        let sent = unsafe interim.withUnsafeBytes {
            unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        return sent == interim.count
    }

    /// Begins an answer; `head` is nil where no request was understood.
    private func send(_ response: HTTPResponse, to head: RequestHead?, _ loop: EventLoop) -> Step {
        let configuration = loop.context.configuration
        loop.context.counters.countRequest(response.status)
        let end = loop.context.end
        // A request that has come already, behind this one, is answered before a connection is drained.
        let isLast = end.isAtOnce || end.isDraining && input.isEmpty
        let keepAlive = head?.wantsKeepAlive ?? false && !response.closes && !isLast
        outgoing = OutgoingAnswer(
            response, to: head, from: peer, keepAlive: keepAlive, date: loop.dateText(),
            start: handled == nil ? .now : requestEnd)
        handled = nil
        if configuration.latency > .zero, end.stopTime == nil {
            phase = .pausing
            deadline = .now + configuration.latency
            return .end(.waits)
        }
        phase = .writing
        return .again
    }

    private func write(_ loop: EventLoop) -> Step {
        guard isWritable else { return .end(.waits) }
        let configuration = loop.context.configuration
        deadline = loop.now + configuration.writeTimeout
        let bandwidth = loop.context.stopTime == nil ? configuration.bandwidth : nil
        let piece = bandwidth.map { max(1, $0 / Self.piecesPerSecond) } ?? Self.turnBytes
        if outgoing?.departure == nil { outgoing?.departure = .now }
        let progress = outgoing?.writer.write(to: socket, limit: piece) {
            loop.context.counters.countSent($0)
        }
        switch progress {
        case .done: return endAnswer(loop)
        case .blocked:
            isWritable = false
            return .end(.waits)
        case .partial:
            guard let bandwidth, let outgoing else { return .end(.yields) }
            phase = .pausing
            deadline =
                (outgoing.departure ?? .now)
                + .seconds(Double(outgoing.writer.sentOfBody) / Double(bandwidth))
            return .end(.waits)
        case .failed, nil:
            outgoing?.report(loop.context.report)
            return .end(.isOver)
        }
    }

    private func endAnswer(_ loop: EventLoop) -> Step {
        let keepsAlive = outgoing?.keepsAlive ?? false
        outgoing?.report(loop.context.report)
        outgoing = nil
        let end = loop.context.end
        guard keepsAlive, !end.isAtOnce else { return endSending(loop) }
        phase = .idle
        deadline =
            loop.now + (end.stopTime == nil ? loop.context.configuration.idleTimeout : Self.lastCall)
        // A client with many requests in a row lets others go first.
        return input.isEmpty ? .again : .end(.yields)
    }

    /// Ends this side. The client's is read on for a while: closing with unread bytes would reset the connection, and the
    /// reset overtakes the answer (RFC 9112 section 9.6).
    private func endSending(_ loop: EventLoop) -> Step {
        guard shutdown(socket, Int32(SHUT_WR)) == 0 else { return .end(.isOver) }
        phase = .lingering
        deadline = loop.now + Self.lingerTime
        return .again
    }

    private func linger(_ loop: EventLoop) -> Step {
        while isReadable {
            let count = receiveBytes(loop)
            guard count > 0 else {
                if count < 0, errno == EAGAIN { isReadable = false; break }
                return .end(.isOver)
            }
            discarded += count
            if discarded > Self.lingerBytes { return .end(.isOver) }
        }
        return .end(loop.context.end.isAtOnce ? .isOver : .waits)
    }
}
