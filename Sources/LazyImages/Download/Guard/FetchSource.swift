import HTTPSemantics

/// A host that may be fetched from:
///
///     image.example.org              the ports 80 and 443
///     images.example.org:8443        this port only
///     http://nas.example.org:8080    plain http is allowed
///     [2001:db8::7]:8443
///
/// It stands for this host alone, not for names below it. The host is compared as it is written, so the name of an allowed
/// host does not allow its address.
public struct FetchSource: Sendable, Hashable {
    /// A name in lower case without the dot at its end, or an address without brackets.
    let host: String
    /// The only port that is allowed; nil for the usual ones.
    let port: Int?
    /// Whether plain http is allowed even where the policy does not allow it.
    let allowsInsecureHTTP: Bool

    /// Reads a source. Nil for what is malformed: another scheme, a path, credentials, an asterisk, a zone, a port beyond
    /// 65535.
    /// - Parameter text: a host, perhaps with a scheme before it and a port behind it.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        let scheme = ["http://", "https://"].first { lowered.hasPrefix($0) }
        guard let name = HostName(String(lowered.dropFirst(scheme?.utf8.count ?? 0))),
            name.port.map({ $0 >= 1 }) ?? true, Self.isPlain(name.host)
        else { return nil }
        host = Self.canonical(name.host)
        port = name.port
        allowsInsecureHTTP = scheme == "http://"
    }

    /// An IPv6 address in its shortest form, anything else as it is.
    static func canonical(_ host: String) -> String { IPAddress(host)?.description ?? host }

    /// Whether every parser of URLs reads the host in the same way: letters, digits, `-`, `_` and dots, or an address.
    private static func isPlain(_ host: String) -> Bool {
        if host.contains(":") { return IPAddress(host) != nil }
        return host.utf8.allSatisfy {
            $0 >= 0x61 && $0 <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || "-_.".utf8.contains($0)
        }
    }
}
