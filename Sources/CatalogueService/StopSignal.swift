import Glibc
import SystemSupport

/// Wakes every wait of a service when it stops. Who waits for the next request leaves at once; who is in the
/// middle of an answer has a short while to finish it.
final class StopSignal: Sendable {
    enum Outcome {
        case ready
        case timedOut
        case stopped
    }

    private let wake: WakeDescriptor
    private let grace: Duration
    private let graceEnd = Lock<ContinuousClock.Instant?>(nil)

    /// `grace` is how long running answers may take once the service stops.
    init(grace: Duration) throws(CatalogueServiceError) {
        wake = try .forService()
        self.grace = grace
    }

    var isRaised: Bool { graceEnd.withLock { $0 != nil } }

    /// Whether the service has stopped and running answers have had their time.
    var isGraceOver: Bool { graceEnd.withLock { $0 }.map { ContinuousClock.now >= $0 } ?? false }

    func raise() {
        graceEnd.withLock { $0 = $0 ?? ContinuousClock.now + grace }
        wake.signal()
    }

    /// Waits until the descriptor is ready, the deadline comes, or the service stops.
    func wait(for descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant?) -> Outcome {
        let ready = Polling.ready([(wake.descriptor, POLLIN), (descriptor, events)], until: deadline)
        return ready[0] ? .stopped : ready[1] ? .ready : .timedOut
    }

    /// Waits for a descriptor in the middle of an answer: a stop only brings the deadline nearer.
    func waitToFinish(for descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool
    {
        if !isRaised {
            let outcome = wait(for: descriptor, events, until: deadline)
            if outcome != .stopped { return outcome == .ready }
        }
        let end = graceEnd.withLock { $0 } ?? deadline
        return Polling.ready([(descriptor, events)], until: min(deadline, end))[0]
    }

    /// Lets time pass, but not once the service stops.
    func pause(until deadline: ContinuousClock.Instant) {
        _ = Polling.ready([(wake.descriptor, POLLIN)], until: deadline)
    }
}

extension WakeDescriptor {
    /// A descriptor for something that happens once. Nobody resets it.
    static func forService() throws(CatalogueServiceError) -> WakeDescriptor {
        do {
            return try WakeDescriptor()
        } catch {
            throw .system(call: "eventfd", errno: error.code)
        }
    }
}
