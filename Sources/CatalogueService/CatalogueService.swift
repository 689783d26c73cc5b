package import FilmSources
import HTTPSemantics
package import HTTPServer
import LazyImages
package import PictureServer
package import ServiceOperations
import SystemSupport

/// An HTTP/1.1 service of a catalogue: a read-only folder with its posters, or a library that clients may change. No
/// request can reach a file outside the folder.
package final class CatalogueService: Sendable {
    /// The content that the service serves.
    package enum Content: Sendable {
        /// The files of a folder, and the films of its catalogue at `/films`.
        case folder(path: String)
        /// The folder of a catalogue, with this file at `/`.
        case catalogue(path: String)
        /// The films of a library. It is opened for writing if the configuration lets clients write.
        case library(path: String)
        /// Films that somebody else keeps current. Clients cannot change them.
        case films(FilmLibrary)
    }

    private let server: HTTPServer
    private let handler: CatalogueHandler
    private let watch = Lock<Task<Void, Never>?>(nil)
    /// Makes pictures; nil if none are served.
    package var pictures: PictureServer? { handler.pictures }

    /// Opens the content, and listens; connections wait until `start()`.
    /// - Parameters:
    ///   - report: called for every answer, on the thread of its connection. Default: nil, no reports.
    /// - Throws: what is wrong with the content, the address or the port.
    package init(
        _ content: Content, configuration: Configuration = Configuration(),
        report: (@Sendable (HTTPServer.Answer) -> Void)? = nil
    ) throws(CatalogueServiceError) {
        var configuration = configuration
        configuration.films.listeningHosts = configuration.server.addresses.compactMap(\.host)
        handler = try Self.handler(content, configuration)
        do throws(HTTPServerError) {
            server = try HTTPServer(configuration: configuration.server, handler: handler, report: report)
        } catch {
            throw .server(error)
        }
    }

    /// Opens the content and closes it again, as a start does, without listening.
    /// - Throws: what is wrong with the content.
    package static func check(
        _ content: Content, configuration: Configuration
    ) throws(CatalogueServiceError) {
        _ = try handler(content, configuration)
    }

    /// Looks at the served file from time to time. Requests look too, but a service without requests must notice as well
    /// that its library was replaced, or that its catalogue is broken or good again.
    private static func watch(_ handler: CatalogueHandler) async {
        let threads = BlockingThreads(count: 1, name: "marquee-watch")
        // Ignored: the cancelled task ends; without a thread the next look is later.
        while (try? await Task.sleep(for: watchInterval)) != nil { try? await threads.run(handler.look) }
    }

    private static let watchInterval = Duration.seconds(1)

    private static func handler(
        _ content: Content, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> CatalogueHandler {
        switch content {
        case .folder(let path): return try handler(path, catalogue: nil, configuration)
        case .catalogue(let path):
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
            return try handler(folder, catalogue: name, configuration)
        case .library(let path):
            let library: FilmLibrary
            do throws(FilmLibraryError) {
                library = try FilmLibrary(
                    path: path, access: configuration.films.isWritable ? .writing : .reading)
            } catch {
                throw .library(error)
            }
            return try handler(library, configuration)
        case .films(let library):
            var configuration = configuration
            configuration.films.isWritable = false
            return try handler(library, configuration)
        }
    }

    private static func handler(
        _ library: FilmLibrary, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> CatalogueHandler {
        let pictures = try pictures(of: library, configuration)
        let films = FilmService(
            library: library, configuration: configuration.films,
            pictures: pictures.map { FilmPictures($0) }, report: configuration.reportFailure)
        return CatalogueHandler(site: .library(films), pictures: pictures, configuration: configuration)
    }

    private static func handler(
        _ path: String, catalogue: String?, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> CatalogueHandler {
        let folder = try CatalogueFolder(path: path, followsLinks: configuration.followsLinks)
        let hasFiles = catalogue == nil && folder.catalogueName() == nil && FilmFolder.hasFilms(path)
        let films = FolderFilms(
            folder, catalogue: catalogue,
            files: hasFiles ? FilmFolder(path, followsLinks: configuration.followsLinks) : nil)
        let first = films.read()
        // Ignored: the site reports why films cannot be read.
        let library = try? first.films?.get().library
        let pictures = try pictures(of: library, configuration)
        let site = FolderSite(films, first: first, pictures: pictures, configuration: configuration)
        return CatalogueHandler(site: .folder(site), pictures: pictures, configuration: configuration)
    }

    /// A picture service that may fetch from the hosts of the films' posters now. Hosts that clients add later do not
    /// count; otherwise any client with the right to write could make this machine fetch from anywhere.
    private static func pictures(
        of library: FilmLibrary?, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> PictureServer? {
        guard var settings = configuration.pictures else { return nil }
        var sources: Set<FetchSource> = []
        do throws(FilmLibraryError) {
            try library?.forEach { film throws(FilmLibraryError) in
                if case .address(let address) = film.poster, let origin = WebOrigin(address),
                    let source = FetchSource(origin)
                {
                    sources.insert(source)
                }
                return true
            }
        } catch {
            throw .library(error)
        }
        settings.rules.allow(sources)
        settings.reportFailure = configuration.reportFailure
        settings.client = configuration.clients.client(of:from:)
        return PictureServer(settings)
    }

    /// The writes of the served library so far; nil for a folder.
    package var libraryWrites: WriteCounts? {
        if case .library(let films) = handler.site { films.library.writeCounts } else { nil }
    }

    /// The port that the service listens on; 0 if it listens on a local socket only.
    package var port: UInt16 { server.ports.lazy.compactMap(\.self).first ?? 0 }

    /// Whether there are films: a library's, a catalogue's, or those of a folder.
    package var hasFilms: Bool {
        if case .folder(let folder) = handler.site { folder.hasFilms } else { true }
    }

    /// The catalogue at `/`: `movies.json` or `movies.xml`, else the folder's only JSON or XML file. Nil if there is
    /// none, or several, and for a library.
    package var catalogueName: String? {
        if case .folder(let folder) = handler.site { folder.catalogueName } else { nil }
    }

    /// Serves on threads of its own, and returns at once. A stopped service does not start again.
    ///
    /// - Throws: when the system gives no thread; a later call may succeed.
    package func start() throws(CatalogueServiceError) {
        do throws(HTTPServerError) { try server.start() } catch { throw .server(error) }
        watch.withLock { watch in watch = watch ?? Task { [handler] in await Self.watch(handler) } }
    }

    deinit { watch.withLock { $0?.cancel() } }

    /// Begins to drain, so that clients go elsewhere: every answer now ends its connection.
    package func drain() { server.drain() }

    /// Stops: accepts no more connections, ends idle connections at once, lets running answers finish, and returns when
    /// the last thread has ended. Blocks, so do not call it on the cooperative pool. A second call is harmless.
    /// - Parameter grace: how long running answers may take. Default: the configuration's, 1 s.
    package func stop(grace: Duration? = nil) {
        server.stop(grace: grace)
        watch.withLock { $0?.cancel() }
        handler.endLooks()
    }

    /// As `HTTPServer.heartbeats()`.
    package func heartbeats() -> [Int] { server.heartbeats() }

    /// The server's counts so far.
    package var statistics: HTTPServer.Statistics { server.statistics }
}

extension CatalogueService {
    /// Where a service listens, its limits, and the faults that it simulates.
    package struct Configuration: Sendable {
        /// Where it listens, and its limits. Its latency and bandwidth make a near server feel like a distant one.
        package var server = HTTPServer.Configuration()
        /// The share of requests that are answered 500, from 0 (the default) to 1.
        package var failureRate = 0.0
        /// The seed that decides which requests fail. The same seed and order of requests give the same failures.
        package var failureSeed: UInt64 = 1
        /// Whether links that lead out of a served folder are followed. Default: no.
        package var followsLinks = false
        /// The freshness lifetime of files in seconds (`Cache-Control: max-age`), default one hour.
        package var cacheSeconds = 3600

        /// Who may read and write films. The service fills in where it listens.
        package var films = FilmServiceConfiguration()
        /// Finds the client of a request behind proxies. Default: the peer.
        package var clients = ForwardedClient()
        /// The most requests a second of one client; further ones are answered 429. Default: nil, no limit.
        package var requestsPerClient: Int?
        /// How pictures are made; nil, the default, serves none. The hosts of the catalogue's posters are added to its
        /// sources.
        package var pictures: PictureServer.Configuration?
        /// Gets notes on faults that do not keep the service from answering. Default: nobody reads them.
        package var readiness = Readiness()
        /// Called with the error behind an answer 5xx; clients are told only that the service failed. Default: nothing.
        package var reportFailure: @Sendable (any Error) -> Void = { _ in }

        /// The defaults.
        package init() {}
    }
}

/// Why a service cannot start.
package enum CatalogueServiceError: Error, Sendable, Hashable {
    /// The folder cannot be opened, for this error number.
    case folder(path: String, errno: Int32)
    /// The library cannot be opened.
    case library(FilmLibraryError)
    /// The service cannot listen.
    case server(HTTPServerError)
}

extension CatalogueServiceError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .folder(let path, ENOENT), .folder(let path, ENOTDIR):
            "there is no folder \(path); name the folder that holds the catalogue"
        case .folder(let path, let errno):
            "the folder \(path) is not readable: \(SystemError.text(errno)); change its permissions"
        case .library(let error): error.description
        case .server(let error): error.description
        }
    }
}
