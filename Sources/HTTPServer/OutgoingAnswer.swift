import HTTPSemantics

/// An answer that is being sent, and its report. A class, so that the many idle connections have no room for it.
final class OutgoingAnswer {
    var writer: ResponseWriter
    /// Whether the connection stays open after it.
    let keepsAlive: Bool
    /// When sending began.
    var departure: ContinuousClock.Instant?
    /// The body's key among the answers that wait; nil while it does not wait.
    private var heldKey: UInt?
    private let method, target: String
    private let status: HTTPStatus
    private let bytes: Int
    private let start: ContinuousClock.Instant
    private let peer: Peer
    private let forwardedFor: [String]
    private let cacheStatus: String?
    private let id: String
    private let route: HTTPRoute
    private let tokenName: String?

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
        method = head?.method ?? ""
        target = head?.target ?? ""
        status = response.status
        bytes = body.count
        self.start = start
        self.peer = peer
        forwardedFor = head?.fields.values(of: "x-forwarded-for") ?? []
        cacheStatus = response.fields["cache-status"]
        id = head?.id ?? ""
        route = response.route
        tokenName = response.writer
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
        guard let report, !method.isEmpty else { return }
        report(
            HTTPServer.Answer(
                method: method, target: target, status: status.rawValue, bytes: bytes,
                time: start.duration(to: .now), peer: peer, forwardedFor: forwardedFor,
                cacheStatus: cacheStatus, id: id, route: route, writer: tokenName))
    }
}
