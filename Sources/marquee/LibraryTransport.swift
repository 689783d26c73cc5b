import FilmLibrary
import FoundationEssentials
import LazyImages
import SystemSupport

/// The network with the posters of a library in it, under a stable name: `http://library-4f0c….localhost/films/faust/poster`.
/// Nothing listens: what is asked of that name is read from the library.
final class LibraryTransport: Transport {
    private let path: String
    private let host: String
    private let network: any Transport
    private let library = Lock<FilmLibrary?>(nil)

    init(path: String, network: any Transport) {
        self.path = path
        self.network = network
        host = Self.host(path)
    }

    private static let hostPrefix = "library-"
    private static let hostSuffix = ".localhost"

    /// The name of the library at `path`: the same whatever way leads there.
    private static func host(_ path: String) -> String {
        let real = URL(filePath: path).resolvingSymlinksInPath().path
        // FNV-1a: it tells the libraries of one machine apart.
        let hash = real.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return hostPrefix + String(hash, radix: 16) + hostSuffix
    }

    /// The base URL of the library's posters.
    static func base(_ path: String) -> String { "http://\(host(path))/films/" }

    /// Whether a URL leads to a poster in a library.
    static func serves(_ url: URL) -> Bool {
        guard let host = url.host() else { return false }
        return host.hasPrefix(hostPrefix) && host.hasSuffix(hostSuffix)
    }

    /// The address of a film's poster if that is stored.
    /// - Parameter base: that of the library.
    static func address(of film: StoredFilm, _ base: String) -> String? {
        guard case .stored = film.poster else { return nil }
        var address = base
        for byte in film.id.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80,
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "-._~".unicodeScalars.contains(scalar)
            {
                address.unicodeScalars.append(scalar)
            } else {
                address += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return address + "/poster"
    }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.host() == host else { return try await network.perform(request, into: receiver) }
        let outcome = Lock<Result<StoredPoster?, any Error>>(.success(nil))
        await BlockingThreads.runInAnyCase { [self] in
            let result = Result { try self.poster(for: request.url) }
            outcome.withLock { $0 = result }
        }
        let poster: StoredPoster?
        do {
            poster = try outcome.withLock { $0 }.get()
        } catch {
            throw .connectionFailed(url: request.url.displayText, reason: "\(error)")
        }
        return answer(poster, request, receiver)
    }

    private func poster(for url: URL) throws -> StoredPoster? {
        let parts = url.path(percentEncoded: true).split(separator: "/")
        guard parts.count == 3, let id = String(parts[1]).removingPercentEncoding else { return nil }
        let library = try library.withLock { library in
            if let library { return library }
            let opened = try FilmLibrary(path: path, access: .reading)
            library = opened
            return opened
        }
        return try library.poster(of: id)
    }

    private func answer(
        _ poster: StoredPoster?, _ request: TransportRequest, _ receiver: any BodyReceiver
    ) -> ResponseHead {
        guard let poster else {
            let head = ResponseHead(status: 404)
            _ = receiver.receive(head)
            return head
        }
        // The library may change at any time, and to look there costs nothing.
        var fields = HTTPFields()
        fields["ETag"] = "\"\(poster.tag)\""
        fields["Cache-Control"] = "no-cache"
        if request.fields["if-none-match"] == "\"\(poster.tag)\"" {
            let head = ResponseHead(status: 304, fields: fields)
            _ = receiver.receive(head)
            return head
        }
        fields.append(HTTPFields.Field(name: "Content-Type", value: poster.mediaType))
        fields.append(HTTPFields.Field(name: "Content-Length", value: "\(poster.bytes.count)"))
        let head = ResponseHead(status: 200, fields: fields)
        if receiver.receive(head) { _ = receiver.receive(poster.bytes.span) }
        return head
    }
}
