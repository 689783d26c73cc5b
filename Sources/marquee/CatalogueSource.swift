import FoundationEssentials
import Glibc
import LazyImages

/// Where the films come from: the sample catalogue, a file, or the network.
enum CatalogueSource: Sendable {
    /// The sample catalogue in this folder; its posters travel over HTTP from the embedded origin.
    case sample(folder: String)
    case file(path: String)
    /// A library: an SQLite database.
    case library(path: String)
    case url(String)
    /// No catalogue is named and the sample data is nowhere near.
    case missing

    /// The stable name of the embedded origin: keys do not change from run to run though its port does.
    static let sampleHost = "sample.localhost"

    /// The source that `name` stands for; nil for the sample catalogue.
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

    /// Whether a file is a library: it is called so, or begins as SQLite's files do. What cannot be read is none, and then
    /// reading it says why.
    private static func isLibrary(_ path: String) -> Bool {
        if path.lowercased().hasSuffix(".db") { return true }
        // Only of a regular file: reading a pipe would take the bytes away.
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

    /// How messages call it.
    var name: String {
        switch self {
        case .sample(let folder): folder + "/movies.json"
        case .file(let path), .library(let path): path
        // Credentials in an address are nobody's to read on a screen.
        case .url(let text): (try? URL(typed: text))?.displayText ?? text
        case .missing: "the sample catalogue"
        }
    }

    /// The base URL of the manifest at `path`: its own, or for a file of the sample data that of the embedded origin.
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

    /// Reads the catalogue: one page of a file, one or several from the network.
    /// - Parameters:
    ///   - top: so many of the best are enough, where a service tells them. Default: all films.
    ///   - limit: bytes of a file at most.
    ///   - heard: hears of each page as it comes.
    func read(
        with session: Session, top: Int? = nil, limit: Int = Input.limit,
        heard: CataloguePages.Listener? = nil
    ) async throws -> CataloguePages {
        switch self {
        case .missing:
            throw Failure(
                "the sample catalogue is neither in the working folder nor beside the program; "
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

    /// What the network has, or offline what is left of the last time.
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

    /// The folder `sample-data` in the working folder, or beside the program, or beside a folder that the program is in:
    /// that is where a build leaves it.
    private static func sampleFolder() -> String? {
        let working = FileManager.default.currentDirectoryPath
        var candidates = [working]
        // Losing the error is right: where /proc is not there, the working folder is all there is to look in.
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
