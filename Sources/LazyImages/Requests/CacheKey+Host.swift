extension CacheKey {
    /// The host of its URL, without the port; empty where there is none. Read from the canonical text, in which every host
    /// is spelled in one way: to make a URL of it would take longer than the rest of a lookup.
    var host: String {
        let url = url
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let server = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard server.hasPrefix("[") else { return String(server.prefix { $0 != ":" }) }
        return String(server.prefix { $0 != "]" }) + "]"
    }
}
