package import HTTPSemantics

/// What a film service serves, and whom it lets write.
package struct FilmServiceConfiguration: Sendable {
    /// Whether films may be added, changed and removed. Default: no; then methods that write are answered 405.
    package var isWritable = false
    /// The tokens that allow writing. Where there are any, every write needs one.
    package var tokens: [String] = []
    /// The hosts that the server listens on, as addresses; empty for a local socket. `0.0.0.0` and `::` stand for every
    /// address of the machine.
    package var listeningHosts: [String] = ["127.0.0.1"]
    /// Origins by which a proxy makes the service public.
    package var publicOrigins: [WebOrigin] = []
    /// Whether the list is served at `/` and `/movies.json` too. Default: yes. A service of a folder has its own files there.
    package var isRoot = true
    /// Bytes of a body at most, default 64 MiB; more are answered 413.
    package var bodyLimit = 64 << 20

    package init() {}

    /// Whether others than this machine's programs may reach the service, so that writing takes a token.
    package var isReachable: Bool {
        listeningHosts.contains { HostName(Self.bracketed($0))?.isLoopback != true }
            || publicOrigins.contains { HostName(Self.bracketed($0.host))?.isLoopback != true }
    }

    /// Whether the server listens on every address that the machine has.
    var listensEverywhere: Bool { listeningHosts.contains { ["0.0.0.0", "::"].contains($0) } }

    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
