import LazyImages
import SystemSupport

/// Counts the events of a picture service.
package final class PictureCounters: Sendable {
    /// An event to count.
    package enum Event: String, Sendable, CaseIterable {
        /// Answered from memory, or from disk.
        case memoryHit, diskHit
        /// A picture was made.
        case made
        /// A source was decoded.
        case decoded
        /// A stale picture was sent, because the origin failed or the service was busy.
        case stale
        /// The origin sent a source; the origin confirmed a source with 304.
        case fetched, confirmed
        /// A source came from the shared tier.
        case shared
        /// A request joined another request's work.
        case joined
        /// A client left before its answer.
        case abandoned
    }

    private struct State {
        var events: [Event: Int] = [:]
        var refusals: [String: Int] = [:]
        var makingTime = Duration.zero
    }

    private let state = Lock(State())

    package init() {}

    package func count(_ event: Event, after time: Duration = .zero) {
        state.withLock { state in
            state.events[event, default: 0] += 1
            state.makingTime += time
        }
    }

    /// Counts how a source's file was fetched.
    func count(_ file: LoadedFile) {
        switch file.source {
        case .network, .resumed: count(.fetched)
        case .revalidated: count(.confirmed)
        case .stale: count(.stale)
        case .shared: count(.shared)
        default: break
        }
    }

    /// Counts the refusal of a rule.
    func countRefusal(by rule: String) { state.withLock { $0.refusals[rule, default: 0] += 1 } }

    /// The count of an event.
    package func number(of event: Event) -> Int { state.withLock { $0.events[event] ?? 0 } }

    /// The refusals of each rule.
    package var refusals: [String: Int] { state.withLock { $0.refusals } }

    /// The total time of making pictures.
    package var makingTime: Duration { state.withLock { $0.makingTime } }
}
