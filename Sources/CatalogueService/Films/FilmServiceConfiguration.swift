package import HTTPSemantics

/// What a film service serves, and who may write.
package struct FilmServiceConfiguration: Sendable {
    /// Whether clients may add, change and remove films. Default: no; methods that write are then answered 405.
    package var isWritable = false
    /// The tokens that allow writing. If there are any, every write needs one.
    package var tokens: [String] = []
    /// The addresses that the server listens on; empty for a local socket. `0.0.0.0` and `::` mean every address of the
    /// machine.
    package var listeningHosts: [String] = ["127.0.0.1"]
    /// The origins under which a proxy publishes the service.
    package var publicOrigins: [WebOrigin] = []
    /// Whether `/` and `/movies.json` serve the list too. Default: yes. A folder has its own files there.
    package var isRoot = true
    /// The most bytes of a body, default 64 MiB; a longer one is answered 413.
    package var bodyLimit = 64 << 20
    /// Whether uploaded posters keep Exif with its positions, texts and other metadata. Default: no.
    package var keepsMetadata = false

    package init() {}

    /// Whether other machines or users can reach the service, so that writing needs a token.
    package var isReachable: Bool {
        listeningHosts.contains { HostAndPort(Self.bracketed($0))?.isLoopback != true }
            || publicOrigins.contains { HostAndPort(Self.bracketed($0.host))?.isLoopback != true }
    }

    /// Whether the server listens on every address of the machine.
    var listensEverywhere: Bool { listeningHosts.contains { ["0.0.0.0", "::"].contains($0) } }

    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
