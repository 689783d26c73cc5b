import Glibc
import HTTPSemantics
import HTTPServer
import SystemSupport

/// Answers the requests of a catalogue service: the files of its folder.
final class CatalogueHandler: HTTPHandler {
    let folder: CatalogueFolder
    private let configuration: CatalogueService.Configuration
    private let failures: Lock<SeededNumbers>

    init(folder: CatalogueFolder, configuration: CatalogueService.Configuration) {
        self.folder = folder
        self.configuration = configuration
        failures = Lock(SeededNumbers(seed: configuration.failureSeed))
    }

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        // Opening a file and looking at it takes microseconds, as nginx relies on too.
        .answer(file(for: head))
    }

    func respond(to request: HTTPRequest) -> HTTPResponse { .plain(.notFound) }

    private func file(for head: RequestHead) -> HTTPResponse {
        guard ["GET", "HEAD"].contains(head.method) else {
            var response = HTTPResponse.plain(.methodNotAllowed)
            response.fields["Allow"] = "GET, HEAD"
            return response
        }
        if failsNext() { return .plain(.internalServerError, "as configured") }
        let path: RequestPath
        do {
            path = try RequestPath(target: head.target)
        } catch {
            return .plain(error == .malformed ? .badRequest : .notFound)
        }
        var names = path.names
        if names.isEmpty, let catalogue = folder.catalogueName() { names = [Array(catalogue.utf8)] }
        guard let name = names.last else { return index() }
        do {
            return .serving(
                try folder.open(names), mediaType: MediaType.of(name), to: head,
                cacheSeconds: configuration.cacheSeconds, now: time(nil))
        } catch {
            return .plain(error == .exhausted ? .serviceUnavailable : .notFound)
        }
    }

    /// What catalogues there are, where none of them is the catalogue.
    private func index() -> HTTPResponse {
        let lines = ["A film catalogue."] + folder.catalogueNames()
        return HTTPResponse(
            status: .ok, fields: ["Content-Type": MediaType.plainText],
            body: .bytes(Array((lines.joined(separator: "\n") + "\n").utf8)))
    }

    /// Whether the next request is to fail, at the configured rate.
    private func failsNext() -> Bool {
        let rate = configuration.failureRate
        return rate > 0 && failures.withLock { Double.random(in: 0..<1, using: &$0) < rate }
    }
}
