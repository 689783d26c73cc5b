import HTTPSemantics

/// An allowed host:
///
///     image.example.org              the ports 80 and 443
///     images.example.org:8443        this port only
///     http://nas.example.org:8080    plain http is allowed
///     [2001:db8::7]:8443
///     *.example.org                  all subdomains of example.org, but not example.org
///
/// Without an asterisk it allows only this host, not its subdomains. The host is compared as text: the name of an
/// allowed host does not allow its address.
public struct FetchSource: Sendable, Hashable {
    /// A name in lower case without a final dot, an address without brackets, or `*.` and a domain.
    let host: String
    /// The only allowed port; nil for 80 and 443.
    let port: Int?
    /// Whether plain http is allowed even if the policy forbids it.
    let allowsInsecureHTTP: Bool

    /// Reads a source. Nil for malformed text: another scheme, a path, credentials, a zone, a port above 65535, or an
    /// asterisk elsewhere than in front of a domain of two labels or more (`*`, `*.org`, `a*.example.org`).
    /// - Parameter text: a host, with an optional scheme and port.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        let scheme = ["http://", "https://"].first { lowered.hasPrefix($0) }
        guard let name = HostAndPort(String(lowered.dropFirst(scheme?.utf8.count ?? 0))),
            name.port.map({ $0 >= 1 }) ?? true, Self.isPlain(name.host)
        else { return nil }
        host = Self.canonical(name.host)
        port = name.port
        allowsInsecureHTTP = scheme == "http://"
    }

    /// An IPv6 address in its shortest form; other text unchanged.
    static func canonical(_ host: String) -> String { IPAddress(host)?.description ?? host }

    /// Whether all URL parsers read the host in the same way: letters, digits, `-`, `_` and dots, or an address.
    private static func isPlain(_ host: String) -> Bool {
        if host.contains(":") { return IPAddress(host) != nil }
        guard HostPattern.isValid(host) else { return false }
        return host.utf8.drop(while: { $0 == UInt8(ascii: "*") }).allSatisfy {
            $0 >= 0x61 && $0 <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || "-_.".utf8.contains($0)
        }
    }
}
