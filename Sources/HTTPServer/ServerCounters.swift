import HTTPSemantics
import Synchronization
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

    private struct Connections {
        var now = 0
        var inAll = 0
        var turnedAway = 0
        /// Event loops that have begun to run.
        var loops = 0
    }

    private let connections = Lock(Connections())
    /// In the order of the routes.
    private let answers = HTTPRoute.allCases.map { _ in StatusCounters() }
    private let bytesSent = Atomic(0)
    private let shedAnswers = Atomic(0)
    private let descriptors: DescriptorPlaces

    /// - Parameter places: the descriptors that connections may take.
    init(places: DescriptorPlaces) { descriptors = places }

    var statistics: HTTPServer.Statistics {
        var statistics = HTTPServer.Statistics()
        for route in HTTPRoute.allCases {
            let counts = answers[Int(route.rawValue)].counts
            if !counts.isEmpty { statistics.answers[route] = counts }
        }
        statistics.bytesSent = bytesSent.load(ordering: .relaxed)
        statistics.shedAnswers = shedAnswers.load(ordering: .relaxed)
        (statistics.connectionsNow, statistics.connectionsInAll) = connections.withLock { ($0.now, $0.inAll) }
        return statistics
    }

    /// The average of the loops.
    var connectionsPerLoop: Int { connections.withLock { $0.now / max(1, $0.loops) } }

    func countLoop() { connections.withLock { $0.loops += 1 } }

    /// - Parameters:
    ///   - socket: the number of the connection's descriptor.
    ///   - maximum: the most connections that are served.
    func admit(_ socket: Int32, atMost maximum: Int) -> Admission {
        connections.withLock { connections in
            connections.inAll += 1
            if connections.now - connections.turnedAway < maximum, socket < descriptors.served {
                connections.now += 1
                return .serve
            }
            guard connections.turnedAway < Self.maximumTurnedAway, socket < descriptors.turnedAway else {
                return .drop
            }
            connections.now += 1
            connections.turnedAway += 1
            return .turnAway
        }
    }

    func leave(wasTurnedAway: Bool) {
        connections.withLock { connections in
            connections.now -= 1
            if wasTurnedAway { connections.turnedAway -= 1 }
        }
    }

    /// Counts an answer. One atomic addition, because a server may give 100,000 a second.
    func countRequest(_ route: HTTPRoute, _ status: HTTPStatus) {
        answers[Int(route.rawValue)].count(status)
    }

    /// An answer became 503 because too many wait for their clients.
    func countShed() { shedAnswers.wrappingAdd(1, ordering: .relaxed) }

    func countSent(_ bytes: Int) { bytesSent.wrappingAdd(bytes, ordering: .relaxed) }
}

/// The answers of one route, by status.
private final class StatusCounters: Sendable {
    /// A place for each status up to 511, the highest that HTTP defines (RFC 6585 section 6).
    private let places: InlineArray<512, Atomic<Int>> = InlineArray { _ in Atomic(0) }

    /// The statuses that have been counted.
    var counts: [Int: Int] {
        var counts: [Int: Int] = [:]
        for status in places.indices {
            let count = places[status].load(ordering: .relaxed)
            if count > 0 { counts[status] = count }
        }
        return counts
    }

    func count(_ status: HTTPStatus) {
        places[min(max(0, status.rawValue), places.count - 1)].wrappingAdd(1, ordering: .relaxed)
    }
}
