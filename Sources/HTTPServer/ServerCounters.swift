import HTTPSemantics
import SystemSupport

/// The counts and decisions that the threads of a server share.
final class ServerCounters: Sendable {
    /// The decision on a new connection.
    enum Admission {
        case serve
        /// Too many connections: the request is answered 503.
        case turnAway
        /// Far too many connections: the connection is closed without an answer.
        case drop
    }

    /// The most connections that may wait for their answer 503 at once.
    private static let maximumTurnedAway = 64

    private struct State {
        var statistics = HTTPServer.Statistics()
        var turnedAway = 0
        /// Event loops that have begun to run.
        var loops = 0
    }

    private let state = Lock(State())

    var statistics: HTTPServer.Statistics { state.withLock { $0.statistics } }

    /// The average of the loops.
    var connectionsPerLoop: Int {
        state.withLock { $0.statistics.connectionsNow / max(1, $0.loops) }
    }

    func countLoop() { state.withLock { $0.loops += 1 } }

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

    func leave(wasTurnedAway: Bool) {
        state.withLock { state in
            state.statistics.connectionsNow -= 1
            if wasTurnedAway { state.turnedAway -= 1 }
        }
    }

    func countRequest(_ status: HTTPStatus) {
        state.withLock { state in
            state.statistics.requests += 1
            state.statistics.byStatus[status.rawValue, default: 0] += 1
        }
    }

    /// An answer became 503 because too many wait for their clients.
    func countShed() { state.withLock { $0.statistics.shedAnswers += 1 } }

    func countSent(_ bytes: Int) {
        state.withLock { $0.statistics.bytesSent += bytes }
    }
}
