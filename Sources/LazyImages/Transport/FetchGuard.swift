package import FoundationEssentials
import HTTPSemantics

/// Limits which servers may be fetched from, for services that fetch URLs of strangers. Without it strangers could
/// reach other services on the same machine and network through such a service (SSRF).
///
/// The rules apply to each request and to each redirect. Scheme, host and port are checked before the transfer. The
/// address is checked when the connection is made, since a name may have another address at each lookup, and an address
/// has many spellings. A guard refuses `file:` and `data:` URLs too. A refusal is the error `addressRefused`.
///
/// A file from the cache needs no transfer and is not checked.
///
/// A guard cannot be combined with a proxy: only the proxy knows the address.
public struct FetchGuard: Sendable, Hashable {
    /// The allowed ports of a source that names none.
    fileprivate static let defaultPorts = [80, 443]

    /// The sources by host; nil if any host is allowed.
    private let sources: [String: [FetchSource]]?
    /// The rules for addresses.
    package private(set) var addresses: AddressRules

    /// A guard that allows only some hosts.
    /// - Parameters:
    ///   - sources: the allowed hosts.
    ///   - allowedNetworks: allowed networks that are not public. Default: none.
    public init(sources: [FetchSource], allowedNetworks: [AddressRange] = []) {
        self.sources = Dictionary(grouping: sources, by: \.host)
        addresses = AddressRules(allowedNetworks: allowedNetworks)
    }

    /// A guard that allows any host, by https or http, at the ports 80 and 443, and checks the addresses. For services
    /// that check by other means who may name a URL, such as a signature.
    /// - Parameter allowedNetworks: as in the other initialiser.
    public init(anyHostAllowing allowedNetworks: [AddressRange] = []) {
        sources = nil
        addresses = AddressRules(allowedNetworks: allowedNetworks)
    }

    /// The same guard with other networks that are not public.
    package func allowing(_ networks: [AddressRange]) -> FetchGuard {
        var other = self
        other.addresses = AddressRules(allowedNetworks: networks)
        return other
    }

    /// Throws `.addressRefused` if scheme, host or port of `url` are not allowed.
    /// - Parameter allowsInsecureHTTP: whether the policy allows plain http to the URL's host.
    package func check(_ url: URL, allowsInsecureHTTP: Bool) throws(ImageLoadingError) {
        func refused(_ rule: FetchRule, _ reason: String) -> ImageLoadingError {
            .addressRefused(url: url.displayText, rule: rule, reason: reason)
        }
        let scheme = url.scheme?.lowercased() ?? ""
        guard ["https", "http"].contains(scheme) else {
            throw refused(.scheme, "only https and http are allowed")
        }
        guard let authority = Self.authority(of: url, scheme), !authority.contains("@") else {
            throw refused(.host, "addresses with a user name or a password are not fetched; leave them out")
        }
        guard let name = HostAndPort(String(authority))
        else {
            throw refused(.host, "a host and nothing else is allowed between // and the path")
        }
        let port = name.port ?? (scheme == "https" ? 443 : 80)
        guard let sources else {
            guard Self.defaultPorts.contains(port) else {
                throw refused(.port, "port \(port) is not allowed; use 80 or 443")
            }
            return
        }
        let listed = HostPattern.patterns(matching: FetchSource.canonical(name.host))
            .flatMap { sources[$0] ?? [] }
        guard !listed.isEmpty else { throw refused(.host, "\(name.host) is not listed") }
        let matching = listed.filter { $0.port.map { $0 == port } ?? Self.defaultPorts.contains(port) }
        guard !matching.isEmpty else { throw refused(.port, "port \(port) of \(name.host) is not listed") }
        guard scheme == "https" || allowsInsecureHTTP || matching.contains(where: \.allowsInsecureHTTP) else {
            throw refused(.scheme, "plain http to \(name.host) is not allowed")
        }
    }

    /// The text between `//` and the path, exactly as the transport receives it: two parsers may read an odd URL
    /// differently (`http:///host`, `http://one\@other`).
    private static func authority(of url: URL, _ scheme: String) -> Substring? {
        let rest = url.absoluteString.dropFirst(scheme.utf8.count)
        guard rest.hasPrefix("://") else { return nil }
        return rest.dropFirst(3).prefix { !"/?#".contains($0) }
    }
}

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

    /// The host of an address, also by plain http; nil for one with an asterisk, which must not become a pattern.
    package init?(_ origin: WebOrigin) {
        if origin.host.contains("*") { return nil }
        host = Self.canonical(origin.host)
        port = FetchGuard.defaultPorts.contains(origin.port) ? nil : origin.port
        allowsInsecureHTTP = true
    }

    /// Host and port, as written in an address.
    package var text: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
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

/// The IP addresses to which connections are allowed: public ones, and those of allowed networks.
public struct AddressRules: Sendable, Hashable {
    /// Allowed networks that are not public.
    package var allowedNetworks: [AddressRange]

    /// Rules that allow public addresses and these networks. Default: public addresses only.
    /// - Parameter allowedNetworks: allowed networks that are not public.
    package init(allowedNetworks: [AddressRange] = []) { self.allowedNetworks = allowedNetworks }

    /// Why connections to an address are forbidden, such as `127.0.0.1 is loopback`; nil if they are allowed.
    ///
    /// An IPv6 address that embeds an IPv4 address is refused, unless an allowed network contains it and the IPv4
    /// address is allowed too.
    /// - Parameter address: the address of the server.
    public func refusal(of address: IPAddress) -> String? {
        let isAllowed = allowedNetworks.contains { $0.contains(address) }
        if let (form, inner) = address.embedded {
            guard isAllowed else { return "\(address) embeds an IPv4 address (\(form.rawValue))" }
            return inner.lazy.compactMap { refusal(of: $0) }.first.map { "\(address) embeds \($0)" }
        }
        if isAllowed { return nil }
        return Self.kind(of: address).map { "\(address) is \($0)" }
    }

    /// The special purpose of an address; nil for public addresses.
    private static func kind(of address: IPAddress) -> String? {
        if let special = specialRanges.first(where: { $0.range.contains(address) }) { return special.kind }
        if case .v6 = address, !globalUnicast.contains(address) { return "reserved" }
        return nil
    }

    /// The only IPv6 range assigned for global unicast (IANA's IPv6 Global Unicast Address Assignments; RFC 4291
    /// section 2.4 reserves the rest).
    private static let globalUnicast = range("2000::/3")

    /// The special-purpose registries of IANA (RFC 6890), multicast and class E. Each comment names the definition.
    private static let specialRanges: [(range: AddressRange, kind: String)] = [
        (range("0.0.0.0/32"), "unspecified"),  // RFC 1122 section 3.2.1.3
        (range("0.0.0.0/8"), "of this network"),  // RFC 791 section 3.2
        (range("10.0.0.0/8"), "private"),  // RFC 1918
        (range("100.64.0.0/10"), "shared by a carrier"),  // RFC 6598
        (range("127.0.0.0/8"), "loopback"),  // RFC 1122 section 3.2.1.3
        (range("169.254.0.0/16"), "link-local"),  // RFC 3927
        (range("172.16.0.0/12"), "private"),  // RFC 1918
        (range("192.0.0.0/24"), "for protocols"),  // RFC 6890 section 2.1
        (range("192.0.2.0/24"), "for documentation"),  // RFC 5737
        (range("192.88.99.0/24"), "a 6to4 relay"),  // RFC 7526
        (range("192.168.0.0/16"), "private"),  // RFC 1918
        (range("198.18.0.0/15"), "for benchmarks"),  // RFC 2544
        (range("198.51.100.0/24"), "for documentation"),  // RFC 5737
        (range("203.0.113.0/24"), "for documentation"),  // RFC 5737
        (range("224.0.0.0/4"), "multicast"),  // RFC 5771
        (range("255.255.255.255/32"), "broadcast"),  // RFC 919
        (range("240.0.0.0/4"), "reserved"),  // RFC 1112 section 4
        (range("::/128"), "unspecified"),  // RFC 4291 section 2.5.2
        (range("::1/128"), "loopback"),  // RFC 4291 section 2.5.3
        (range("100::/64"), "for discarding"),  // RFC 6666
        (range("2001::/23"), "for protocols"),  // RFC 2928
        (range("2001:db8::/32"), "for documentation"),  // RFC 3849
        (range("3fff::/20"), "for documentation"),  // RFC 9637
        (range("5f00::/16"), "for segment routing"),  // RFC 9602
        (range("fc00::/7"), "unique local"),  // RFC 4193
        (range("fe80::/10"), "link-local"),  // RFC 4291 section 2.5.6
        (range("fec0::/10"), "site-local"),  // RFC 3879
        (range("ff00::/8"), "multicast"),  // RFC 4291 section 2.7
    ]

    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no network") }
        return range
    }
}
