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
    private let clients: ForwardedClient
    /// Nil if clients may send any number of requests.
    private let rate: ClientRate?
    private let failureRate: Double
    private let failures: Lock<SeededNumbers>

    /// The most bytes of a request's body where none is needed.
    private static let ignoredBody = 64 << 10

    init(site: Site, pictures: PictureServer?, configuration: CatalogueService.Configuration) {
        self.site = site
        self.pictures = pictures
        gate = RequestGate(configuration: configuration.films)
        clients = configuration.clients
        rate = configuration.requestsPerClient.map { ClientRate(perSecond: $0) }
        failureRate = configuration.failureRate
        failures = Lock(SeededNumbers(seed: configuration.failureSeed))
    }

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        if let refusal = refusal(ofClient: head, peer) { return .answer(refusal) }
        // Most requests of a busy service repeat earlier ones.
        if failureRate == 0, refusal(ofHost: head, nil) == nil, let answer = answerKnown(head) {
            return .answer(answer)
        }
        // Ignored: an unreadable target names no host and no film, and the handler below answers it.
        let target = try? RequestTarget(head.target)
        if let refusal = refusal(ofHost: head, target) { return .answer(refusal) }
        if failsNext() { return .answer(.plain(.internalServerError, "--fail-rate asks for this failure")) }
        if let pictures, let target, PictureServer.serves(target.segments) {
            return pictures.admit(head, target, from: peer)
        }
        switch site {
        case .library(let films): return films.admit(head, from: peer)
        case .folder(let folder):
            guard folder.hasFilms(head, target) else {
                return folder.admitFile(head) ?? .handle(bodyLimit: Self.ignoredBody)
            }
            if let target, pictures != nil, FilmTarget.isPoster(target.segments) {
                return folder.admitPoster(head, from: peer)
            }
            // The films of a file may have to be read first.
            return folder.admitKnown(head, from: peer) ?? .handle(bodyLimit: Self.ignoredBody)
        }
    }

    /// The answer to a request like an earlier one, if memory still has it. Nothing is parsed again.
    private func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        if let answer = pictures?.answerKnown(head) { return answer }
        return if case .library(let films) = site { films.answerKnown(head) } else { nil }
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        switch site {
        case .library(let films): films.respond(to: request)
        case .folder(let folder): folder.respond(to: request)
        }
    }

    /// Whether the next request fails, at the configured rate.
    private func failsNext() -> Bool {
        failureRate > 0 && failures.withLock { Double.random(in: 0..<1, using: &$0) < failureRate }
    }

    /// Refuses a client that sends too many requests; nil for others.
    private func refusal(ofClient head: RequestHead, _ peer: Peer) -> HTTPResponse? {
        guard let wait = rate?.admit(clients.client(of: head, from: peer)) else { return nil }
        var response = HTTPResponse.plain(.tooManyRequests, "too many requests; wait")
        response.fields["Retry-After"] = "\(wait)"
        return response
    }

    /// Refuses a request for an unknown host; nil for others.
    private func refusal(ofHost head: RequestHead, _ target: RequestTarget?) -> HTTPResponse? {
        do throws(FilmRefusal) {
            try gate.checkHost(head.fields, authority: target?.authority)
            return nil
        } catch {
            return error.response(to: head)
        }
    }
}
