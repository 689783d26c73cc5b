import HTTPSemantics

/// Decides what follows an attempt. Pure: the downloader performs it.
extension TransferAttempt {
    typealias Arrival = ImageDownloader.Arrival

    enum Next {
        indirect case done(DownloadedImage)
        case failed(ImageLoadingError)
        case another(TransferAttempt, after: Duration?)
    }

    /// - Parameter spent: how long the transfer's attempts took together.
    func next(
        after arrival: Result<Arrival, ImageLoadingError>, spent: Duration,
        _ configuration: ImageDownloader.Configuration
    ) -> Next {
        if transfer.isOver { return ending(with: arrival) }
        if let pause = pauseBeforeRetry(after: arrival, spent: spent, configuration) {
            return .another(retried(), after: pause)
        }
        switch arrival {
        case .success(.redirect(let step)): return following(step, limit: configuration.maximumRedirects)
        case .success(.unusablePartial): return .another(withoutPartial(), after: nil)
        case .success(.answer(let answer))
        where answer.head.status == 304 && !order.conditions.isEmpty && !ignoresConditions
            && order.confirmed(by: answer) == nil:
            return .another(withoutConditions(), after: nil)
        default: return ending(with: arrival)
        }
    }

    /// The outcome without another attempt.
    private func ending(with arrival: Result<Arrival, ImageLoadingError>) -> Next {
        switch arrival {
        case .success(.answer(let answer)): .done(answer)
        case .success: .failed(.cancelled(url: url.displayText))
        case .failure(let error): .failed(error)
        }
    }

    private func following(_ step: RedirectStep, limit: Int) -> Next {
        let url = request.url.displayText
        if hasBeen(at: step.target) {
            return .failed(.redirectLoop(url: url, location: step.target.displayText))
        }
        if steps.count >= limit { return .failed(.tooManyRedirects(url: url, limit: limit)) }
        return .another(following(step), after: nil)
    }

    /// How long to wait before a retry; nil if a retry would not help.
    private func pauseBeforeRetry(
        after arrival: Result<Arrival, ImageLoadingError>, spent: Duration,
        _ configuration: ImageDownloader.Configuration
    ) -> Duration? {
        var retryAfter: Int?
        switch arrival {
        case .failure(let error) where RetryPolicy.covers(error): break
        case .success(.answer(let answer)) where RetryPolicy.covers(status: answer.head.status):
            retryAfter = RetryAfter.seconds(answer.head.fields, now: answer.received)
        default: return nil
        }
        guard spent < configuration.timeouts.total else { return nil }
        return configuration.retry.pause(
            afterTries: tries, retryAfter: retryAfter, random: configuration.timing.random())
    }
}
