import FoundationEssentials
import HTTPSemantics

/// The answer to one attempt of an upload.
struct UploadAnswer: Sendable {
    let head: ResponseHead
    let body: [UInt8]
    let isWhole: Bool
    /// When the head arrived, in seconds since 1970.
    let received: Int
}

extension Uploader {
    /// Sends the request of an attempt; again after a challenge for which the authenticator has a credential.
    func exchange(
        _ attempt: UploadAttempt, _ work: Work, spent: Duration, _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> UploadAnswer {
        let ownBroker = attempt.request.fields["authorization"] == nil ? broker : nil
        return try await AuthenticationBroker.exchange(
            by: ownBroker, with: attempt.url,
            challenge: { $0.head.status == 401 ? $0.head.fields : nil }
        ) { authorization throws(ImageLoadingError) in
            try await send(attempt, authorization, work, spent: spent, &metrics)
        }
    }

    private func send(
        _ attempt: UploadAttempt, _ authorization: Authorization?, _ work: Work, spent: Duration,
        _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> UploadAnswer {
        var fields = attempt.fields(configuration)
        if let authorization { fields["Authorization"] = authorization.field }
        var request = TransportRequest(
            url: attempt.url, fields: fields, timeouts: configuration.timeouts,
            security: configuration.security.transportSecurity(for: Origin(attempt.url)),
            addresses: configuration.security.fetchGuard?.addresses)
        request.method = attempt.method
        request.body = attempt.body
        request.timeouts.total -= spent
        guard request.timeouts.total > .zero else {
            throw .timedOut(
                url: attempt.url.displayText, phase: .total, seconds: configuration.timeouts.total.seconds)
        }
        let total = attempt.body?.count ?? 0
        let answer = AnswerBuffer(limit: attempt.request.answerLimit) { sent in
            work.tell(.sent(UploadProgress(sent: sent, total: total)))
        }
        defer { metrics = answer.metrics }
        let head: ResponseHead
        var isBroken = false
        do {
            head = try await transport.perform(request, into: answer)
        } catch {
            // The status shows whether the write succeeded: it must not be lost, and the request must not be repeated.
            guard !attempt.method.isSafe, let known = answer.head, error.isBreak else { throw error }
            head = known
            isBroken = true
        }
        let (bytes, isCut) = answer.body
        return UploadAnswer(
            head: head, body: bytes, isWhole: !isBroken && !isCut, received: answer.received)
    }
}

extension ImageLoadingError {
    /// Whether the answer was incomplete.
    fileprivate var isBreak: Bool {
        switch self {
        case .connectionLost, .truncated, .timedOut: true
        default: false
        }
    }
}
