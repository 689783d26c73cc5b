package import HTTPSemantics
package import HTTPServer
internal import SystemSupport

/// Limits each client's requests a second. Each client has a token bucket that holds the requests of one second.
///
/// A bucket is stored as the time when it will be full again (the generic cell rate algorithm, ITU-T I.371 annex A).
/// The table has a fixed size. A client with a full bucket needs no entry; when a set is full, the client nearest to a
/// full bucket loses its entry.
package final class ClientRate: Sendable {
    private struct Entry {
        /// The client's key; 0 for a free entry.
        var key: UInt64 = 0
        /// When the bucket is full again, in nanoseconds since `start`.
        var fullAt: Int64 = 0
    }

    /// The entries of one set. A client's entry can only be in its set.
    private static let ways = 8
    private static let secondInNanoseconds: Int64 = 1_000_000_000

    private let start = ContinuousClock.now
    /// The cost of a request in nanoseconds.
    private let cost: Int64
    /// The worth of a full bucket in nanoseconds.
    private let depth: Int64
    private let entries: Lock<[Entry]>
    private let setCount: Int

    /// - Parameters:
    ///   - perSecond: requests a second, from 1 to 1,000,000. A client may send as many at once.
    ///   - clients: the most clients that are remembered, default 65,536 in 1 MiB.
    package init(perSecond: Int, clients: Int = 65_536) {
        let rate = Int64(min(max(1, perSecond), 1_000_000))
        cost = Self.secondInNanoseconds / rate
        depth = cost * rate
        setCount = max(1, clients / Self.ways)
        entries = Lock([Entry](repeating: Entry(), count: setCount * Self.ways))
    }

    /// Takes a request from the client's bucket. Returns nil if the request may be served; otherwise the seconds until
    /// the next one may be, for Retry-After. A refused request costs nothing.
    /// - Parameter client: nil for a client without an address, which has no limit.
    package func admit(_ client: IPAddress?, now: ContinuousClock.Instant = .now) -> Int? {
        guard let client else { return nil }
        let key = Self.key(client)
        let time = start.duration(to: now).nanoseconds
        // The client's set. Hashes are seeded anew in each process, so nobody can choose addresses that crowd one set.
        let first = Int(UInt(bitPattern: key.hashValue) % UInt(setCount)) * Self.ways
        return entries.withLock { entries in
            let set = first..<first + Self.ways
            let chosen =
                set.first { entries[$0].key == key }
                ?? set.min { entries[$0].fullAt < entries[$1].fullAt } ?? first
            let debt = entries[chosen].key == key ? max(0, entries[chosen].fullAt - time) : 0
            guard debt + cost <= depth else {
                let wait = debt + cost - depth
                return Int((wait + Self.secondInNanoseconds - 1) / Self.secondInNanoseconds)
            }
            entries[chosen] = Entry(key: key, fullAt: time + debt + cost)
            return nil
        }
    }

    /// An IPv4 address, or the /64 network of an IPv6 address, which belongs to one client (RFC 6177).
    private static func key(_ client: IPAddress) -> UInt64 {
        switch client {
        // This prefix is multicast (RFC 4291 section 2.7), so no client's network has it.
        case .v4(let bits): 0xFFFF_FFFF << 32 | UInt64(bits)
        case .v6(let bits): UInt64(truncatingIfNeeded: bits >> 64)
        }
    }
}

/// Finds the client of a request behind trusted proxies.
///
///     X-Forwarded-For: 203.0.113.7, 10.0.0.2         from a peer 10.0.0.1
///
/// Every proxy appends the address that it received the request from. So the field is read from its end, as long as the
/// writer of an entry is trusted. With 10.0.0.0/8 trusted, the client is 203.0.113.7. Entries before an untrusted one
/// may be false.
package struct ForwardedClient: Sendable {
    private let trusted: [AddressRange]

    /// - Parameter trusted: the networks of proxies. If there are any, a proxy at a local socket is trusted too: the
    ///   file system decides who may connect to it.
    package init(trusting trusted: [AddressRange] = []) { self.trusted = trusted }

    /// The client of a request.
    package func client(of head: RequestHead, from peer: Peer) -> IPAddress? {
        client(peer: peer, forwardedFor: head.fields.values(of: "x-forwarded-for"))
    }

    /// The client: the last address that is not trusted, or the first one if all are. At an entry that is not an
    /// address, the client is the proxy that wrote it. Nil for a program at a local socket that names no client.
    /// - Parameter forwardedFor: the values of all lines of X-Forwarded-For, in order.
    package func client(peer: Peer, forwardedFor: [String]) -> IPAddress? {
        var client = peer.address.flatMap { IPAddress($0) }?.withoutMapping
        guard !trusted.isEmpty, client.map(isTrusted) ?? peer.isLocal else { return client }
        for line in forwardedFor.reversed() {
            // Quotes have no meaning here, and the comparison is by bytes. A client's own quote, or a combining
            // character that Swift joins with the comma, could otherwise hide the entry that the proxy appended.
            for entry in line.utf8.split(separator: UInt8(ascii: ",")).reversed() {
                guard let address = Self.address(FieldList.trimmed(Substring(entry))) else { return client }
                client = address
                if !isTrusted(address) { return client }
            }
        }
        return client
    }

    private func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }

    /// Some proxies write the port too: `203.0.113.7:4711`, `[2001:db8::1]:4711`.
    private static func address(_ text: Substring) -> IPAddress? {
        if let address = IPAddress(String(text)) { return address.withoutMapping }
        guard let name = HostAndPort(String(text)) else { return nil }
        return IPAddress(name.host)?.withoutMapping
    }
}
