import HTTPSemantics

extension Connection {
    /// The most bytes of an answer that one turn sends. Then other connections go first.
    private static let turnBytes = 1 << 20
    /// The most bytes that are read and thrown away after the last answer, and for how long.
    private static let lingerBytes = 1 << 20
    private static let lingerTime = Duration.seconds(1)

    /// Answers a request that cannot be served, and ends the connection.
    func refuse(_ response: HTTPResponse, _ loop: EventLoop) -> Step {
        incoming?.abandon()
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
        let keepsAlive = outgoing?.keepsAlive ?? false
        outgoing?.report(loop.context.report)
        outgoing?.letGo(loop.context.answerMemory, now: loop.now)
        outgoing = nil
        let end = loop.context.end
        guard keepsAlive, !end.isAtOnce else { return endSending(loop) }
        phase = .idle
        deadline =
            loop.now + (end.stopTime == nil ? loop.context.configuration.idleTimeout : Self.lastCall)
        // A client that sends many requests in a row lets other connections go first.
        return input.isEmpty ? .again : .end(.yields)
    }

    /// Ends this side, and goes on reading for a while. Closing with unread bytes would reset the connection, and the
    /// reset overtakes the answer (RFC 9112 section 9.6).
    func endSending(_ loop: EventLoop) -> Step {
        guard socket.endSending() else { return .end(.isOver) }
        phase = .lingering
        deadline = loop.now + Self.lingerTime
        return .again
    }

    func linger(_ loop: EventLoop) -> Step {
        while socket.isReadable {
            switch socket.read(into: &loop.readBuffer) {
            case .bytes(let count):
                discarded += count
                if discarded > Self.lingerBytes { return .end(.isOver) }
            case .nothingYet: break
            case .ended: return .end(.isOver)
            }
        }
        return .end(loop.context.end.isAtOnce ? .isOver : .waits)
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
