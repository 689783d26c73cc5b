import CatalogueService
import FilmLibrary
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import LazyImages
import SystemSupport

/// The network with the service of a library in it, under a constant name:
/// `http://library-4f0c….localhost/films/faust/poster`. Nothing listens: a request for that name goes to the service
/// directly, so no other program can reach it.
final class LibraryTransport: Transport {
    private let path: String
    private let host: String
    private let network: any Transport
    private let threads = BlockingThreads(count: 4, name: "marquee-library")
    private let service: Lock<FilmService?>

    /// - Parameters:
    ///   - path: the library's path. It is opened for reading at the first request.
    ///   - library: the library opened for writing, if requests may write.
    init(path: String, library: FilmLibrary? = nil, network: any Transport) {
        self.path = path
        self.network = network
        host = Self.host(path)
        service = Lock(library.map { Self.service($0, isWritable: true) })
    }

    private static let hostPrefix = "library-"
    private static let hostSuffix = ".localhost"

    /// The host name of the library at `path`. It is the same for every path to the same file.
    private static func host(_ path: String) -> String {
        let real = URL(filePath: path).resolvingSymlinksInPath().path
        // The hash distinguishes the libraries of one machine.
        return hostPrefix + String(real.utf8.fnv1a, radix: 16) + hostSuffix
    }

    /// The base URL of the library's posters.
    static func base(_ path: String) -> String { "http://\(host(path))/films/" }

    /// Whether a URL belongs to a library.
    static func serves(_ url: URL) -> Bool {
        let host = url.lowercasedHost
        return host.hasPrefix(hostPrefix) && host.hasSuffix(hostSuffix)
    }

    /// The address of a film's poster, if that is stored.
    /// - Parameter base: the library's base URL.
    static func address(of film: StoredFilm, _ base: String) -> String? {
        guard case .stored = film.poster else { return nil }
        return base + PercentEncoding.encoded(film.id) + "/poster"
    }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.lowercasedHost == host else {
            return try await network.perform(request, into: receiver)
        }
        let (head, body) = try await threads.run({
            .resourcesShort(url: request.url.displayText, reason: $0.description)
        }) { [self] () throws(ImageLoadingError) in try answer(request) }
        receiver.sent(request.body?.count ?? 0)
        if receiver.receive(head), !body.isEmpty, request.method != .head { _ = receiver.receive(body.span) }
        return head
    }

    /// Lets the service answer. Blocks.
    private func answer(_ request: TransportRequest) throws(ImageLoadingError) -> (ResponseHead, [UInt8]) {
        let url = request.url.displayText
        let service: FilmService
        do {
            service = try opened()
        } catch {
            throw .connectionFailed(url: url, reason: "\(error)")
        }
        let content = try request.body.map { body throws(ImageLoadingError) in
            try body.bytes(at: 0, limit: body.count)
        }
        let head: RequestHead
        do {
            head = try RequestHead(parsing: Self.text(request, bodyLength: content?.count).utf8)
        } catch {
            throw .malformedResponse(url: url, reason: "the request is malformed: \(error)")
        }
        let response = Self.response(to: head, content, of: service)
        var fields = response.fields
        var bytes: [UInt8] = []
        // The service answers with bytes only; files belong to folders.
        if case .bytes(let content) = response.body {
            bytes = content
            fields["Content-Length"] = "\(content.count)"
        }
        return (ResponseHead(status: response.status.rawValue, fields: fields), bytes)
    }

    private func opened() throws(FilmLibraryError) -> FilmService {
        try service.withLock { service throws(FilmLibraryError) in
            if let service { return service }
            let opened = Self.service(try FilmLibrary(path: path, access: .reading), isWritable: false)
            service = opened
            return opened
        }
    }

    private static func service(_ library: FilmLibrary, isWritable: Bool) -> FilmService {
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = isWritable
        // The only client is this process.
        configuration.writers = WriteAccess(trustsLocal: true)
        return FilmService(library: library, configuration: configuration)
    }

    private static func response(
        to head: RequestHead, _ content: [UInt8]?, of service: FilmService
    ) -> HTTPResponse {
        let peer = Peer(address: nil, isLocal: true)
        switch service.admit(head, from: peer) {
        case .answer(let answer): return answer
        case .handle(let limit) where content?.count ?? 0 > limit:
            return .plain(.contentTooLarge, "the body must have at most \(limit) bytes")
        case .handle, .later:
            let body = content.map { RequestBody.bytes($0) } ?? .none
            return service.respond(to: HTTPRequest(head: head, body: body, peer: peer))
        }
    }

    /// The head of a request as a connection would bring it.
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
