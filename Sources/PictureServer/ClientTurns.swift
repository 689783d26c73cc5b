import HTTPSemantics

/// The order of waiting sources, fair between clients: round robin. In each round every client has one turn, so a
/// client with a thousand sources does not hold up another with five. A plain struct, not safe for concurrent use.
///
///     arrival   a1 a2 a3 b1 b2 c1
///     order     a1 b1 c1 | a2 b2 | a3
///
/// A client that comes later begins in the round that is being served, and does not catch up on earlier rounds
/// (start-time fair queueing, Goyal, Vin and Cheng 1996).
struct ClientTurns {
    /// An IPv4 address, or the network of an IPv6 address; nil for all programs at a local socket.
    typealias Client = IPAddress?

    /// A source's place in the order.
    struct Turn: Comparable, Sendable {
        let client: Client
        fileprivate let round: Int
        /// Distinguishes all turns, in order of arrival.
        fileprivate let number: Int

        static func < (one: Turn, other: Turn) -> Bool {
            (one.round, one.number) < (other.round, other.number)
        }
    }

    private struct Line {
        var count: Int
        let lastRound: Int
    }

    /// The clients with waiting sources.
    private var lines: [Client: Line] = [:]
    /// The round that is being served.
    private var round = 0
    private var number = 0

    /// Adds a source, behind the client's other sources.
    mutating func append(_ client: Client) -> Turn {
        number += 1
        let next = nextRound(of: client)
        lines[client] = Line(count: (lines[client]?.count ?? 0) + 1, lastRound: next)
        return Turn(client: client, round: next, number: number)
    }

    /// The turn of another client that asks for the same source, in place of this one; nil if it would not be earlier.
    mutating func replace(_ turn: Turn, for client: Client) -> Turn? {
        guard client != turn.client, nextRound(of: client) < turn.round else { return nil }
        remove(turn)
        return append(client)
    }

    private func nextRound(of client: Client) -> Int { max(round, (lines[client]?.lastRound ?? -1) + 1) }

    /// Removes a source that waits no more.
    mutating func remove(_ turn: Turn) {
        guard let count = lines[turn.client]?.count else { return }
        lines[turn.client]?.count = count - 1
        if count == 1 { lines[turn.client] = nil }
    }

    /// Removes a source whose turn has come.
    mutating func start(_ turn: Turn) {
        round = max(round, turn.round)
        remove(turn)
    }

    /// The number of waiting sources that come before the next one of a client: all of its own, and of any other client
    /// at most one more than it has itself.
    func countAhead(of client: Client) -> Int {
        let own = lines[client]?.count ?? 0
        return lines.reduce(own) { $1.key == client ? $0 : $0 + min($1.value.count, own + 1) }
    }
}
