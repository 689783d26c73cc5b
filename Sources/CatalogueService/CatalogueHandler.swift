import HTTPSemantics
import HTTPServer
import PictureServer
import ServiceOperations
import SystemSupport

/// Answers a catalogue service's requests for films and for the files of its folder.
final class CatalogueHandler: HTTPHandler {
    /// The content that the service serves.
    enum Site: Sendable {
        case folder(FolderSite)
        case library(FilmService)
    }

    let site: Site
    /// Nil if pictures are not served.
    let pictures: PictureServer?
    private let gate: RequestGate
    private let configuration: CatalogueService.Configuration
    /// Nil if clients may send any number of requests.
    private let rate: ClientRate?
    private let failures: Lock<SeededNumbers>
    /// Whether nobody may look at the served file any more. Held during a look.
    private let areLooksOver = Lock(false)

    init(site: Site, pictures: PictureServer?, configuration: CatalogueService.Configuration) {
        self.site = site
        self.pictures = pictures
        gate =
            switch site {
            case .library(let films): films.gate
            case .folder(let folder): folder.gate
            }
        self.configuration = configuration
        rate = configuration.requestsPerClient.map { ClientRate(perSecond: $0) }
        failures = Lock(SeededNumbers(seed: configuration.failureSeed))
    }

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        if let refusal = refusal(ofClient: head, peer) { return .answer(refusal) }
        do throws(FilmRefusal) {
            try gate.checkHost(head.fields)
            // Most requests of a busy service repeat earlier ones.
            if configuration.failureRate == 0, !configuration.films.isPrivate, let answer = answerKnown(head)
            {
                return .answer(answer)
            }
            let call = try gate.call(head, from: peer)
            if failsNext() {
                return .answer(.plain(.internalServerError, "--fail-rate asks for this failure"))
            }
            let admission = admit(call)
            return configuration.films.isPrivate && !call.isOpen
                ? admission.map(Self.withoutSharing) : admission
        } catch {
            return .answer(error.response(to: head))
        }
    }

    private func admit(_ call: ServiceCall) -> Admission {
        if call.route == .image, let pictures {
            return call.method == "OPTIONS"
                ? .answer(call.options) : pictures.admit(call.head, call.target, from: call.peer)
        }
        if call.route == .operations, let operations = configuration.films.operations {
            do throws(FilmRefusal) { try gate.check(call, .admin) } catch {
                return .answer(error.response(to: call.head))
            }
            return operations.admit(call.head, isOurs: true).map { response in
                var response = response
                if !call.isRead { response.writer = call.sender?.name }
                return response
            }
        }
        return switch site {
        case .library(let films): films.admit(call)
        case .folder(let folder): folder.admit(call)
        }
    }

    /// The answer of a private service, which no cache may keep for others (RFC 9111 section 5.2.2.7).
    private static func withoutSharing(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        let control = response.fields["cache-control"]?.replacing("public, ", with: "") ?? "no-cache"
        guard !["private", "no-store"].contains(where: { control.contains($0) }) else { return response }
        response.fields["Cache-Control"] = "private, " + control
        return response
    }

    /// The answer to a request like an earlier one, if memory still has it. Nothing is parsed again.
    private func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        if let answer = pictures?.answerKnown(head) { return answer }
        return if case .library(let films) = site { films.answerKnown(head) } else { nil }
    }

    /// Whether the next request fails, at the configured rate.
    private func failsNext() -> Bool {
        configuration.failureRate > 0
            && failures.withLock { Double.random(in: 0..<1, using: &$0) < configuration.failureRate }
    }

    /// Refuses a client that sends too many requests; nil for others.
    private func refusal(ofClient head: RequestHead, _ peer: Peer) -> HTTPResponse? {
        guard let wait = rate?.admit(configuration.clients.client(of: head, from: peer)) else { return nil }
        return .plain(.tooManyRequests, "too many requests; wait", fields: ["Retry-After": "\(wait)"])
    }

    // MARK: The served file

    /// Looks whether the served file has changed. Blocks.
    func look() {
        areLooksOver.withLock { areOver in
            if areOver { return }
            switch site {
            case .folder(let folder): folder.refresh()
            case .library(let films):
                let error = films.library.refresh()
                let isNew = configuration.readiness.setNote(error.map { "\($0)" }, for: "library")
                if isNew, let error { configuration.reportFailure(error) }
            }
        }
    }

    /// Returns when no look is under way; none begins after it.
    func endLooks() { areLooksOver.withLock { $0 = true } }
}
