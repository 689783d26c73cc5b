import Glibc
import HTTPSemantics

/// One client's requests, answered in order until either side ends it. Used by one thread.
struct Connection {
    private let client: ClientSocket
    private let server: Server
    private var received = HeadBuffer()

    /// Bodies up to this size are read past, so that the connection can go on; no request here needs one.
    private static let maximumBody = 64 << 10
    /// The time for a client that is turned away to say what it wanted.
    private static let turnAwayTime = Duration.seconds(1)

    private var configuration: CatalogueService.Configuration { server.configuration }

    init(client: ClientSocket, server: Server) {
        self.client = client
        self.server = server
    }

    /// Answers requests until the client leaves, breaks the protocol, is too slow, or the service stops.
    mutating func run() {
        while !server.stop.isRaised {
            switch nextHead(idleTimeout: configuration.idleTimeout) {
            case .success(let bytes):
                guard answer(bytes) else { return }
            case .failure(.silence): return
            case .failure(.refused(let plan)): return refuse(plan)
            }
        }
    }

    /// Reads one request and answers that there are too many connections.
    mutating func turnAway() {
        if case .failure(.silence) = nextHead(idleTimeout: Self.turnAwayTime) { return }
        refuse(.plain(.serviceUnavailable, "too many connections", closes: true))
    }

    private enum NoHead: Error {
        /// The client left, said nothing, or the service stops: nobody waits for an answer.
        case silence
        case refused(ResponsePlan)
    }

    /// The next request's head. Its time counts from its first byte; before that the connection is idle.
    private mutating func nextHead(idleTimeout: Duration) -> Result<[UInt8], NoHead> {
        var hasBegun = false
        var deadline = ContinuousClock.now + idleTimeout
        while true {
            let head = received.takeHead()
            guard (head?.count ?? received.count) <= configuration.headerLimit else {
                return .failure(.refused(.plain(.headerFieldsTooLarge, closes: true)))
            }
            if let head { return .success(head) }
            if !hasBegun, !received.isEmpty {
                hasBegun = true
                deadline = .now + configuration.headerTimeout
            }
            switch client.receive(until: deadline) {
            case .bytes(let bytes): received.append(bytes)
            case .timedOut where hasBegun: return .failure(.refused(.plain(.requestTimeout, closes: true)))
            case .timedOut, .closed, .stopped: return .failure(.silence)
            }
        }
    }

    /// Answers one request; false when the connection is over.
    private mutating func answer(_ bytes: [UInt8]) -> Bool {
        let request: RequestHead
        let bodyLength: Int
        do {
            request = try RequestHead(parsing: bytes)
            bodyLength = try request.bodyLength()
        } catch {
            refuse(.refusing(error))
            return false
        }
        if bodyLength > 0 {
            guard bodyLength <= Self.maximumBody else {
                refuse(.plain(.contentTooLarge, closes: true))
                return false
            }
            guard continueIfAsked(request), skipBody(bodyLength) else { return false }
        }
        return serve(request)
    }

    /// A client may wait to be told to send its body (RFC 9110 section 10.1.1).
    private func continueIfAsked(_ request: RequestHead) -> Bool {
        guard request.minorVersion == 1, request.value(of: "expect")?.lowercased() == "100-continue" else {
            return true
        }
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        return client.send(interim[...], more: false, timeout: configuration.writeTimeout)
    }

    private mutating func skipBody(_ length: Int) -> Bool {
        var remaining = length - received.discard(length)
        let deadline = ContinuousClock.now + configuration.headerTimeout
        while remaining > 0 {
            guard case .bytes(let bytes) = client.receive(atMost: remaining, until: deadline) else {
                return false
            }
            remaining -= bytes.count
        }
        return true
    }

    private func serve(_ request: RequestHead) -> Bool {
        guard ["GET", "HEAD"].contains(request.method) else {
            return send(.plain(.methodNotAllowed), to: request)
        }
        if server.counters.drawFailure(rate: configuration.failureRate) {
            return send(.plain(.internalServerError, "as configured"), to: request)
        }
        let path: RequestPath
        do {
            path = try RequestPath(target: request.target)
        } catch {
            return send(.plain(error == .malformed ? .badRequest : .notFound), to: request)
        }
        var names = path.names
        if names.isEmpty, let catalogue = server.folder.catalogueName() { names = [Array(catalogue.utf8)] }
        guard let name = names.last else { return send(.text(index()), to: request) }
        do {
            let file = try server.folder.open(names)
            let plan = ResponsePlan.serving(
                file.metadata, mediaType: MediaType.of(name), to: request,
                cacheSeconds: configuration.cacheSeconds,
                now: time(nil))
            return send(plan, file: file.descriptor, to: request)
        } catch {
            return send(.plain(error == .exhausted ? .serviceUnavailable : .notFound), to: request)
        }
    }

    private func index() -> String {
        (["A film catalogue."] + server.folder.catalogueNames()).joined(separator: "\n") + "\n"
    }

    /// Answers what is no request that can be served, and ends the connection in a way that it arrives.
    private func refuse(_ plan: ResponsePlan) {
        if send(plan, file: nil, isHead: false, keepAlive: false, minorVersion: 1) { client.linger() }
    }

    /// Sends an answer; false when the connection is over.
    private func send(_ plan: ResponsePlan, file: Int32? = nil, to request: RequestHead) -> Bool {
        let keepAlive = request.wantsKeepAlive && !plan.closes && !server.stop.isRaised
        let start = ContinuousClock.now
        defer {
            server.report?(
                CatalogueService.Answer(
                    method: request.method, target: request.target, status: plan.status.rawValue,
                    bytes: request.method == "HEAD" ? 0 : plan.body.count, time: start.duration(to: .now)))
        }
        let isSent = send(
            plan, file: file, isHead: request.method == "HEAD", keepAlive: keepAlive,
            minorVersion: request.minorVersion)
        if isSent, !keepAlive { client.linger() }
        return isSent && keepAlive
    }

    private func send(
        _ plan: ResponsePlan, file: Int32?, isHead: Bool, keepAlive: Bool, minorVersion: Int
    ) -> Bool {
        server.counters.countRequest(plan.status)
        if configuration.latency > .zero { server.stop.pause(until: .now + configuration.latency) }
        let head = plan.head(now: time(nil), keepAlive: keepAlive, minorVersion: minorVersion)
        let timeout = configuration.writeTimeout
        switch isHead ? .none : plan.body {
        case .none: return client.send(head[...], more: false, timeout: timeout)
        case .bytes(let body): return client.send((head + body)[...], more: false, timeout: timeout)
        case .file(let part):
            guard client.send(head[...], more: !part.isEmpty, timeout: timeout), let file else {
                return false
            }
            let body = FileBody(file: file, part: part, client: client, stop: server.stop, timeout: timeout)
            return body.send(bandwidth: configuration.bandwidth)
        }
    }
}
