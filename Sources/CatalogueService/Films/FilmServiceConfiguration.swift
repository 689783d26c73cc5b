package import HTTPSemantics

/// What a film service serves, and who may write.
package struct FilmServiceConfiguration: Sendable {
    /// Whether clients may add, change and remove films. Default: no; methods that write are then answered 405.
    package var isWritable = false
    /// Who may write. Default: nobody.
    package var writers = WriteAccess()
    /// The addresses that the server listens on; empty for a local socket. `0.0.0.0` and `::` mean every address of the
    /// machine.
    package var listeningHosts: [String] = ["127.0.0.1"]
    /// The addresses under which a proxy publishes the service.
    package var publicAddresses: [PublicAddress] = []
    /// Whether `/` and `/movies.json` serve the list too. Default: yes. A folder has its own files there.
    package var isRoot = true
    /// The most bytes of a body, default 64 MiB; a longer one is answered 413.
    package var bodyLimit = 64 << 20
    /// Whether uploaded posters keep Exif with its positions, texts and other metadata. Default: no.
    package var keepsMetadata = false

    /// The most bytes of rendered answers that are kept in memory, default 32 MiB.
    package var keptAnswers = 32 << 20

    package init() {}

    /// Whether other machines can reach the service.
    package var isReachable: Bool {
        listeningHosts.contains { HostAndPort(Self.bracketed($0))?.isLoopback != true }
            || publicAddresses.contains { HostAndPort(Self.bracketed($0.origin.host))?.isLoopback != true }
    }

    /// Whether the server listens on every address of the machine.
    var listensEverywhere: Bool { listeningHosts.contains { ["0.0.0.0", "::"].contains($0) } }

    /// The public address with the host of a field Host; nil if there is none.
    func publicAddress(_ host: String) -> PublicAddress? {
        let name = HostAndPort(host)
        return publicAddresses.first { $0.origin.host == name?.host }
    }

    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}

/// An address under which a proxy publishes the service: `https://example.org/films/`. The proxy takes the path away
/// before it forwards a request.
package struct PublicAddress: Sendable, Hashable {
    package let origin: WebOrigin
    /// The path with a slash at both ends, percent-encoded; `/` for the root.
    package let path: String

    /// Reads an address; nil for other schemes, user information, a query or a fragment.
    package init?(_ text: String) {
        guard let origin = WebOrigin(text), !text.contains("?"), !text.contains("#") else { return nil }
        let afterScheme = text.dropFirst(origin.scheme.utf8.count + 3)
        let path = afterScheme.firstIndex(of: "/").map { afterScheme[$0...] } ?? "/"
        // It becomes a part of a cookie's Path.
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !";,\"\\".utf8.contains($0) }) else {
            return nil
        }
        self.origin = origin
        self.path = path.hasSuffix("/") ? String(path) : path + "/"
    }

    /// The address as text, with a slash at its end.
    package var text: String {
        let usualPort = origin.scheme == "https" ? 443 : 80
        return "\(origin.scheme)://\(FilmServiceConfiguration.bracketed(origin.host))"
            + (origin.port == usualPort ? "" : ":\(origin.port)") + path
    }
}
