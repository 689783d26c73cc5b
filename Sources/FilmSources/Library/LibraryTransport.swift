package import FoundationEssentials
import HTTPSemantics
import Hashing
package import LazyImages
import SystemSupport

/// The network with the stored posters of a library in it, under a constant name:
/// `http://library-4f0c….localhost/films/faust/poster`. Nothing listens: such a request reads the library directly, so no
/// other program can reach it.
package final class LibraryTransport: Transport {
    private let path: String
    private let host: String
    private let network: any Transport
    private let threads = BlockingThreads(count: 4, name: "marquee-library")
    private let library = Lock<FilmLibrary?>(nil)

    /// - Parameter path: the library's path. It is opened for reading at the first request.
    init(path: String, network: any Transport) {
        self.path = path
        self.network = network
        host = Self.host(path)
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

    package func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.lowercasedHost == host else {
            return try await network.perform(request, into: receiver)
        }
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
        let bytes = found?.bytes ?? []
        var head = ResponseHead(
            status: found == nil ? 404 : 200, fields: ["Content-Length": "\(bytes.count)"])
        if let found {
            head.fields["Content-Type"] = found.mediaType
            head.fields["ETag"] = "\"\(found.tag)\""
            head.fields["Cache-Control"] = "no-cache"
        }
        if receiver.receive(head), !bytes.isEmpty, request.method != .head {
            _ = receiver.receive(bytes.span)
        }
        return head
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
