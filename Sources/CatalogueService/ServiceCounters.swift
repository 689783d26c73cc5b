import HTTPSemantics
import SystemSupport

/// What the threads of a service count and decide together.
final class ServiceCounters: Sendable {
    /// What becomes of a new connection.
    enum Admission {
        case serve
        /// One too many: it is told so, on a thread, since telling takes as long as the client likes.
        case turnAway
        /// Far too many: closed without a word.
        case drop
    }

    /// Connections that are being told at once that there are too many.
    private static let maximumTurnedAway = 64

    private struct State {
        var statistics = CatalogueService.Statistics()
        var turnedAway = 0
        var random: SeededNumbers
    }

    private let state: Lock<State>

    init(seed: UInt64) { state = Lock(State(random: SeededNumbers(seed: seed))) }

    var statistics: CatalogueService.Statistics { state.withLock { $0.statistics } }

    func admit(atMost maximum: Int) -> Admission {
        state.withLock { state in
            state.statistics.connectionsInAll += 1
            if state.statistics.connectionsNow - state.turnedAway < maximum {
                state.statistics.connectionsNow += 1
                return .serve
            }
            guard state.turnedAway < Self.maximumTurnedAway else { return .drop }
            state.statistics.connectionsNow += 1
            state.turnedAway += 1
            return .turnAway
        }
    }

    func leave(_ admission: Admission) {
        state.withLock { state in
            state.statistics.connectionsNow -= 1
            if case .turnAway = admission { state.turnedAway -= 1 }
        }
    }

    func countRequest(_ status: HTTPStatus) {
        state.withLock { state in
            state.statistics.requests += 1
            state.statistics.byStatus[status.rawValue, default: 0] += 1
        }
    }

    func countSent(_ bytes: Int) {
        state.withLock { $0.statistics.bytesSent += bytes }
    }

    /// Whether the next request is to fail, at a rate of 0 to 1.
    func drawFailure(rate: Double) -> Bool {
        guard rate > 0 else { return false }
        return state.withLock { Double.random(in: 0..<1, using: &$0.random) < rate }
    }
}
