import Coalescing
import FoundationEssentials
import HTTPSemantics

/// An upload as a fetch: what it sends, and what the answers mean.
final class Upload: FetchExchange {
    private let uploader: Uploader
    private let request: UploadRequest
    private let flight: UploadFlight
    private(set) var url: URL
    private(set) var metrics: TransferMetrics?
    private var origin: WebOrigin
    private var method: RequestMethod
    private var body: OpenBody?
    /// Whether the last attempt may have taken effect: not if it was redirected, answered with a challenge, or did not
    /// reach the server.
    private var mayHaveTakenEffect = false
    /// Whether an attempt before the last one may have taken effect.
    private var isRepeated = false

    init(_ request: UploadRequest, _ body: OpenBody?, _ flight: UploadFlight, _ uploader: Uploader) {
        self.uploader = uploader
        self.request = request
        self.flight = flight
        url = request.url
        origin = WebOrigin(url)
        method = request.method
        self.body = body
    }

    var host: String { origin.hostAndPort }
    var mayAuthenticate: Bool { request.fields["authorization"] == nil }
    var overridesCircuitBreaker: Bool { false }

    func mayStart() -> Bool { true }
    func settle() -> UploadResponse? { nil }

    /// Whether the request may reach the server twice.
    private var mayBeRepeated: Bool { method == request.method ? request.mayBeRepeated : method.isIdempotent }

    func retries(after failure: FailedAttempt.Reason) -> Bool {
        if case .status(500) = failure, request.isAnsweredBy500 { return false }
        return UploadRules.retries(after: failure, mayBeRepeated: mayBeRepeated)
    }

    func changesMethod(_ redirect: RedirectStep) -> Bool {
        method != .get && rule(redirect.head, to: redirect.target) == .get
    }

    func follow(_ redirect: RedirectStep) throws(ImageLoadingError) {
        let rule = rule(redirect.head, to: redirect.target)
        if rule == .refused {
            throw .redirectRefused(
                url: request.url.displayText, location: redirect.target.displayText,
                reason: "a body must not be sent to another origin")
        }
        url = redirect.target
        origin = WebOrigin(url)
        if rule == .get { (method, body) = (.get, nil) }
    }

    private func rule(_ head: ResponseHead, to target: URL) -> UploadRules.Redirect {
        UploadRules.redirect(
            status: head.status, method: method, staysAtOrigin: SecurityPolicy.haveSameOrigin(target, url))
    }

    func value(of answer: UploadResponse) -> UploadResponse { answer }

    // MARK: One attempt

    func attempt(
        _ authorization: Authorization?, limit: Duration
    ) async throws(ImageLoadingError) -> FetchStep<UploadResponse> {
        isRepeated = isRepeated || mayHaveTakenEffect
        mayHaveTakenEffect = false
        var fields = fields
        if let authorization { fields["Authorization"] = authorization.field }
        var request = uploader.context.request(to: url, origin, fields, limit: limit)
        request.method = method
        request.body = body
        request.mayBeRepeated = mayBeRepeated
        let total = body?.count ?? 0
        let answer = AnswerBuffer(limit: self.request.answerLimit) { [flight] sent in
            flight.emit(.sent(UploadProgress(sent: sent, total: total)))
        }
        defer { metrics = answer.metrics }
        try await uploader.context.prepare(&request)
        mayHaveTakenEffect = true
        let head: ResponseHead
        var isBroken = false
        do {
            head = try await uploader.context.transport.send(request, into: answer)
        } catch {
            // The status shows whether the write succeeded: it must not be lost, and the request must not be repeated.
            if case .connectionFailed = error { mayHaveTakenEffect = false }
            guard !method.isSafe, let known = answer.head, error.isBreak else { throw error }
            head = known
            isBroken = true
        }
        await uploader.invalidate(after: head, to: url, method, self.request.fields)
        if [301, 302, 303, 307, 308].contains(head.status),
            let target = try uploader.context.configuration.security.redirect(head, from: url),
            rule(head, to: target) != .none
        {
            mayHaveTakenEffect = false
            return .redirect(RedirectStep(head: head, target: target, received: answer.received, delay: 0))
        }
        if head.status == 401 { mayHaveTakenEffect = false }
        let (bytes, isCut) = answer.body
        return .answer(
            UploadResponse(
                head: head, body: bytes, isWhole: !isBroken && !isCut, url: url, isRepeated: isRepeated,
                received: answer.received))
    }

    /// Fields about a body (RFC 9110 section 8), which are left out when a redirect turns the request into a GET.
    private static let aboutBody = [
        "content-type", "content-encoding", "content-language", "content-location",
    ]

    /// The fields to send: the library's own; and the configuration's and the caller's, at the request's origin.
    private var fields: HeaderFields {
        let configuration = uploader.context.configuration
        var fields: HeaderFields = [
            "Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": configuration.userAgent,
        ]
        if let mediaType = body == nil ? nil : request.body?.mediaType { fields["Content-Type"] = mediaType }
        if SecurityPolicy.haveSameOrigin(url, request.url) {
            fields.replace(with: configuration.fields)
            fields.replace(with: request.fields)
        }
        if method != request.method {
            // The conditions were about the write.
            for name in Self.aboutBody + Validators.conditional { fields[name] = nil }
        }
        // The transport sets these.
        for name in ["content-length", "transfer-encoding", "expect"] { fields[name] = nil }
        return fields
    }
}

/// One upload.
typealias UploadFlight = Flight<UploadResponse, ImageLoadingError, LoadEvent>

extension UploadResponse: FetchAnswer {}

extension ImageLoadingError {
    /// Whether the answer was incomplete.
    fileprivate var isBreak: Bool {
        switch self {
        case .connectionLost, .truncated, .timedOut: true
        default: false
        }
    }
}

/// The rules for redirects, retries and invalidation of uploads.
enum UploadRules {
    /// How to follow a redirect.
    enum Redirect: Equatable {
        /// The answer is not a redirect to follow.
        case none
        /// Send a GET without the body to the target.
        case get
        /// Send the same request, with its whole body, to the target.
        case again
        /// The body must not be sent to the target.
        case refused
    }

    /// RFC 9110 section 15.4: a 303 becomes a GET; so does a 301 or 302 of a POST, as in all browsers. All others keep
    /// method and body, but must not leave the origin.
    static func redirect(status: Int, method: RequestMethod, staysAtOrigin: Bool) -> Redirect {
        switch status {
        case 303 where method != .head: .get
        case 301 where method == .post, 302 where method == .post: .get
        case 301, 302, 303, 307, 308: method.isSafe || staysAtOrigin ? .again : .refused
        default: .none
        }
    }

    /// Whether a request that failed so is sent again: it did not reach the server, or may reach it twice. A server may
    /// have performed the write already, although it or its proxy answers that it is busy.
    static func retries(after failure: FailedAttempt.Reason, mayBeRepeated: Bool) -> Bool {
        if case .error(.connectionFailed) = failure { return true }
        return mayBeRepeated && RetryPolicy.covers(failure)
    }

    /// Whether the answer invalidates the URL in caches (RFC 9111 section 4.4).
    static func invalidates(_ method: RequestMethod, status: Int) -> Bool {
        !method.isSafe && (200..<400).contains(status)
    }
}
