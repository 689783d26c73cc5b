import HTTPSemantics
import HTTPServer
import PictureService
import ServiceOperations
import SystemSupport

/// Answers the requests of a catalogue service: for films, and for the files of its folder.
final class CatalogueHandler: HTTPHandler {
    /// What is served.
    enum Site: Sendable {
        case folder(FolderSite)
        case library(FilmService)
    }

    let site: Site
    /// Nil where none are served.
    private let pictures: PictureService?
    private let gate: RequestGate
    private let clients: ForwardedClient
    /// Nil where clients may send any number of requests.
    private let rate: ClientRate?
    private let failureRate: Double
    private let failures: Lock<SeededNumbers>

    /// Bytes of the body of a request that needs none.
    private static let ignoredBody = 64 << 10

    init(site: Site, pictures: PictureService?, configuration: CatalogueService.Configuration) {
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
        // Nearly all requests of a busy service are like earlier ones.
        if let pictures, failureRate == 0, refusal(ofHost: head, nil) == nil,
            let answer = pictures.answerKnown(head)
        {
            return .answer(answer)
        }
        // A target that cannot be read names no host and no film. Who answers says so.
        let target = try? RequestTarget(head.target)
        if let refusal = refusal(ofHost: head, target) { return .answer(refusal) }
        if failsNext() { return .answer(.plain(.internalServerError, "as configured")) }
        if let pictures, let target, PictureService.serves(target.segments) {
            return pictures.admit(head, target)
        }
        switch site {
        case .library(let films): return films.admit(head, from: peer)
        case .folder(let folder):
            let name = target?.segments.first.map { FilmFormat.split($0).name }
            // Opening a file takes microseconds, as nginx relies on too.
            guard name == "films" || target?.segments == ["soap"] || folder.hasPage(head, target) else {
                return .answer(folder.file(for: head))
            }
            if let target, pictures != nil, FilmTarget.isPoster(target.segments) {
                return folder.admitPoster(head, from: peer)
            }
            // The films of a file may have to be read first.
            return .handle(bodyLimit: Self.ignoredBody)
        }
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        switch site {
        case .library(let films): films.respond(to: request)
        case .folder(let folder): folder.films(for: request)
        }
    }

    /// Whether the next request is to fail, at the configured rate.
    private func failsNext() -> Bool {
        failureRate > 0 && failures.withLock { Double.random(in: 0..<1, using: &$0) < failureRate }
    }

    /// Refuses a request of a client that sends too many; nil for others.
    private func refusal(ofClient head: RequestHead, _ peer: Peer) -> HTTPResponse? {
        guard let rate,
            let wait = rate.admit(
                clients.client(peer: peer, forwardedFor: head.fields.values(of: "x-forwarded-for")))
        else { return nil }
        var response = HTTPResponse.plain(.tooManyRequests, "this client asks too often; wait")
        response.fields["Retry-After"] = "\(wait)"
        return response
    }

    /// Refuses a request for a host that is not served here; nil for others.
    private func refusal(ofHost head: RequestHead, _ target: RequestTarget?) -> HTTPResponse? {
        do throws(FilmRefusal) {
            try gate.checkHost(head.fields, authority: target?.authority)
            return nil
        } catch {
            return error.response(to: head)
        }
    }
}
