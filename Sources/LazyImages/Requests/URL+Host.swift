package import FoundationEssentials

extension URL {
    /// The host in lower case; empty without a host.
    package var lowercasedHost: String { (host() ?? "").lowercased() }

    /// Whether it is a `file:` or `data:` URL, which needs no transfer.
    package var isLocal: Bool { ["file", "data"].contains(scheme?.lowercased()) }
}

/// Scheme, host and port of a URL (RFC 6454 section 4), parsed once: Foundation parses at every access.
struct Origin: Hashable, Sendable {
    /// In lower case; empty if the URL has none.
    let scheme: String
    /// In lower case; empty if the URL has none.
    let host: String
    /// The scheme's default port if the URL names none.
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.lowercased() ?? ""
        host = url.lowercasedHost
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Host and port as one text, by which connections are counted.
    var hostAndPort: String { "\(host):\(port)" }
}
