internal import HTTPSemantics
package import HTTPServer

/// What operators and their programs ask of a service, at a listener of its own:
///
///     GET    /health/live              200 while the process serves at all
///     GET    /health/ready             200, or 503 and why no requests should be sent
///     GET    /metrics                  the figures, for Prometheus
///     DELETE /sources/{base64url}      forgets a picture's source and all sizes of it: 204, or 404 where there is none
package final class AdminHandler: HTTPHandler {
    /// Forgets what is kept of a source, by its address. Whether there was anything.
    package typealias Purge = @Sendable (_ source: String) async throws -> Bool

    private let metrics: Metrics
    private let readiness: Readiness
    private let hosts: [String]
    private let purge: Purge?

    /// - Parameters:
    ///   - hosts: the addresses that the listener has.
    ///   - purge: nil, the default, where there is nothing to purge.
    package init(
        metrics: Metrics, readiness: Readiness, hosts: [String] = [], purge: Purge? = nil
    ) {
        self.metrics = metrics
        self.readiness = readiness
        self.hosts = hosts.map { $0.lowercased() }
        self.purge = purge
    }

    /// Health is answered at once, however busy the threads are that may block.
    package func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        guard let target = try? RequestTarget(head.target) else { return .answer(.plain(.badRequest)) }
        switch target.segments {
        case ["health", "live"]: return .answer(Self.reading(head) { .plain(.ok) })
        case ["health", "ready"]:
            return .answer(
                Self.reading(head) {
                    readiness.reason.map { .plain(.serviceUnavailable, $0) } ?? .plain(.ok)
                })
        case ["metrics"]:
            guard let refusal = Self.refusal(of: head, allowing: ["GET", "HEAD"]) else {
                return .handle(bodyLimit: 0)
            }
            return .answer(refusal)
        default:
            guard target.segments.count == 2, target.segments[0] == "sources", let purge else {
                return .answer(.plain(.notFound))
            }
            return deletion(of: target.segments[1], head, target, purge)
        }
    }

    /// The figures: reading them takes its time, and may wait for others.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(
            status: .ok, fields: ["Content-Type": Metrics.mediaType, "Cache-Control": "no-store"],
            body: .bytes(Array(metrics.text.utf8)))
    }

    private func deletion(
        of text: String, _ head: RequestHead, _ target: RequestTarget, _ purge: @escaping Purge
    ) -> Admission {
        if let refusal = Self.refusal(of: head, allowing: ["DELETE"]) ?? refusal(ofSite: head, target) {
            return .answer(refusal)
        }
        guard let source = Base64URL.decode(text).flatMap({ String(validating: $0, as: UTF8.self) }) else {
            return .answer(.plain(.badRequest, "a source is an address in base64url"))
        }
        return .later { pending in
            Task {
                do {
                    let isKnown = try await purge(source)
                    pending.send(
                        isKnown
                            ? HTTPResponse(status: .noContent)
                            : .plain(.notFound, "nothing is kept of this source"))
                } catch {
                    pending.send(.plain(.internalServerError, "\(error)"))
                }
            }
        }
    }

    /// Refuses a request that a page of another site makes a browser send in its user's name. Its name in Host tells that it
    /// was rebound to this machine's address (DNS rebinding): names can be, addresses cannot.
    private func refusal(ofSite head: RequestHead, _ target: RequestTarget) -> HTTPResponse? {
        let names = head.fields.values(of: "host") + (target.authority.map { [$0] } ?? [])
        let isOurs = names.allSatisfy { text in
            guard let name = HostName(text) else { return false }
            return name.isLoopback || name.isAddress || hosts.contains(name.host)
        }
        guard !names.isEmpty, isOurs else {
            return .plain(.forbidden, "this host is not served here; name its address")
        }
        let own = head.fields["host"].flatMap { HostName($0) }
        let isOwnPage = head.fields.values(of: "origin").allSatisfy { text in
            guard let origin = WebOrigin(text), let own else { return false }
            return origin == WebOrigin(scheme: origin.scheme, own)
        }
        let isOwnSite = head.fields.values(of: "sec-fetch-site").allSatisfy {
            ["same-origin", "none"].contains($0.lowercased())
        }
        return isOwnPage && isOwnSite ? nil : .plain(.forbidden, "pages of other sites may not write")
    }

    private static func reading(_ head: RequestHead, _ answer: () -> HTTPResponse) -> HTTPResponse {
        refusal(of: head, allowing: ["GET", "HEAD"]) ?? answer()
    }

    private static func refusal(of head: RequestHead, allowing methods: [String]) -> HTTPResponse? {
        guard !methods.contains(head.method) else { return nil }
        var response = HTTPResponse.plain(.methodNotAllowed)
        response.fields["Allow"] = methods.joined(separator: ", ")
        return response
    }
}
