import HTTPSemantics
import SystemSupport

/// Decides when attempts of transfers begin: by the queue for slots, and by the circuit breakers of the hosts. A plain
/// struct, not safe for concurrent use.
struct TransferSlots {
    /// The answer to an attempt that asks for a slot.
    enum Admission {
        /// The attempt has its slot. The transfer has waited so long for slots.
        case slot(queued: Duration)
        /// No slot before the claim is settled: another process is fetching the same. The attempt has waited so long
        /// for this answer.
        case claimed(waited: Duration)
        case refused(ImageLoadingError)
    }

    /// An attempt that waits for a slot.
    struct Waiting: Sendable {
        let attempt: TransferAttempt
        /// How long earlier attempts of the transfer have waited.
        let queued: Duration
        /// How long this attempt has waited before its claim was settled. Nil if it is in the queue for the first time.
        let waited: Duration?
        let since = ContinuousClock.now
        let begin: @Sendable (Admission) -> Void
    }

    /// Attempts that begin, or fail. The caller calls their `begin` outside the actor.
    typealias Begins = [(waiting: Waiting, admission: Admission)]

    private var queue: DownloadQueue
    /// The attempts that wait for a slot, by the number of the transfer.
    private var waiting: [Int: Waiting] = [:]
    private var hosts: HostCircuitBreaker
    private let configuration: ImageDownloader.Configuration
    private let activity: NetworkActivity

    init(_ configuration: ImageDownloader.Configuration, activity: NetworkActivity) {
        queue = DownloadQueue(perHost: configuration.transfersPerHost, total: configuration.transfers)
        hosts = HostCircuitBreaker(configuration.retry)
        self.configuration = configuration
        self.activity = activity
    }

    /// Adds an attempt to the queue. Fails an attempt that the security policy forbids, or whose transfer is over.
    mutating func append(_ line: Waiting) -> Begins {
        let (attempt, transfer) = (line.attempt, line.attempt.transfer)
        do {
            // The URL of a request with a closure is only a name.
            if attempt.request.data == nil {
                try configuration.security.check(attempt.url, at: attempt.origin)
            }
        } catch {
            return [(line, .refused(error))]
        }
        // Nobody would remove it from the queue any more.
        if transfer.isOver { return [(line, .refused(.cancelled(url: attempt.url.displayText)))] }
        // An attempt that comes back after its claim was settled has been waiting all the time.
        if line.waited == nil { activity.note(attempt) { .waiting } }
        waiting[transfer.number] = line
        queue.append(transfer.number, host: attempt.host, priority: transfer.priority)
        return admit()
    }

    /// Frees the slot of an attempt that has ended.
    mutating func release(
        _ attempt: TransferAttempt, _ arrival: Result<ImageDownloader.Arrival, ImageLoadingError>
    ) {
        queue.release(host: attempt.host)
        // The error of a closure says nothing about a host.
        if attempt.request.data == nil { note(arrival, from: attempt.host) }
    }

    /// Gives slots to all attempts that may begin now.
    mutating func admit() -> Begins {
        var begins: Begins = []
        while let number = queue.next() {
            guard let next = waiting.removeValue(forKey: number) else { continue }
            let attempt = next.attempt
            let wait = (next.waited ?? .zero) + next.since.duration(to: .now)
            if let claim = attempt.claim, !claim.mayFetch() {
                queue.release(host: attempt.host)
                begins.append((next, .claimed(waited: wait)))
                continue
            }
            let admission = hosts.admit(
                attempt.host, now: configuration.timing.now(),
                overrides: attempt.request.overridesCircuitBreaker)
            if case .refused(let until) = admission {
                queue.release(host: attempt.host)
                begins.append((next, .refused(circuitOpen(attempt, until: until))))
                continue
            }
            activity.note(attempt) { .started(queueWait: wait) }
            attempt.transfer.tell(.started(queued: next.queued + wait))
            activity.begin(attempt.transfer, host: attempt.host)
            begins.append((next, .slot(queued: next.queued + wait)))
        }
        return begins
    }

    mutating func updatePriority(of transfer: ImageDownloader.Transfer) {
        queue.setPriority(transfer.priority, of: transfer.number)
    }

    /// Removes a transfer from the queue, if it waits there.
    mutating func remove(_ number: Int) -> Begins {
        guard queue.remove(number), let left = waiting.removeValue(forKey: number) else { return [] }
        return [(left, .refused(.cancelled(url: left.attempt.url.displayText)))]
    }

    private func circuitOpen(_ attempt: TransferAttempt, until: Duration) -> ImageLoadingError {
        let seconds = max(1, Int((until - configuration.timing.now()).seconds.rounded(.up)))
        return .connectionFailed(
            url: attempt.url.displayText,
            reason: "\(attempt.host) has failed repeatedly; the next try is in \(seconds) s")
    }

    /// Tells the circuit breaker how a host did. Only a host that does not answer has failed: one that answers with an
    /// error works.
    private mutating func note(
        _ arrival: Result<ImageDownloader.Arrival, ImageLoadingError>, from host: String
    ) {
        switch arrival {
        case .failure(.connectionFailed), .failure(.timedOut(_, .connect, _)):
            hosts.failed(host, now: configuration.timing.now())
        // These say nothing about the host.
        case .failure(.cancelled), .failure(.resourcesShort), .failure(.addressRefused):
            hosts.inconclusive(host)
        default: hosts.succeeded(host)
        }
    }
}

extension NetworkActivity {
    /// Passes on what happened to an attempt.
    func note(_ attempt: TransferAttempt, _ kind: () -> TransferEvent.Kind) {
        note {
            TransferEvent(transfer: attempt.transfer.number, url: attempt.url.displayText, kind: kind())
        }
    }
}
