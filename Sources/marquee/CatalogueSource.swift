import FoundationEssentials
import Glibc
import LazyImages

/// The source of the films: the sample catalogue, a file, a library or the network.
enum CatalogueSource: Sendable {
    /// The sample catalogue in this folder; the embedded origin serves its posters over HTTP.
    case sample(folder: String)
    case file(path: String)
    /// A library: an SQLite database.
    case library(path: String)
    case url(String)
    /// No catalogue is named, and the sample data was not found.
    case missing

    /// The constant name of the embedded origin. Its port changes with each run, but the cache keys must not.
    static let sampleHost = "sample.localhost"

    /// The source for a name; nil means the sample catalogue.
    init(_ name: String?) {
        if let name {
            self =
                if name.contains("://") { .url(name) } else {
                    Self.isLibrary(name) ? .library(path: name) : .file(path: name)
                }
        } else if let folder = Self.sampleFolder() {
            self = .sample(folder: folder)
        } else {
            self = .missing
        }
    }

    /// Whether a file is a library: its name says so, or it begins like an SQLite file. An unreadable file is not;
    /// reading it will report the error.
    private static func isLibrary(_ path: String) -> Bool {
        if path.lowercased().hasSuffix(".db") { return true }
        // Only for a regular file: bytes read from a pipe would be lost.
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let magic = Array("SQLite format 3\0".utf8)
        var beginning = [UInt8](repeating: 0, count: magic.count)
        return unsafe Glibc.read(descriptor, &beginning, beginning.count) == magic.count && beginning == magic
    }

    var isLibrary: Bool { if case .library = self { true } else { false } }

    /// The source's name in messages.
    var name: String {
        switch self {
        case .sample(let folder): folder + "/movies.json"
        case .file(let path), .library(let path): path
        // Hides credentials in an address. Losing the error is right: the text is then shown as typed.
        case .url(let text): (try? URL(typed: text))?.displayText ?? text
        case .missing: "the sample catalogue"
        }
    }

    /// The base URL of the manifest at `path`: the file's own, or the embedded origin's for a file of the sample data.
    func base(ofFile path: String) -> BaseURL {
        let file = URL(filePath: path)
        guard case .sample(let folder) = self,
            file.deletingLastPathComponent().resolvingSymlinksInPath().path
                == URL(filePath: folder).resolvingSymlinksInPath().path
        else { return BaseURL(file) }
        return BaseURL(Self.sampleBase)
    }

    /// The address of the embedded origin.
    static let sampleBase = URL(string: "http://\(sampleHost)/") ?? URL(filePath: "/")

    /// Reads the catalogue: one page from a file, one or more from the network.
    /// - Parameters:
    /// - top: only this many of the best films are needed, if the service can select them. Default: all films.
    /// - limit: the most bytes of a file.
    /// - heard: called with each page.
    func read(
        with session: Session, top: Int? = nil, limit: Int = Input.limit,
        heard: CataloguePages.Listener? = nil
    ) async throws -> CataloguePages {
        switch self {
        case .missing:
            throw Failure(
                "the sample catalogue is not in the working folder or beside the program; "
                    + "name a catalogue with --catalogue FILE or --catalogue URL")
        case .sample:
            return try await Self.read(file: name, BaseURL(Self.sampleBase), heard: heard)
        case .file(let path), .library(let path):
            return try await Self.read(
                file: path, BaseURL(URL(filePath: path)), limit: limit, heard: heard)
        case .url(let text): return try await Self.read(url: text, with: session, top: top, heard: heard)
        }
    }

    private static func read(
        file path: String, _ base: BaseURL, limit: Int = Input.limit, heard: CataloguePages.Listener?
    ) async throws -> CataloguePages {
        let page = CataloguePages.Page(bytes: try await Input.file(path, limit: limit), base: base)
        try await heard?(page)
        return CataloguePages([page])
    }

    /// Reads from the network, or from the cache when offline.
    static func read(
        url text: String, with session: Session, top: Int? = nil, heard: CataloguePages.Listener? = nil
    ) async throws -> CataloguePages {
        let url = try URL(typed: text)
        return try await session.withLoader(reading: URL(filePath: url.path).lastPathComponent) { opened in
            let address = FilmsAddress(catalogue: url)
            if let address, address.isSoap {
                return try await session.soap(address, opened).pages(top: top, heard: heard)
            }
            if let address, address.isWhole {
                if let top,
                    let best = try await CataloguePages.readIfThere(
                        address.top(top), opened, session, heard: heard)
                {
                    return best
                }
                if address.isNamed,
                    let all = try await CataloguePages.readIfThere(
                        address.pages(), opened, session, heard: heard)
                {
                    return all
                }
            }
            return try await CataloguePages.read(url, opened, session, heard: heard)
        }
    }

    /// Finds `sample-data` in the working folder, beside the program, or beside one of the program's parent folders
    /// (where a build puts it).
    private static func sampleFolder() -> String? {
        let working = FileManager.default.currentDirectoryPath
        var candidates = [working]
        // Losing the error is right: without /proc, only the working folder is searched.
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            var folder = URL(filePath: program).deletingLastPathComponent()
            for _ in 0..<5 {
                candidates.append(folder.path)
                folder.deleteLastPathComponent()
            }
        }
        return candidates.map { $0 + "/sample-data" }.first { unsafe access($0 + "/movies.json", R_OK) == 0 }
    }
}
