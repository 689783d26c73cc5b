package import HTTPSemantics
package import HTTPServer

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
    package func client(of request: HTTPRequest) -> IPAddress? {
        client(peer: request.peer, forwardedFor: request.head.fields.values(of: "x-forwarded-for"))
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

extension IPAddress {
    /// An IPv4 address mapped into IPv6 becomes IPv4 again (RFC 4291 section 2.5.5.2), so that a client has one name.
    fileprivate var withoutMapping: IPAddress {
        guard case .v6(let bits) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }
}
