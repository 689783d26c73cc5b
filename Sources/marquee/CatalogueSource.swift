import FilmSources
import Films
import FoundationEssentials
import LazyImages
import SystemSupport

/// The source of the films: the sample catalogue, a file, a library or the network.
enum CatalogueSource: Sendable {
    case sample(SampleCatalogue)
    case file(path: String)
    /// A folder of pictures, which are its films.
    case folder(path: String)
    /// A folder of films, with videos or files of facts.
    case films(FilmFolder)
    /// A library of films on a server of another kind.
    case server(any FilmSource)
    /// A name that is wrong, and why.
    case invalid(Failure)
    /// A library: an SQLite database.
    case library(path: String)
    case url(String)
    /// A job that needs only its list has no catalogue.
    case missing

    /// The constant name of the sample's origin. The embedded origin's port changes with each run, but the cache keys
    /// must not.
    static let sampleHost = "sample.localhost"

    /// The source for a name. Nil means the sample catalogue, and so does `sample`, unless a file is called so.
    init(_ name: String?) {
        guard let name, name != SampleCatalogue.word || FetchTarget.isFile(name) else {
            self = .sample(SampleCatalogue())
            return
        }
        do throws(FilmSourceError) {
            if let source = try SourceKinds.source(named: name) {
                self = .server(source)
                return
            }
        } catch {
            self = .invalid(Failure("--catalogue: \(error)"))
            return
        }
        if name.contains("://") {
            self = .url(name)
        } else if name == "-" {
            self = .file(path: Self.standardInput)
        } else if FileKind(name) == .folder {
            let catalogue = ["movies.json", "movies.xml"].map { name + "/" + $0 }.first(
                where: FetchTarget.isFile)
            self =
                if let catalogue {
                    .file(path: catalogue)
                } else if FilmFolder.hasFilms(name) {
                    .films(FilmFolder(name))
                } else {
                    .folder(path: name)
                }
        } else {
            self = Self.isLibrary(name) ? .library(path: name) : .file(path: name)
        }
    }

    /// The path of standard input.
    private static let standardInput = "/dev/stdin"

    /// Whether a file is a library: its name says so, or it begins like an SQLite file. An unreadable file is not;
    /// reading it will report the error.
    private static func isLibrary(_ path: String) -> Bool {
        if path.lowercased().hasSuffix(".db") { return true }
        // Only for a regular file: bytes read from a pipe would be lost.
        guard FileKind(path) == .file else { return false }
        return (try? Input.beginning(of: path).starts(with: "SQLite format 3\0".utf8)) ?? false
    }

    var isLibrary: Bool { if case .library = self { true } else { false } }

    /// The path of the file; nil for other sources.
    var path: String? {
        switch self {
        case .file(let path), .library(let path): path
        case .sample, .folder, .films, .server, .url, .missing, .invalid: nil
        }
    }

    /// What must stand beside the films; nil for nothing.
    var attribution: String? { server?.attribution }

    /// The films' server; nil for other sources.
    var server: (any FilmSource)? { if case .server(let source) = self { source } else { nil } }

    /// The source's name in messages.
    var name: String {
        switch self {
        case .sample(let sample): sample.name
        case .file(Self.standardInput): "standard input"
        case .file(let path), .folder(let path), .library(let path): path
        // Hides credentials in an address. Ignored: the text is then shown as typed.
        case .url(let text): (try? URL(typed: text))?.displayText ?? text
        case .films(let folder): folder.path
        case .server(let source): source.name
        case .missing, .invalid: "the catalogue"
        }
    }

    /// The base URL of the manifest at `path`: the file's own, or the embedded origin's for a file of the sample data.
    func base(ofFile path: String) -> BaseURL {
        let file = URL(filePath: path)
        guard case .sample(.folder(let folder)) = self,
            file.deletingLastPathComponent().resolvingSymlinksInPath().path
                == URL(filePath: folder).resolvingSymlinksInPath().path
        else { return BaseURL(file) }
        return BaseURL(Self.sampleBase)
    }

    /// The address of the embedded origin.
    private static let sampleBase = URL(string: "http://\(sampleHost)/") ?? URL(filePath: "/")

    /// Reads the catalogue: one page from a file, one or more from the network. If a feed in a file goes on elsewhere,
    /// notes the address, and does not read it: naming a file is no permission to use the network.
    /// - Parameters:
    ///   - top: only this many of the best films are needed, if the service can select them. Default: all films.
    ///   - limit: the most bytes of a file.
    ///   - take: called with each page, at least one.
    func read(
        with session: Session, top: Int? = nil, limit: Int = Input.limit,
        take: @escaping CataloguePage.Taker
    ) async throws {
        switch self {
        case .missing: throw Failure("no catalogue is named; use --catalogue FILE or --catalogue URL")
        case .sample(let sample):
            try await take(CataloguePage(bytes: try await sample.films(), base: BaseURL(Self.sampleBase)))
        case .folder(let path):
            let folder = try PictureFolder(path)
            try await take(CataloguePage(bytes: try folder.catalogue(), base: folder.base))
        case .films(let folder): try await SourceReader.read(folder, take: take)
        case .server(let source):
            try await session.withLoader(reading: source.name) { opened in
                try await SourceReader(source, opened, session).read(take: take)
            }
        case .invalid(let failure): throw failure
        case .file(let path), .library(let path):
            let bytes = try await Input.file(path, limit: limit)
            if let next = Catalogue.nextPage(in: bytes) {
                session.output.notice(
                    "\(name): only this page is read; the feed goes on at \(next); name its address for all pages"
                )
            }
            try await take(CataloguePage(bytes: bytes, base: BaseURL(Self.base(ofCatalogue: path))))
        case .url(let text): try await Self.read(url: text, with: session, top: top, take: take)
        }
    }

    /// The addresses of standard input are relative to the working folder.
    private static func base(ofCatalogue path: String) -> URL {
        URL(filePath: path == standardInput ? FileManager.default.currentDirectoryPath + "/" : path)
    }

    /// All pages.
    /// - Parameter limit: the most bytes of a file.
    func pages(with session: Session, limit: Int = Input.limit) async throws -> [CataloguePage] {
        let pages = Lock<[CataloguePage]>([])
        try await read(with: session, limit: limit) { page in pages.withLock { $0.append(page) } }
        return pages.withLock { $0 }
    }

    /// Reads from the network, or from the cache when offline.
    static func read(
        url text: String, with session: Session, top: Int? = nil, take: @escaping CataloguePage.Taker
    ) async throws {
        let url = try URL(typed: text)
        try await session.withLoader(reading: URL(filePath: url.path).lastPathComponent) { opened in
            let address = FilmsAddress(catalogue: url)
            if let address, address.isSoap {
                return try await session.soap(address, opened).readPages(top: top, take: take)
            }
            if let address, address.isWhole {
                let addresses = [top.map(address.top), address.isNamed ? address.pages() : nil]
                for url in addresses.compactMap(\.self)
                where try await CataloguePages.readIfThere(url, opened, session, take: take) { return }
            }
            try await CataloguePages.read(url, opened, session, take: take)
        }
    }
}
