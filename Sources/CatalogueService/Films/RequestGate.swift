import HTTPSemantics
import HTTPServer

/// Decides from a request's head who may read and who may write.
///
/// Another site's page can make a browser send requests in its user's name. If its own name is bound to this machine's
/// address (DNS rebinding), the name in Host shows it. Origin and Sec-Fetch-Site show that another site's page writes.
struct RequestGate: Sendable {
    let configuration: FilmServiceConfiguration
    /// Accepted hosts in their usual spelling, which is compared before anything is parsed.
    private let usualHosts: [String]

    init(configuration: FilmServiceConfiguration) {
        self.configuration = configuration
        let names =
            ["127.0.0.1", "localhost", "::1"] + configuration.publicOrigins.map(\.host)
            + configuration.listeningHosts.filter {
                HostAndPort(FilmServiceConfiguration.bracketed($0)) != nil
            }
        usualHosts = names.map(FilmServiceConfiguration.bracketed)
    }

    /// Throws if the host is not this service's.
    /// - Parameter authority: the authority of a target in absolute form, which counts like Host.
    func checkHost(_ fields: HTTPFields, authority: String?) throws(FilmRefusal) {
        for text in fields.values(of: "host") + (authority.map { [$0] } ?? []) {
            if isUsual(text) { continue }
            guard let name = HostAndPort(text) else { throw FilmRefusal(.badRequest, "bad Host") }
            guard isAccepted(name) else {
                throw FilmRefusal(
                    .forbidden,
                    "the host \(name.host) is unknown; start with --public-url http://\(text) to serve it"
                )
            }
        }
    }

    private func isUsual(_ text: String) -> Bool {
        usualHosts.contains { host in
            guard text.utf8.starts(with: host.utf8) else { return false }
            let port = text.utf8.dropFirst(host.utf8.count)
            return port.isEmpty
                || port.first == UInt8(ascii: ":") && port.count <= 6
                    && port.dropFirst().allSatisfy(\.isDigit)
        }
    }

    private func isAccepted(_ name: HostAndPort) -> Bool {
        if name.isLoopback || configuration.publicOrigins.contains(where: { $0.host == name.host }) {
            return true
        }
        // Names can be rebound to an address of this machine; addresses cannot.
        if configuration.listensEverywhere { return name.isAddress }
        return configuration.listeningHosts.contains { $0.lowercased() == name.host }
    }

    /// Throws if another site's page writes, or if the write lacks a token.
    func checkWrite(_ fields: HTTPFields, from peer: Peer) throws(FilmRefusal) {
        try checkSite(fields)
        guard needsToken(from: peer) else { return }
        guard let token = BearerToken.token(in: fields) else {
            throw FilmRefusal(
                .unauthorized, "writing needs a token: send Authorization: Bearer TOKEN",
                fields: ["WWW-Authenticate": "Bearer realm=\"films\""])
        }
        guard BearerToken.isAccepted(token, among: configuration.tokens) else {
            throw FilmRefusal(
                .unauthorized, "this token may not write",
                fields: ["WWW-Authenticate": "Bearer realm=\"films\", error=\"invalid_token\""])
        }
    }

    /// Whether a write needs a token: always if there are tokens, and always from another machine.
    func needsToken(from peer: Peer) -> Bool {
        !configuration.tokens.isEmpty || configuration.isReachable || !peer.isLocal
    }

    private func checkSite(_ fields: HTTPFields) throws(FilmRefusal) {
        // Another port or subdomain of the same site may be another program, so only the same origin may write.
        let sites = fields.values(of: "sec-fetch-site").map { $0.lowercased() }
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw FilmRefusal(.forbidden, "other sites' pages must not write")
        }
        for value in fields.values(of: "origin") {
            guard let origin = WebOrigin(value), isOwn(origin, fields) else {
                throw FilmRefusal(.forbidden, "other sites' pages must not write")
            }
        }
    }

    /// Whether a page of this origin is the service's own: from the requested host, or from a public address.
    private func isOwn(_ origin: WebOrigin, _ fields: HTTPFields) -> Bool {
        if configuration.publicOrigins.contains(origin) { return true }
        guard let host = fields["host"].flatMap({ HostAndPort($0) }) else { return false }
        return origin == WebOrigin(scheme: origin.scheme, host)
    }
}
