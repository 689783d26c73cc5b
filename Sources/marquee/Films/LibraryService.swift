import CatalogueService
import FilmLibrary
import FoundationEssentials
import HTTPServer
import LazyImages
import SystemSupport

/// The network with the service of a library in it, under the library's stable name. Nothing listens: a request for that name
/// is given to the service as the server would give it, and no other program can write meanwhile.
final class LibraryService: Transport {
    private let service: FilmService
    private let host: String
    private let network: any Transport
    private let threads = BlockingThreads(count: 1, name: "marquee.library")

    /// - Parameter base: the address of the library's films, whose host the service answers for.
    init(_ library: FilmLibrary, base: URL, network: any Transport) {
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        service = FilmService(library: library, configuration: configuration)
        host = base.lowercasedHost
        self.network = network
    }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.lowercasedHost == host else {
            return try await network.perform(request, into: receiver)
        }
        let url = request.url.displayText
        let answer: Result<(ResponseHead, [UInt8]), ImageLoadingError>
        do {
            answer = try await threads.run { [service] in
                Result { () throws(ImageLoadingError) in try Self.answer(request, by: service) }
            }
        } catch {
            throw .resourcesShort(url: url, reason: error.description)
        }
        let (head, body) = try answer.get()
        receiver.sent(request.body?.count ?? 0)
        if receiver.receive(head), !body.isEmpty, request.method != .head { _ = receiver.receive(body.span) }
        return head
    }

    /// Has the service answer. Blocks.
    private static func answer(
        _ request: TransportRequest, by service: FilmService
    ) throws(ImageLoadingError) -> (ResponseHead, [UInt8]) {
        let url = request.url.displayText
        let content = try request.body.map { body throws(ImageLoadingError) in
            try body.bytes(at: 0, limit: body.count)
        }
        let peer = Peer(address: nil, isLocal: true)
        let head: RequestHead
        do {
            head = try RequestHead(parsing: text(request, bodyLength: content?.count).utf8)
        } catch {
            throw .malformedResponse(url: url, reason: "the request is none: \(error)")
        }
        let response: HTTPResponse
        switch service.admit(head, from: peer) {
        case .answer(let refusal): response = refusal
        case .handle(let limit) where content?.count ?? 0 > limit:
            response = .plain(.contentTooLarge, "a body has at most \(limit) bytes here")
        case .handle:
            let body = content.map { RequestBody.bytes($0) } ?? .none
            response = service.respond(to: HTTPRequest(head: head, body: body, peer: peer))
        }
        var bytes: [UInt8] = []
        // The service answers with bytes alone: only folders have files.
        if case .bytes(let content) = response.body { bytes = content }
        return (ResponseHead(status: response.status.rawValue, fields: response.fields), bytes)
    }

    /// The head of a request as it would come over a connection.
    private static func text(_ request: TransportRequest, bodyLength: Int?) -> String {
        let path = request.url.path(percentEncoded: true)
        let query = request.url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        var lines = ["\(request.method.rawValue) \(path)\(query) HTTP/1.1", "Host: localhost"]
        for field in request.fields.fields where !field.name.equalsIgnoringCase("host") {
            lines.append("\(field.name): \(field.value)")
        }
        if let bodyLength { lines.append("Content-Length: \(bodyLength)") }
        return lines.joined(separator: "\r\n")
    }
}
