extension CacheKey {
    /// The host of the URL, without the port; empty without a host. Read from the text: making a URL would take longer
    /// than the rest of a lookup.
    package var host: String { Self.host(ofURL: url) }

    /// The host in the text of a URL, in lower case, without user and port; empty without a host.
    package static func host(ofURL url: Substring) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let server =
            authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        guard server.hasPrefix("["), let end = server.firstIndex(of: "]") else {
            return server.prefix { $0 != ":" }.lowercased()
        }
        return server[...end].lowercased()
    }
}
