import CSample
import FilmSources
import FoundationEssentials
import HTTPSemantics
import LazyImages

/// The sample catalogue: the folder `sample-data` if there is one, else the copy in the program, so that the program
/// shows something wherever it is.
enum SampleCatalogue: Sendable {
    /// This folder. The embedded origin serves its posters over HTTP.
    case folder(String)
    /// The program's own copy.
    case program

    /// The word that names the sample on the command line.
    static let word = "sample"

    /// The file of the films.
    private static let films = "movies.json"

    /// The folder, if it can be found, else the program's own copy.
    init() { self = Self.folder().map { .folder($0) } ?? .program }

    /// The constant name of the sample's origin. The embedded origin's port changes with each run, but the cache keys
    /// must not.
    static let host = "sample.localhost"

    /// The address of the origin.
    private static let base = BaseURL(URL(string: "http://\(host)/") ?? URL(filePath: "/"))

    /// One of the program's own posters; nil if there is no such file.
    static func poster(_ path: String) -> PosterBytes? {
        file(path).map { PosterBytes(mediaType: MediaType.of(Array(path.utf8)), bytes: $0) }
    }

    /// The bytes of one of the program's own files; nil if there is no such file.
    static func file(_ path: String) -> [UInt8]? {
        for index in 0..<csample_count() {
            let file = unsafe csample_at(index)
            if unsafe String(cString: file.path) == path { return unsafe bytes(of: file) }
        }
        return nil
    }

    @unsafe fileprivate static func bytes(of file: csample_file) -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.length))
    }

    /// Finds `sample-data` in the working folder, beside the program, or beside one of the program's parent folders
    /// (where a build puts it).
    private static func folder() -> String? {
        var candidates = [FileManager.default.currentDirectoryPath]
        // Ignored: without /proc, only the working folder is searched.
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            var folder = URL(filePath: program).deletingLastPathComponent()
            for _ in 0..<5 {
                candidates.append(folder.path)
                folder.deleteLastPathComponent()
            }
        }
        return candidates.map { $0 + "/sample-data" }
            .first { FileManager.default.isReadableFile(atPath: $0 + "/" + films) }
    }
}

extension SampleCatalogue: FilmProvider {
    var name: String {
        switch self {
        case .folder(let folder): folder + "/" + Self.films
        case .program: "the sample catalogue"
        }
    }

    var abilities: FilmAbilities {
        FilmAbilities().with {
            $0.writing = .refused(
                "the sample is read-only; make a library with marquee import \(Self.word) films.db, "
                    + "and name it with --catalogue films.db")
            switch self {
            case .folder(let folder): ($0.serving, $0.sample) = (.folder(path: folder), folder)
            case .program: ($0.serving, $0.sample) = (.sample, Self.word)
            }
        }
    }

    func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let bytes: [UInt8] =
            switch self {
            case .folder: try await access.contents(ofFile: name, limit: selection.fileBytes)
            case .program: Self.file(Self.films) ?? []
            }
        _ = try await take(CataloguePage(bytes, base: Self.base))
    }

    func network(
        _ network: any Transport, _ configuration: CurlTransport.Configuration, isOffline: Bool
    ) -> FilmNetwork {
        if isOffline { return FilmNetwork(network) }
        switch self {
        case .folder(let folder):
            let origin = EmbeddedOrigin(folder: folder, transport: configuration)
            return FilmNetwork(origin) { await origin.stop() }
        case .program: return FilmNetwork(SampleTransport(network: network))
        }
    }

    /// The base URL of a file of the sample's folder is the embedded origin's.
    func base(ofFile path: String) -> BaseURL {
        let file = URL(filePath: path)
        guard case .folder(let folder) = self,
            file.deletingLastPathComponent().resolvingSymlinksInPath().path
                == URL(filePath: folder).resolvingSymlinksInPath().path
        else { return BaseURL(file) }
        return Self.base
    }
}

/// The network with the program's own copy of the sample in it. Nothing listens: a request for the sample's name is
/// answered here.
struct SampleTransport: Transport {
    let network: any Transport

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard request.url.lowercasedHost == SampleCatalogue.host else {
            return try await network.perform(request, into: receiver)
        }
        let (head, body) = Self.answer(to: request)
        if receiver.receive(head), !body.isEmpty, request.method != .head {
            _ = receiver.receive(body.span)
        }
        return head
    }

    private static func answer(to request: TransportRequest) -> (ResponseHead, body: [UInt8]) {
        let path = String(request.url.path.drop { $0 == "/" })
        guard let bytes = SampleCatalogue.file(path) else {
            return (ResponseHead(status: 404, fields: ["Content-Length": "0"]), [])
        }
        // The files change only with the program.
        let tag = "\"marquee-\(Marquee.version)-\(bytes.count)\""
        var fields: HeaderFields = ["ETag": tag, "Cache-Control": "max-age=3600"]
        let conditions = Preconditions(
            request.fields, isRead: true, entityTag: tag, lastModified: nil, now: WallClock.system.seconds)
        if case .notModified = conditions.outcome { return (ResponseHead(status: 304, fields: fields), []) }
        fields["Content-Type"] = MediaType.of(Array(path.utf8))
        fields["Content-Length"] = "\(bytes.count)"
        return (ResponseHead(status: 200, fields: fields), bytes)
    }
}

/// The program's own copy of the sample as a folder, for a service that reads files.
final class TemporarySample: Sendable {
    private let path = FileManager.default.temporaryDirectory
        .appending(path: "marquee-sample-\(UUID().uuidString)").path

    /// The folder, which is made and filled now.
    func folder() throws(Failure) -> String {
        do {
            for index in 0..<csample_count() {
                let file = unsafe csample_at(index)
                let url = unsafe URL(filePath: path + "/" + String(cString: file.path))
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try unsafe Data(SampleCatalogue.bytes(of: file)).write(to: url)
            }
            return path
        } catch {
            throw Failure(
                "\(path): the sample catalogue cannot be written here; set TMPDIR to another folder, "
                    + "or name the catalogue to serve")
        }
    }

    /// Removes the folder, if it was made.
    func remove() {
        // Ignored: the system empties its temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}
