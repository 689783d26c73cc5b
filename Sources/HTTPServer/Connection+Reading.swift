import HTTPSemantics
import SystemSupport

extension Connection {
    /// The server reads past an unwanted body of at most this size, so that the connection can stay open.
    static let unwantedBody = 64 << 10

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

    /// Hands the request to the handler, on a thread that may block.
    private func handle(_ head: RequestHead, _ body: RequestBody, _ loop: EventLoop) -> Step {
        phase = .handling
        deadline = nil
        handledHead = head
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

    /// Hands the request to the handler, which answers later and from any thread.
    private func wait(
        for start: @Sendable (PendingAnswer) -> Void, _ head: RequestHead, _ loop: EventLoop
    ) -> Step {
        phase = .handling
        deadline = nil
        handledHead = head
        requestEnd = loop.now
        let hasBody = head.framing != .none
        let pending = PendingAnswer { [mailbox = loop.mailbox, key] response in
            var response = response
            // The body stays unread, so nothing tells where the next request begins.
            if hasBody { response.closes = true }
            mailbox.post(response, for: key)
        }
        self.pending = pending
        start(pending)
        return .end(socket.hasClientEnded ? .isOver : .waits)
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
