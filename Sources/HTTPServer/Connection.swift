import CMarqueeSystem
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
        /// A thread, to store what has come of a body.
        case storing
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
    private var handledHead: RequestHead?
    /// When the last byte of that request came.
    private var requestEnd = ContinuousClock.now
    /// The answer that the handler gives later; nil for a write, which is carried out without its client too. The handler
    /// owns it: once the handler has dropped it, it answers by itself.
    weak var pending: PendingAnswer?
    private var outgoing: OutgoingAnswer?
    private var lingering: Lingering?

    /// How long a client that is turned away has for its request.
    private static let turnAwayTime = Duration.seconds(1)

    init(_ descriptor: Int32, key: ConnectionKey, peer: Peer, isTurnedAway: Bool) {
        socket = ClientSocket(descriptor)
        self.key = key
        self.peer = peer
        self.isTurnedAway = isTurnedAway
    }

    /// Whether the connection owes no answer: it has no whole request.
    private var owesNoAnswer: Bool {
        switch phase {
        case .idle, .head, .body, .storing, .lingering: true
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
                case .storing, .handling, .pausing: Step.end(.waits)
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
        socket.record(events)
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
            if case .end(let outcome) = endSending(unread: 0, loop) { return outcome }
            return advance(loop)
        case .storing: return .waits
        case .handling:
            deadline = nil
            pending?.abandon(.plain(.serviceUnavailable, "too many requests wait; try again"))
            return .waits
        case .idle, .writing, .lingering: return .isOver
        }
    }

    /// Sends the handler's answer; or reads on, without an answer, when a part of a body is stored.
    func answer(_ response: HTTPResponse?, _ loop: EventLoop) -> Outcome {
        switch (phase, response) {
        case (.handling, let response?):
            pending = nil
            _ = send(response, to: handledHead, loop)
        case (.storing, let failure?): _ = refuse(failure, loop)
        case (.storing, nil):
            incoming?.excuse(until: loop.now)
            phase = .body
        default: return .waits
        }
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
        if phase == .idle { deadline = loop.now + loop.context.configuration.lastCall }
        return outcome
    }

    func close(_ loop: EventLoop) {
        pending?.abandon()
        outgoing?.letGo(loop.context.answerMemory, now: loop.now)
        socket.close()
    }
}

extension Connection {
    /// The server reads past an unwanted body of at most this size, so that the connection can stay open.
    private static let unwantedBody = 64 << 10

    func readHead(_ loop: EventLoop) -> Step {
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
        var head: RequestHead
        do {
            head = try RequestHead(parsing: bytes)
        } catch {
            return refuse(.refusing(error), loop)
        }
        head.id = loop.context.requestIDs.id(of: head)
        if isTurnedAway { return refuse(.plain(.serviceUnavailable, "too many connections"), loop) }
        guard head.target.utf8.count <= loop.context.configuration.targetLimit else {
            return refuse(.plain(.targetTooLong), loop)
        }
        // HTTP defines no other expectation (RFC 9110 section 10.1.1).
        if let expectation = head.fields["expect"], head.minorVersion == 1,
            !expectation.equalsIgnoringCase("100-continue")
        {
            return refuse(.plain(.expectationFailed), loop)
        }
        switch loop.context.handler.admit(head, from: peer) {
        case .answer(var response):
            guard head.framing != .none else { return send(response, to: head, loop) }
            // After this answer the client may send its body or leave it out. Its next bytes are then ambiguous.
            if head.expectsContinue {
                response.closes = true
                return send(response, to: head, loop)
            }
            return beginBody(of: head, for: .discarding(response), limit: Self.unwantedBody, loop)
        case .later(let start): return wait(head, closes: head.framing != .none, loop, for: start)
        case .handle(let bodyLimit, let respond):
            guard head.framing != .none else { return handle(head, .none, respond, loop) }
            let spool = BodySpool(
                budget: loop.context.bodyMemory, folder: loop.context.configuration.temporaryFolder,
                calls: loop.context.fileCalls)
            return beginBody(of: head, for: .handling(spool, respond), limit: bodyLimit, loop)
        }
    }

    private func beginBody(
        of head: RequestHead, for purpose: IncomingRequest.Purpose, limit: Int, _ loop: EventLoop
    ) -> Step {
        do {
            let request = try IncomingRequest(head: head, purpose: purpose, limit: limit, start: loop.now)
            if head.expectsContinue, input.isEmpty, !sendContinue() { return .end(.isOver) }
            deadline = request.deadline(loop.context.configuration)
            incoming = request
            phase = .body
            return .again
        } catch {
            return send(IncomingRequest.answer(to: error, instead: purpose), to: head, loop)
        }
    }

    func readBody(_ loop: EventLoop) -> Step {
        guard let head = incoming?.head, let progress = incoming?.take(from: &input) else {
            return .end(.isOver)
        }
        switch progress {
        case .handle(let body, let respond):
            incoming = nil
            return handle(head, body, respond, loop)
        case .store(let spool): return store(spool, loop)
        case .answer(let response):
            incoming = nil
            return send(response, to: head, loop)
        case .needsMore:
            let step = receive(loop)
            deadline = incoming?.deadline(loop.context.configuration)
            return step
        }
    }

    /// Stores what has come of a body, on a thread that may block. Meanwhile no more is read.
    private func store(_ spool: BodySpool, _ loop: EventLoop) -> Step {
        do throws(ResourceShortage) {
            try loop.context.bodyThreads.enqueue { [mailbox = loop.mailbox, key] in
                mailbox.send((key, IncomingRequest.failure(storing: spool)))
            }
        } catch {
            return refuse(.plain(.serviceUnavailable), loop)
        }
        incoming?.waitStart = loop.now
        phase = .storing
        deadline = nil
        return .end(.waits)
    }

    /// Hands the request to the handler, on a thread that may block.
    private func handle(
        _ head: RequestHead, _ body: RequestBody, _ respond: @escaping Admission.Responder, _ loop: EventLoop
    ) -> Step {
        wait(head, closes: false, loop) { [context = loop.context] pending in
            pending.wait(for: head.isRead ? context.readers : context.writers) {
                pending.send(respond(body))
            }
        }
    }

    /// Waits for the answer, which `start` lets others give later and from any thread.
    /// - Parameter closes: whether the body stays unread, so that nothing tells where the next request begins.
    private func wait(
        _ head: RequestHead, closes: Bool, _ loop: EventLoop, for start: (PendingAnswer) -> Void
    ) -> Step {
        if head.isRead {
            // A client that asks and closes at once has mostly gone before its request is read.
            socket.lookForEnd()
            if socket.hasClientEnded { return .end(.isOver) }
        }
        phase = .handling
        deadline = loop.now + loop.context.configuration.queueTime
        handledHead = head
        requestEnd = loop.now
        let pending = PendingAnswer { [mailbox = loop.mailbox, key] response in
            var response = response
            response.closes = response.closes || closes
            mailbox.send((key, response))
        }
        self.pending = head.isRead ? pending : nil
        start(pending)
        return .end(.waits)
    }

    /// Reads the bytes that have come into `input`.
    private func receive(_ loop: EventLoop) -> Step {
        guard socket.isReadable else { return .end(.waits) }
        switch socket.read(into: &loop.readBuffer) {
        case .bytes(let count):
            input.append(loop.readBuffer[..<count])
            return .again
        case .nothingYet: return .end(.waits)
        case .ended: return .end(.isOver)
        }
    }

    private func sendContinue() -> Bool {
        socket.sendWhole(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
}

extension Connection {
    /// The most bytes of an answer that one turn sends. Then other connections go first.
    private static let turnBytes = 1 << 20
    /// The same for bytes that are thrown away, in reads.
    private static let turnReads = 16

    /// Answers a request that cannot be served, and ends the connection.
    func refuse(_ response: HTTPResponse, _ loop: EventLoop) -> Step {
        var response = response
        response.closes = true
        return send(response, to: incoming.take()?.head, loop)
    }

    /// Begins an answer; `head` is nil where the server understood no request.
    func send(_ response: HTTPResponse, to head: RequestHead?, _ loop: EventLoop) -> Step {
        let configuration = loop.context.configuration
        var response = response
        if loop.context.answerMemory.isFull(for: response.body) {
            response = .plain(.serviceUnavailable, "too many answers wait for their clients")
            loop.context.counters.countShed()
        }
        loop.context.counters.countRequest(response.route, response.status)
        let end = loop.context.end
        // While draining, a request that already waits behind this one is answered too.
        let isLast = end.isAtOnce || end.isDraining && input.isEmpty
        let keepAlive = head?.wantsKeepAlive ?? false && !response.closes && !isLast
        outgoing = OutgoingAnswer(
            response, to: head, from: peer, keepAlive: keepAlive, date: loop.dateText(),
            start: handledHead == nil ? .now : requestEnd)
        handledHead = nil
        if configuration.latency > .zero, end.stopTime == nil {
            phase = .pausing
            deadline = .now + configuration.latency
            return .end(.waits)
        }
        phase = .writing
        return .again
    }

    func write(_ loop: EventLoop) -> Step {
        guard socket.isWritable else { return .end(.waits) }
        let configuration = loop.context.configuration
        deadline = loop.now + configuration.writeTimeout
        let pace = loop.context.stopTime == nil ? configuration.bandwidth.map(SendingPace.init) : nil
        if outgoing?.departure == nil { outgoing?.departure = .now }
        let progress = outgoing?.writer.write(
            to: socket.descriptor, limit: pace?.pieceBytes ?? Self.turnBytes
        ) {
            loop.context.counters.countSent($0)
        }
        switch progress {
        case .done: return endAnswer(loop)
        case .blocked:
            socket.isWritable = false
            outgoing?.hold(loop.context.answerMemory)
            return .end(.waits)
        case .partial:
            outgoing?.hold(loop.context.answerMemory)
            guard let pace, let outgoing else { return .end(.yields) }
            phase = .pausing
            deadline = (outgoing.departure ?? .now) + pace.time(ofBytes: outgoing.writer.sentOfBody)
            return .end(.waits)
        case .failed, nil:
            outgoing?.report(loop.context.report)
            return .end(.isOver)
        }
    }

    private func endAnswer(_ loop: EventLoop) -> Step {
        let (keepsAlive, unread) = (outgoing?.keepsAlive ?? false, outgoing?.unread ?? 0)
        outgoing?.report(loop.context.report)
        outgoing?.letGo(loop.context.answerMemory, now: loop.now)
        outgoing = nil
        let end = loop.context.end
        guard keepsAlive, !end.isAtOnce else { return endSending(unread: unread, loop) }
        phase = .idle
        let configuration = loop.context.configuration
        deadline = loop.now + (end.stopTime == nil ? configuration.idleTimeout : configuration.lastCall)
        // A client that sends many requests in a row lets other connections go first.
        return input.isEmpty ? .again : .end(.yields)
    }

    /// Ends this side, and goes on reading for a while. Closing with unread bytes would reset the connection, and the
    /// reset overtakes the answer (RFC 9112 section 9.6).
    /// - Parameter unread: the most bytes that may still come of the request.
    func endSending(unread: Int, _ loop: EventLoop) -> Step {
        guard socket.endSending() else { return .end(.isOver) }
        phase = .lingering
        lingering = Lingering(unread: unread, loop.context, now: loop.now)
        deadline = lingering?.deadline
        return .again
    }

    func linger(_ loop: EventLoop) -> Step {
        for _ in 0..<Self.turnReads where socket.isReadable {
            switch socket.read(into: &loop.readBuffer) {
            case .bytes(let count): if lingering?.discard(count) != true { return .end(.isOver) }
            case .nothingYet: break
            case .ended: return .end(.isOver)
            }
        }
        deadline = lingering?.deadline
        if loop.context.end.isAtOnce { return .end(.isOver) }
        return .end(socket.isReadable ? .yields : .waits)
    }
}

/// The end of a connection, whose further bytes are thrown away. A client may send its whole request before it reads the
/// answer; nginx makes 502 of an answer whose connection is reset meanwhile. So the rest of a request is read too, if it
/// is not too long, comes no slower than a body may, and not too many other connections do the same.
private final class Lingering {
    /// The most bytes and the longest time of the rest of a request.
    private static let (longBytes, longTime) = (64 << 20, Duration.seconds(10))
    /// The same of other bytes, and of a client that sends nothing.
    private static let (shortBytes, shortTime) = (1 << 20, Duration.seconds(1))

    private let context: ServerContext
    private let start: ContinuousClock.Instant
    /// Whether it has a place among those that read the rest of a request.
    private let isLong: Bool
    private let limit: Int
    private var discarded = 0

    init(unread: Int, _ context: ServerContext, now: ContinuousClock.Instant) {
        self.context = context
        start = now
        isLong = unread > 0 && context.lingerPlaces.take(1)
        limit = max(Self.shortBytes, isLong ? min(unread, Self.longBytes) : 0)
    }

    deinit { if isLong { context.lingerPlaces.giveBack(1) } }

    /// When the connection ends.
    var deadline: ContinuousClock.Instant {
        let granted = Duration.milliseconds(discarded * 1000 / context.configuration.minimumBodyRate)
        return start + (isLong ? min(Self.longTime, Self.shortTime + granted) : Self.shortTime)
    }

    /// Counts bytes. Returns whether more may come.
    func discard(_ count: Int) -> Bool {
        discarded += count
        return discarded <= limit
    }
}

/// How fast a body is sent with a limited bandwidth: in pieces, each sent when those before it have had their time.
struct SendingPace {
    /// Bytes a second.
    let bandwidth: Int

    private static let piecesPerSecond = 20

    var pieceBytes: Int { max(1, bandwidth / Self.piecesPerSecond) }

    /// How long after its beginning a body goes on that has had so many bytes sent.
    func time(ofBytes count: Int) -> Duration { .seconds(Double(count) / Double(bandwidth)) }
}

/// An answer that is being sent, and its report. A class, so that the many idle connections have no room for it.
final class OutgoingAnswer {
    var writer: ResponseWriter
    /// Whether the connection stays open after it.
    let keepsAlive: Bool
    /// The most bytes that may still come of the request, without which it was answered.
    let unread: Int
    /// When sending began.
    var departure: ContinuousClock.Instant?
    /// The body's key among the answers that wait; nil while it does not wait.
    private var heldKey: UInt?
    /// The report, but for its time; nil if the server understood no request.
    private let answer: HTTPServer.Answer?
    private let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - head: the request's head; nil if the server understood no request.
    ///   - date: the value of the field Date.
    ///   - start: when the request's last byte came.
    init(
        _ response: HTTPResponse, to head: RequestHead?, from peer: Peer, keepAlive: Bool, date: String,
        start: ContinuousClock.Instant
    ) {
        let isHead = head?.method == "HEAD"
        let body = isHead || response.status == .notModified ? HTTPResponse.Body.none : response.body
        writer = ResponseWriter(
            head: response.head(
                date: date, keepAlive: keepAlive, minorVersion: head?.minorVersion ?? 1, id: head?.id ?? ""),
            body: body)
        keepsAlive = keepAlive
        unread =
            switch head?.framing {
            case .some(.none): 0
            case .length(let length): length
            case .chunked, nil: .max
            }
        self.start = start
        answer = head.map { head in
            HTTPServer.Answer(
                method: head.method, target: head.target, status: response.status.rawValue, bytes: body.count,
                time: .zero, peer: peer, forwardedFor: head.fields.values(of: "x-forwarded-for"),
                userAgent: head.fields["user-agent"], referer: head.fields["referer"],
                trace: head.fields["traceparent"], cacheStatus: response.fields["cache-status"], id: head.id,
                route: response.route,
                writer: response.writer)
        }
    }

    /// Counts the body among those that clients have not taken.
    func hold(_ memory: AnswerMemory) {
        if heldKey == nil { heldKey = memory.enter(writer.body) }
    }

    /// Ends that: the answer is sent, or its client is gone.
    func letGo(_ memory: AnswerMemory, now: ContinuousClock.Instant) {
        if let key = heldKey.take() { memory.leave(key, writer.body.count, now: now) }
    }

    func report(_ report: (@Sendable (HTTPServer.Answer) -> Void)?) {
        guard let report, var answer else { return }
        answer.time = start.duration(to: .now)
        report(answer)
    }
}
