package import FoundationEssentials
import HTTPSemantics
import Hashing
package import LazyImages
import SystemSupport

/// The network with answers of this program in it, under the name of a host that exists nowhere else. Nothing listens, so
/// no other program can reach it.
package struct OwnAnswers: Transport {
    /// An answer with its whole body.
    package struct Answer: Sendable {
        let status: Int
        let fields: HeaderFields
        let body: [UInt8]

        package static let notFound = Answer(status: 404, fields: [:])

        package init(status: Int, fields: HeaderFields, body: [UInt8] = []) {
            (self.status, self.fields, self.body) = (status, fields, body)
        }
    }

    private let host: String
    private let network: any Transport
    private let answer: @Sendable (TransportRequest) async throws(ImageLoadingError) -> Answer

    package init(
        host: String, network: any Transport,
        answer: @escaping @Sendable (TransportRequest) async throws(ImageLoadingError) -> Answer
    ) {
        (self.host, self.network, self.answer) = (host, network, answer)
    }

    package func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.lowercasedHost == host else {
            return try await network.perform(request, into: receiver)
        }
        let answer = try await answer(request)
        var head = ResponseHead(status: answer.status, fields: answer.fields)
        if answer.status != 304 { head.fields["Content-Length"] = "\(answer.body.count)" }
        if receiver.receive(head), !answer.body.isEmpty, request.method != .head {
            _ = receiver.receive(answer.body.span)
        }
        return head
    }
}

/// The stored posters of a library under a constant name: `http://library-4f0c….localhost/films/faust/poster`.
package final class LibraryPosters: Sendable {
    private let path: String
    private let threads = BlockingThreads(count: 4, name: "marquee-library")
    private let library = Lock<FilmLibrary?>(nil)

    /// - Parameter path: the library's path. It is opened for reading at the first request.
    init(path: String) { self.path = path }

    /// The network with the posters in it.
    func beside(_ network: any Transport) -> any Transport {
        OwnAnswers(host: Self.host(path), network: network, answer: answer)
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
    package static func base(_ path: String) -> String { "http://\(host(path))/films/" }

    /// Whether a URL belongs to a library.
    package static func serves(_ url: URL) -> Bool {
        let host = url.lowercasedHost
        return host.hasPrefix(hostPrefix) && host.hasSuffix(hostSuffix)
    }

    /// The address of a film's poster, if that is stored.
    /// - Parameter base: the library's base URL.
    static func address(of film: StoredFilm, _ base: String) -> String? {
        guard case .stored = film.poster else { return nil }
        return base + PercentEncoding.encoded(film.id) + "/poster"
    }

    private func answer(to request: TransportRequest) async throws(ImageLoadingError) -> OwnAnswers.Answer {
        let url = request.url
        let found = try await threads.run({
            .resourcesShort(url: url.displayText, reason: $0.description)
        }) { [self] () throws(ImageLoadingError) in
            do throws(FilmLibraryError) {
                return try poster(at: url)
            } catch {
                throw .connectionFailed(url: url.displayText, reason: "\(error)")
            }
        }
        guard let found else { return .notFound }
        return .init(
            status: 200,
            fields: [
                "Content-Type": found.mediaType, "ETag": "\"\(found.tag)\"", "Cache-Control": "no-cache",
            ],
            body: found.bytes)
    }

    /// The poster at `/films/faust/poster`; nil for another address, and for a film without a stored one. Blocks.
    private func poster(at url: URL) throws(FilmLibraryError) -> StoredPoster? {
        let opened = try library.withLock { library throws(FilmLibraryError) in
            if let library { return library }
            let opened = try FilmLibrary(path: path, access: .reading)
            library = opened
            return opened
        }
        // Ignored: an address that cannot be read names no poster.
        guard let segments = try? RequestTarget(url.path(percentEncoded: true)).segments, segments.count == 3,
            segments[0] == "films", segments[2] == "poster"
        else { return nil }
        return try opened.poster(of: segments[1])
    }
}
