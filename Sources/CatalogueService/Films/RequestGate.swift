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
            ["127.0.0.1", "localhost", "::1"] + configuration.publicAddresses.map(\.origin.host)
            + configuration.listeningHosts.filter {
                HostAndPort(FilmServiceConfiguration.bracketed($0)) != nil
            }
        usualHosts = names.map(FilmServiceConfiguration.bracketed)
    }

    /// Throws if the host is not this service's.
    /// - Parameter authority: the authority of a target in absolute form, which counts like Host.
    func checkHost(_ fields: HeaderFields, authority: String?) throws(FilmRefusal) {
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
        if name.isLoopback || configuration.publicAddresses.contains(where: { $0.origin.host == name.host }) {
            return true
        }
        // Names can be rebound to an address of this machine; addresses cannot.
        if configuration.listensEverywhere { return name.isAddress }
        return configuration.listeningHosts.contains { $0.lowercased() == name.host }
    }

    /// Throws if a proxy has forwarded the request to a service that trusts this machine: a stranger may have sent it.
    func checkForwarding(_ fields: HeaderFields) throws(FilmRefusal) {
        guard configuration.isWritable, configuration.writers.trustsLocal, Self.isForwarded(fields) else {
            return
        }
        throw FilmRefusal(
            .forbidden,
            "a service with --trust-local takes no forwarded requests; its operator can use tokens instead")
    }

    /// Whether a proxy says that it has forwarded the request. A proxy that adds no field cannot be seen.
    private static func isForwarded(_ fields: HeaderFields) -> Bool {
        fields.fields.contains { field in
            let name = field.name.lowercased()
            return ["forwarded", "via", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
        }
    }

    /// Throws if another site's page writes, or if the sender may not write.
    /// - Returns: the writer's name in logs.
    @discardableResult
    func checkWrite(_ fields: HeaderFields, from peer: Peer) throws(FilmRefusal) -> String {
        try checkSite(fields)
        if let writer = writer(fields, from: peer) { return writer }
        let isWrong = BearerToken.token(in: fields) != nil
        throw FilmRefusal(
            .unauthorized,
            isWrong
                ? "this token may not write" : "writing needs a token: send Authorization: Bearer TOKEN",
            fields: [
                "WWW-Authenticate": "Bearer realm=\"films\"" + (isWrong ? ", error=\"invalid_token\"" : "")
            ])
    }

    /// The name of a request's writer in logs; nil if it may not write.
    func writer(_ fields: HeaderFields, from peer: Peer) -> String? {
        let writers = configuration.writers
        if writers.trustsLocal, peer.isLocal { return "local" }
        if let token = BearerToken.token(in: fields) { return writers.token(token)?.name }
        let session = SessionCookie(fields, configuration).value(in: fields)
        return session.flatMap { writers.token(ofSession: $0) }?.name
    }

    /// Throws if another site's page sends the request.
    func checkSite(_ fields: HeaderFields) throws(FilmRefusal) {
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
    private func isOwn(_ origin: WebOrigin, _ fields: HeaderFields) -> Bool {
        if configuration.publicAddresses.contains(where: { $0.origin == origin }) { return true }
        guard let host = fields["host"].flatMap({ HostAndPort($0) }) else { return false }
        return origin == WebOrigin(scheme: origin.scheme, host)
    }
}
