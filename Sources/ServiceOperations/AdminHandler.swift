package import HTTPSemantics
package import HTTPServer
internal import SystemSupport

/// The endpoints for operators and their programs, at a listener of their own:
///
///     GET    /health/live              200 while the process serves requests
///     GET    /health/ready             200, and the faults that do not keep it from answering; or 503 and the reason
///     GET    /metrics                  the metrics, for Prometheus
///     DELETE /sources/{base64url}      purges a source and all its pictures: 204; or 404 if none are stored
///
/// The metrics and the purge need a Host that is this listener's. Health is told to anybody: load balancers ask for it
/// under any name, or without Host.
package final class AdminHandler: HTTPHandler {
    /// Removes all that is stored of a source address. Returns whether anything was stored.
    package typealias Purge = @Sendable (_ source: String) async throws -> Bool

    private let metrics: Metrics
    private let readiness: Readiness
    private let hosts: [String]
    private let purge: Purge?

    /// - Parameters:
    ///   - hosts: the host names of the listener. Addresses and `localhost` need not be named.
    ///   - purge: nil, the default, if the service has nothing to purge.
    package init(
        metrics: Metrics, readiness: Readiness, hosts: [String] = [], purge: Purge? = nil
    ) {
        self.metrics = metrics
        self.readiness = readiness
        self.hosts = hosts.map { $0.lowercased() }
        self.purge = purge
    }

    /// Answers health at once, even while all threads that may block are busy.
    package func admit(_ head: RequestHead, from peer: Peer) -> Admission { admit(head, isOurs: false) }

    /// Whether a service hands out an endpoint at its own address too.
    package func serves(_ segments: [String]) -> Bool {
        segments == ["metrics"] || segments.count == 2 && segments[0] == "sources"
    }

    /// - Parameter isOurs: whether the host is known to be the service's.
    package func admit(_ head: RequestHead, isOurs: Bool) -> Admission {
        // Ignored: the answer 400 says enough.
        guard let target = try? RequestTarget(head.target) else { return .answer(.plain(.badRequest)) }
        switch target.segments {
        case ["health", "live"]: return .answer(Self.refusal(of: head) ?? .plain(.ok))
        case ["health", "ready"]: return .answer(Self.refusal(of: head) ?? health)
        case ["metrics"]:
            let refusal = Self.refusal(of: head) ?? refusal(ofHost: head, target, isOurs)
            return refusal.map { .answer($0) }
                ?? .handle(bodyLimit: 0) { [metrics] _ in
                    // Reading them may block.
                    HTTPResponse(
                        status: .ok,
                        fields: ["Content-Type": Metrics.mediaType, "Cache-Control": "no-store"],
                        body: .bytes(Array(metrics.text.utf8)))
                }
        default:
            guard target.segments.count == 2, target.segments[0] == "sources", let purge else {
                return .answer(.plain(.notFound))
            }
            if let refusal = Self.refusal(of: head, allowing: ["DELETE"])
                ?? refusal(ofSite: head, target, isOurs)
            {
                return .answer(refusal)
            }
            return deletion(of: target.segments[1], purge)
        }
    }

    private var health: HTTPResponse {
        if let reason = readiness.reason { return .plain(.serviceUnavailable, reason) }
        let notes = readiness.notes
        return .plain(.ok, notes.isEmpty ? nil : notes.joined(separator: "\n"))
    }

    private func deletion(of text: String, _ purge: @escaping Purge) -> Admission {
        guard let source = Base64URL.decode(text).flatMap({ String(validating: $0, as: UTF8.self) }) else {
            return .answer(.plain(.badRequest, "the source must be an address in base64url"))
        }
        return .later { pending in
            Task {
                do {
                    let isKnown = try await purge(source)
                    pending.send(
                        isKnown
                            ? HTTPResponse(status: .noContent)
                            : .plain(.notFound, "nothing is stored for this source"))
                } catch {
                    pending.send(.plain(.internalServerError, "\(error)"))
                }
            }
        }
    }

    /// Refuses a request for another host. A page of another site may have bound its own name to this machine's address
    /// (DNS rebinding). The name in Host shows that; an address in Host cannot be rebound.
    private func refusal(
        ofHost head: RequestHead, _ target: RequestTarget, _ isOurs: Bool
    ) -> HTTPResponse? {
        if isOurs { return nil }
        let names = head.fields.values(of: "host") + (target.authority.map { [$0] } ?? [])
        let areOurs = names.allSatisfy { text in
            guard let name = HostAndPort(text) else { return false }
            return name.isLoopback || name.isAddress || hosts.contains(name.host)
        }
        guard names.isEmpty || !areOurs else { return nil }
        return .plain(
            .forbidden, "unknown host; use the address of this listener, or start with --admin-host NAME")
    }

    /// Refuses a request for another host, and one that a page of another site made the browser send.
    private func refusal(
        ofSite head: RequestHead, _ target: RequestTarget, _ isOurs: Bool
    ) -> HTTPResponse? {
        if let refusal = refusal(ofHost: head, target, isOurs) { return refusal }
        return WebOrigin.isOwnPage(head.fields)
            ? nil : .plain(.forbidden, "other sites' pages must not write")
    }

    /// Refuses a request with another method.
    private static func refusal(
        of head: RequestHead, allowing methods: [String] = ["GET", "HEAD"]
    ) -> HTTPResponse? {
        guard !methods.contains(head.method) else { return nil }
        return .plain(.methodNotAllowed, fields: ["Allow": methods.joined(separator: ", ")])
    }
}

extension WebOrigin {
    /// Whether no page of another site has made a browser send a request with these fields, as Origin and Sec-Fetch-Site
    /// show. Another port or subdomain of the same site may be another program, so only the same origin counts.
    /// - Parameter others: the service's origins, besides that of the request's host.
    package static func isOwnPage(_ fields: HeaderFields, others: [WebOrigin] = []) -> Bool {
        let own = fields["host"].flatMap { HostAndPort($0) }
        // Where the service's own scheme is known, a page over http may be a stranger's on the network.
        let isKnown = others.contains { other in own.map { WebOrigin(scheme: other.scheme, $0) } == other }
        let areOwn = fields.values(of: "origin").allSatisfy { text in
            guard let origin = WebOrigin(text) else { return false }
            return others.contains(origin)
                || !isKnown && own.map { WebOrigin(scheme: origin.scheme, $0) } == origin
        }
        return areOwn
            && fields.values(of: "sec-fetch-site").allSatisfy {
                ["same-origin", "none"].contains($0.lowercased())
            }
    }
}

/// Whether a load balancer should send requests, for `/health/ready`; and what its operator should know meanwhile.
package final class Readiness: Sendable {
    private struct State: Sendable {
        var reason: String?
        var notes: [String: String] = [:]
    }

    private let state: Lock<State>

    /// - Parameter reason: why the service is not ready yet. Default: `starting`.
    package init(unreadyBecause reason: String? = "starting") { state = Lock(State(reason: reason)) }

    /// Why the service is not ready, in one line; nil if it is ready.
    package var reason: String? { state.withLock { $0.reason } }

    /// Faults that do not keep the service from answering, one line each, in the order of their keys.
    package var notes: [String] {
        state.withLock { state in state.notes.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Requests are welcome from now on.
    package func becomeReady() { state.withLock { $0.reason = nil } }

    /// No more requests should come.
    package func becomeUnready(because reason: String) { state.withLock { $0.reason = reason } }

    /// Sets the note of a part of the service, such as `catalogue`; nil removes it.
    /// - Returns: whether it is another note than before.
    @discardableResult
    package func setNote(_ text: String?, for key: String) -> Bool {
        // An error may quote a document.
        let line = text?.replacing("\n", with: " ")
        return state.withLock { exchange(&$0.notes[key], with: line) != line }
    }
}
