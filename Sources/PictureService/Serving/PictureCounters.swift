import LazyImages
import SystemSupport

/// Counts what a picture service does.
package final class PictureCounters: Sendable {
    /// What happens.
    package enum Event: String, Sendable, CaseIterable {
        /// Answered from memory, or from disk.
        case memoryHit, diskHit
        /// A picture was made.
        case made
        /// A source was decoded.
        case decoded
        /// A stale picture was sent, since the origin failed or the service was full.
        case stale
        /// A source came from its origin; was confirmed by a 304.
        case fetched, confirmed
        /// Another request's work was waited for.
        case joined
        /// A client left before it was answered.
        case abandoned
    }

    private struct State {
        var events: [Event: Int] = [:]
        var refusals: [String: Int] = [:]
        var makingTime = Duration.zero
    }

    private let state = Lock(State())

    package init() {}

    func count(_ event: Event, after time: Duration = .zero) {
        state.withLock { state in
            state.events[event, default: 0] += 1
            state.makingTime += time
        }
    }

    /// How a source's file came.
    func count(_ file: LoadedFile) {
        switch file.source {
        case .network, .resumed: count(.fetched)
        case .revalidated: count(.confirmed)
        case .stale: count(.stale)
        default: break
        }
    }

    /// A rule has refused.
    func countRefusal(by rule: String) { state.withLock { $0.refusals[rule, default: 0] += 1 } }

    /// How often something happened.
    package func number(of event: Event) -> Int { state.withLock { $0.events[event] ?? 0 } }

    /// Refusals by rule.
    package var refusals: [String: Int] { state.withLock { $0.refusals } }

    /// How long making pictures has taken in all.
    package var makingTime: Duration { state.withLock { $0.makingTime } }
}
