import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// One attempt of a transfer, from its slot to its answer.
extension ImageDownloader {
    /// The result of an attempt.
    enum Arrival {
        /// Indirect, since it is large and passed on often.
        indirect case answer(DownloadedImage)
        case redirect(RedirectStep)
        /// The partial body cannot be resumed.
        case unusablePartial

        /// The fields of an answer that is an authentication challenge.
        var challenge: HTTPFields? {
            guard case .answer(let answer) = self, answer.head.status == 401 else { return nil }
            return answer.head.fields
        }
    }

    /// Authenticates: first with the last accepted credential, then with the authenticator's.
    nonisolated func answerChallenges(
        _ attempt: TransferAttempt, spent: Duration, _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> Arrival {
        if let data = attempt.request.data {
            return .answer(try await DownloadedImage(from: data, of: attempt.url, configuration))
        }
        let broker = attempt.request.fields["authorization"] == nil ? broker : nil
        return try await AuthenticationBroker.exchange(
            by: broker, with: attempt.url, challenge: \.challenge
        ) { authorization throws(ImageLoadingError) in
            try await fetch(attempt, authorization, spent: spent, &metrics)
        }
    }

    /// The partial body of an earlier transfer.
    private nonisolated func earlierPartial(_ location: BodyStorage.PartialLocation?, from url: URL) async
        -> PartialFile?
    {
        guard let location, location.store.mayHavePartial(of: location.key) else { return nil }
        // Losing the error is right: without a thread the transfer starts from the first byte.
        return (try? await threads.run { location.store.partial(of: location.key, from: url) }) ?? nil
    }

    /// The total timeout has run out, over all attempts.
    private nonisolated func tookTooLong(_ attempt: TransferAttempt) -> ImageLoadingError {
        .timedOut(
            url: attempt.url.displayText, phase: .total, seconds: configuration.timeouts.total.seconds)
    }

    private nonisolated func fetch(
        _ attempt: TransferAttempt, _ authorization: Authorization?, spent: Duration,
        _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> Arrival {
        let location = partials.flatMap { store in
            attempt.order.mayResume && !attempt.ignoresPartial
                ? BodyStorage.PartialLocation(store: store, key: attempt.order.key) : nil
        }
        let body = BodyBuffer(
            url: attempt.url, maximumBytes: configuration.maximumBytes, budget: budget,
            spillFolder: configuration.temporaryFolder, transfer: attempt.transfer,
            partials: location,
            earlier: await earlierPartial(location, from: attempt.url), threads: threads,
            calls: configuration.fileCalls,
            keepsAnyStatus: configuration.acceptsAnyStatus)
        var fields = attempt.fields(tiers.ownFields, configuration.fields)
        if let conditions = body.conditions { fields.replace(with: conditions) }
        if let authorization { fields["Authorization"] = authorization.field }
        defer { metrics = body.metrics }
        var request = TransportRequest(
            url: attempt.url, fields: fields, timeouts: configuration.timeouts,
            security: configuration.security.transportSecurity(for: attempt.origin),
            addresses: configuration.security.fetchGuard?.addresses)
        request.timeouts.total -= spent
        guard request.timeouts.total > .zero else { throw tookTooLong(attempt) }
        let start = FileTime.coarseNow
        let head: ResponseHead
        do {
            head = try await transport.perform(request, into: body)
        } catch {
            let isCancelled = error.code == "cancelled"
            guard isCancelled, body.isWhole, let whole = body.head else {
                // A cancelled caller may be scrolling fast: a small partial body is not worth a file.
                await body.interrupt(keepsSmall: !isCancelled)
                if case .timedOut(_, .total, _) = error { throw tookTooLong(attempt) }
                throw error
            }
            // The whole body had arrived before the cancellation.
            head = whole
        }
        // The next attempt may resume the partial body that this one could not.
        await body.written()
        if body.mustRestart { return .unusablePartial }
        let received = body.headTime
        let delay = max(0, received.seconds(since: start))
        if let target = try configuration.security.redirect(head, from: attempt.url) {
            return .redirect(
                RedirectStep(
                    head: head, target: target, received: received.seconds, delay: delay,
                    kind: configuration.cacheKind))
        }
        var answer = DownloadedImage(head: body.head ?? head, url: attempt.url)
        if answer.head.status == 200 || configuration.acceptsAnyStatus {
            // Only an answer with 200 must be an image.
            try answer.take(
                await body.finish(), checkedBy: configuration.decoders,
                acceptsAnyContent: configuration.acceptsAnyContent || answer.head.status != 200)
        }
        answer.offset = body.offset
        answer.received = received.seconds
        answer.delay = delay
        answer.steps = attempt.steps
        answer.isAuthorised = fields["authorization"] != nil
        return .answer(answer)
    }
}
