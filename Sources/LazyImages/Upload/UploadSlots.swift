/// Decides which uploads may run: limited for each host and in all, and none while a host's circuit breaker is open. In
/// order of arrival.
actor UploadSlots {
    private var queue: DownloadQueue
    private var hosts: HostCircuitBreaker
    private let now: @Sendable () -> Duration
    private var waiting: [Int: (host: String, continuation: CheckedContinuation<Admission, Never>)] = [:]

    /// The result of waiting for a slot.
    enum Admission: Sendable {
        case allowed, cancelled
        /// The host's circuit breaker is open for this time.
        case refused(Duration)
    }

    init(_ configuration: ImageDownloader.Configuration) {
        queue = DownloadQueue(perHost: configuration.transfersPerHost, total: configuration.transfers)
        hosts = HostCircuitBreaker(configuration.retry)
        now = configuration.timing.now
    }

    /// Waits for a slot. An allowed slot must be given back.
    func take(_ number: Int, host: String) async -> Admission {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // 1. The task was cancelled earlier: its handler may have run already, and found no entry.
                // 2. The task is cancelled later: its handler waits for the actor, and finds the entry.
                if Task.isCancelled { return continuation.resume(returning: .cancelled) }
                waiting[number] = (host, continuation)
                queue.append(number, host: host, priority: .normal)
                admitWaiting()
            }
        } onCancel: {
            Task { await leave(number) }
        }
    }

    /// Gives a slot back.
    /// - Parameter isUp: whether the host answered; nil if the attempt says nothing about that.
    func giveBack(host: String, isUp: Bool?) {
        queue.release(host: host)
        switch isUp {
        case true?: hosts.succeeded(host)
        case false?: hosts.failed(host, now: now())
        case nil: hosts.inconclusive(host)
        }
        admitWaiting()
    }

    private func leave(_ number: Int) {
        guard queue.remove(number) else { return }
        waiting.removeValue(forKey: number)?.continuation.resume(returning: .cancelled)
    }

    private func admitWaiting() {
        while let number = queue.next() {
            guard let (host, continuation) = waiting.removeValue(forKey: number) else { continue }
            switch hosts.admit(host, now: now()) {
            case .allowed: continuation.resume(returning: .allowed)
            case .refused(let until):
                queue.release(host: host)
                continuation.resume(returning: .refused(until - now()))
            }
        }
    }
}
