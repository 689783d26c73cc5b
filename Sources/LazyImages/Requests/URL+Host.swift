package import FoundationEssentials

extension URL {
    /// The host in lower case; empty where there is none.
    package var lowercasedHost: String { (host() ?? "").lowercased() }

    /// Whether it is read without a transfer: `file:` and `data:` URLs.
    var isLocal: Bool { ["file", "data"].contains(scheme?.lowercased()) }
}

/// Scheme, host and port of a URL (RFC 6454 section 4), taken apart once: Foundation parses at each look.
struct Origin: Hashable, Sendable {
    /// In lower case; empty where there is none.
    let scheme: String
    /// In lower case; empty where there is none.
    let host: String
    /// The scheme's own port where the URL names none.
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.lowercased() ?? ""
        host = url.lowercasedHost
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Host and port as one text: what connections are counted by.
    var hostAndPort: String { "\(host):\(port)" }
}
