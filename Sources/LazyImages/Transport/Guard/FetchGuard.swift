import FoundationEssentials
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
    private static let defaultPorts = [80, 443]

    /// The sources by host; nil if any host is allowed.
    private let sources: [String: [FetchSource]]?
    /// The rules for addresses.
    package let addresses: AddressRules

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

    /// Throws `.addressRefused` if scheme, host or port of `url` are not allowed.
    /// - Parameter allowsInsecureHTTP: whether the policy allows plain http to the URL's host.
    func check(_ url: URL, allowsInsecureHTTP: Bool) throws(ImageLoadingError) {
        func refused(_ rule: FetchRule, _ reason: String) -> ImageLoadingError {
            .addressRefused(url: url.displayText, rule: rule, reason: reason)
        }
        let scheme = url.scheme?.lowercased() ?? ""
        guard ["https", "http"].contains(scheme) else {
            throw refused(.scheme, "only https and http are allowed")
        }
        guard let authority = Self.authority(of: url, scheme), !authority.contains("@"),
            let name = HostAndPort(String(authority))
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
