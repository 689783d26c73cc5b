import SystemSupport

/// How long a load took.
package struct LoadTiming: Sendable, Hashable {
    /// From the call to its answer.
    package var total: Duration
    /// How much of that its transfer waited for a slot: all of it for one that was cancelled before it had one.
    package var queued: Duration

    /// A timing of these parts.
    package init(total: Duration, queued: Duration) {
        self.total = total
        self.queued = min(queued, total)
    }

    /// The time from the transfer's start.
    package var own: Duration { total - queued }
}

extension FileLoader {
    /// Loads what `request` names, as `file(for:)` does, and measures it.
    package func timedFile(
        for request: ImageRequest
    ) async -> (file: Result<LoadedFile, ImageLoadingError>, timing: LoadTiming) {
        let clock = ContinuousClock()
        let start = clock.now
        let queued = Lock<Duration?>(nil)
        let listener = TaskListener { event in
            if case .started(let wait) = event { queued.withLock { $0 = wait } }
        }
        let outcome: Result<LoadedFile, ImageLoadingError>
        do {
            outcome = .success(try await file(for: request, Client(listener: listener)))
        } catch {
            outcome = .failure(error)
        }
        let total = clock.now - start
        if let queued = queued.withLock({ $0 }) {
            return (outcome, LoadTiming(total: total, queued: queued))
        }
        if case .failure(.cancelled) = outcome { return (outcome, LoadTiming(total: total, queued: total)) }
        return (outcome, LoadTiming(total: total, queued: .zero))
    }
}
