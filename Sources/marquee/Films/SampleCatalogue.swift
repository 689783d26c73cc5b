import CSample
import FilmSources
import FoundationEssentials
import HTTPSemantics
import Hashing
import LazyImages
import SystemSupport

/// The sample catalogue: the folder `sample-data` if there is one, else the copy in the program, so that the program
/// shows something wherever it is.
struct SampleCatalogue: Sendable {
    /// The folder; nil for the program's own copy.
    private let folder: String?

    /// The word that names the sample on the command line.
    static let word = "sample"

    /// The file of the films.
    private static let films = "movies.json"

    /// The sample that a job was given: a folder, or `sample` for the program's own copy.
    init(named name: String) { folder = name == Self.word ? nil : name }

    /// The folder, if it can be found, else the program's own copy.
    init() { folder = Self.foundFolder() }

    /// The constant name of the server of the posters' addresses. Nothing listens there: requests to it read the sample.
    static let host = "sample.localhost"

    /// The address of that server.
    private static let base = BaseURL(URL(string: "http://\(host)/") ?? URL(filePath: "/"))

    /// A poster, whose address is as in the films' file; nil if there is no such file.
    func poster(_ path: String) -> PosterBytes? {
        file(path).map { PosterBytes(mediaType: MediaType.of(Array(path.utf8)), bytes: $0) }
    }

    /// The bytes of a file; nil if there is none, or if it is outside of the sample.
    fileprivate func file(_ path: String) -> [UInt8]? {
        guard let folder else { return Self.file(path) }
        // Ignored: a path that cannot be read names no file.
        guard let target = try? RequestTarget("/" + path), !target.segments.contains("..") else { return nil }
        return try? FileCalls().contents(ofPath: "\(folder)/\(target.segments.joined(separator: "/"))")
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
    private static func foundFolder() -> String? {
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
    var name: String { folder.map { $0 + "/" + Self.films } ?? "the sample catalogue" }

    var abilities: FilmAbilities {
        FilmAbilities().with {
            $0.writing = .refused(
                "the sample is read-only; make a library with marquee import \(Self.word) films.db, "
                    + "and name it with --catalogue films.db")
            $0.serving = folder.map { .folder(path: $0) } ?? .sample
            $0.sample = folder ?? Self.word
        }
    }

    func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let bytes: [UInt8] =
            folder == nil
            ? Self.file(Self.films) ?? []
            : try await access.contents(ofFile: name, limit: selection.fileBytes)
        _ = try await take(CataloguePage(bytes, base: Self.base))
    }

    func network(_ network: any Transport) -> any Transport {
        OwnAnswers(host: Self.host, network: network, answer: answer)
    }

    /// The answer to a request for a poster.
    private func answer(to request: TransportRequest) -> OwnAnswers.Answer {
        guard let bytes = file(String(request.url.path.drop { $0 == "/" })) else { return .notFound }
        // The program's own files change only with it.
        let version = folder == nil ? Marquee.version : String(bytes.fnv1a, radix: 16)
        let tag = "\"marquee-\(version)-\(bytes.count)\""
        var fields: HeaderFields = ["ETag": tag, "Cache-Control": "max-age=3600"]
        let conditions = Preconditions(
            request.fields, isRead: true, entityTag: tag, lastModified: nil, now: WallClock.system.seconds)
        if case .notModified = conditions.outcome { return .init(status: 304, fields: fields) }
        fields["Content-Type"] = MediaType.of(Array(request.url.path.utf8))
        return .init(status: 200, fields: fields, body: bytes)
    }

    /// The base URL of a file of the sample's folder is that of the posters.
    func base(ofFile path: String) -> BaseURL {
        let file = URL(filePath: path)
        guard let folder,
            file.deletingLastPathComponent().resolvingSymlinksInPath().path
                == URL(filePath: folder).resolvingSymlinksInPath().path
        else { return BaseURL(file) }
        return Self.base
    }
}

extension SampleCatalogue {
    /// The program's own copy in a folder, for a service that reads files. The folder is removed with the object.
    static func unpacked() throws -> PrivateFolder {
        let name = "the sample catalogue"
        let folder = try PrivateFolder.make(for: name)
        try Failure.naming(name) {
            for index in 0..<csample_count() {
                let file = unsafe csample_at(index)
                let url = unsafe URL(filePath: folder.path + "/" + String(cString: file.path))
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try unsafe Data(bytes(of: file)).write(to: url)
            }
        }
        return folder
    }
}
