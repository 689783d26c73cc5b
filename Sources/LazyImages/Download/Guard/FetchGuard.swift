import FoundationEssentials
import HTTPSemantics

/// Who may be fetched, for servers that fetch what strangers name. Without it such a server would reach for them what only
/// it can reach: services on its own machine and network.
///
/// The rules judge each request, and again each redirect. Scheme, host and port are judged before the transfer; the address
/// is judged when the connection is made, because a name may have another address at each look-up, and an address has many
/// spellings. With a guard `file:` and `data:` URLs are refused too. A refusal is the error `addressRefused`.
///
/// A cached file needs no transfer and is not judged.
///
/// A guard cannot be combined with a proxy: only the proxy would know the address.
public struct FetchGuard: Sendable, Hashable {
    /// The ports of a source that names none.
    private static let usualPorts = [80, 443]

    /// By host; nil where any host may be fetched from.
    private let sources: [String: [FetchSource]]?
    /// The rules for addresses.
    public let addresses: AddressRules

    /// A guard.
    /// - Parameters:
    ///   - sources: the hosts that may be fetched from; nothing else may.
    ///   - allowedNetworks: networks that may be connected to although they are not public. Default none.
    public init(sources: [FetchSource], allowedNetworks: [AddressRange] = []) {
        self.sources = Dictionary(grouping: sources, by: \.host)
        addresses = AddressRules(allowedNetworks: allowedNetworks)
    }

    /// A guard that lets any host be fetched from, by https or http at its usual ports: addresses alone are judged. For
    /// servers that know by other means who may name a source, such as a signature.
    /// - Parameter allowedNetworks: as in the other initialiser.
    public init(anyHostAllowing allowedNetworks: [AddressRange] = []) {
        sources = nil
        addresses = AddressRules(allowedNetworks: allowedNetworks)
    }

    /// Throws `.addressRefused` if `url` may not be fetched, whatever its address.
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
            let name = HostName(String(authority))
        else {
            throw refused(.host, "a host and nothing else is allowed between // and the path")
        }
        let port = name.port ?? (scheme == "https" ? 443 : 80)
        guard let sources else {
            guard Self.usualPorts.contains(port) else {
                throw refused(.port, "port \(port) is none of https or http")
            }
            return
        }
        guard let listed = sources[FetchSource.canonical(name.host)] else {
            throw refused(.host, "\(name.host) is not listed")
        }
        let matching = listed.filter { $0.port.map { $0 == port } ?? Self.usualPorts.contains(port) }
        guard !matching.isEmpty else { throw refused(.port, "port \(port) of \(name.host) is not listed") }
        guard scheme == "https" || allowsInsecureHTTP || matching.contains(where: \.allowsInsecureHTTP) else {
            throw refused(.scheme, "plain http to \(name.host) is not allowed")
        }
    }

    /// The text between `//` and the path. It is cut out of what the transport gets, since two parsers may read an odd URL
    /// differently (`http:///host`, `http://one\@other`).
    private static func authority(of url: URL, _ scheme: String) -> Substring? {
        let rest = url.absoluteString.dropFirst(scheme.utf8.count)
        guard rest.hasPrefix("://") else { return nil }
        return rest.dropFirst(3).prefix { !"/?#".contains($0) }
    }
}
