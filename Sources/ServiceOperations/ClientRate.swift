package import HTTPSemantics
internal import SystemSupport

/// Bounds the requests a second of each client: a token bucket for each, which holds the requests of one second.
///
/// A bucket is kept as the time at which it is full again (the generic cell rate algorithm, ITU-T I.371 annex A). The table
/// has a fixed size. A client whose bucket is full is as good as unknown; where the table is crowded, the client whose bucket
/// is nearest to full is forgotten.
package final class ClientRate: Sendable {
    private struct Entry {
        /// Which client; 0 for none.
        var key: UInt64 = 0
        /// When the bucket is full again, in nanoseconds since `start`.
        var fullAt: Int64 = 0
    }

    /// Entries that a client may have: a client is looked for in one set of so many.
    private static let ways = 8
    private static let secondInNanoseconds: Int64 = 1_000_000_000

    private let start = ContinuousClock.now
    /// Nanoseconds that a request costs.
    private let cost: Int64
    /// Nanoseconds that a full bucket is worth.
    private let depth: Int64
    private let entries: Lock<[Entry]>
    private let setCount: Int

    /// - Parameters:
    ///   - perSecond: requests a second, from 1 to 1,000,000; as many may come at once.
    ///   - clients: how many clients are remembered, default 65,536 in 1 MiB.
    package init(perSecond: Int, clients: Int = 65_536) {
        let rate = Int64(min(max(1, perSecond), 1_000_000))
        cost = Self.secondInNanoseconds / rate
        depth = cost * rate
        setCount = max(1, clients / Self.ways)
        entries = Lock([Entry](repeating: Entry(), count: setCount * Self.ways))
    }

    /// Takes a request of a client. Nil where it may be served; else after how many seconds one may be again, for
    /// Retry-After. A refused request costs nothing.
    /// - Parameter client: nil for a client without an address, which is not bounded.
    package func admit(_ client: IPAddress?, now: ContinuousClock.Instant = .now) -> Int? {
        guard let client else { return nil }
        let key = Self.key(client)
        let time = Self.nanoseconds(start.duration(to: now))
        let first = set(of: key) * Self.ways
        return entries.withLock { entries in
            var chosen = first
            for index in first..<first + Self.ways {
                if entries[index].key == key {
                    chosen = index
                    break
                }
                if entries[index].fullAt < entries[chosen].fullAt { chosen = index }
            }
            let debt = entries[chosen].key == key ? max(0, entries[chosen].fullAt - time) : 0
            guard debt + cost <= depth else {
                let wait = debt + cost - depth
                return Int((wait + Self.secondInNanoseconds - 1) / Self.secondInNanoseconds)
            }
            entries[chosen] = Entry(key: key, fullAt: time + debt + cost)
            return nil
        }
    }

    /// An IPv4 address, or the network of an IPv6 address: a client has a /64 for itself (RFC 6177).
    private static func key(_ client: IPAddress) -> UInt64 {
        switch client {
        // No client's network begins like this: it is one of multicast (RFC 4291 section 2.7).
        case .v4(let bits): 0xFFFF_FFFF << 32 | UInt64(bits)
        case .v6(let bits): UInt64(truncatingIfNeeded: bits >> 64)
        }
    }

    /// Where a client is looked for. The seed of `Hasher` is the process's own: nobody can choose addresses that crowd one set.
    private func set(of key: UInt64) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(setCount))
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * secondInNanoseconds + attoseconds / 1_000_000_000
    }
}
