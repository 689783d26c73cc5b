package import FilmLibrary
import HTTPSemantics
package import HTTPServer
package import PictureService
package import ServiceOperations
package import SystemSupport

/// An HTTP/1.1 service of a catalogue: a folder with its posters, read only, or a library, which can be written. Nothing
/// outside the folder can be reached.
package final class CatalogueService: Sendable {
    /// What is served.
    package enum Content: Sendable, Hashable {
        /// The files of a folder, and the films of its catalogue at `/films`.
        case folder(path: String)
        /// The folder of a catalogue, with this file at `/`.
        case catalogue(path: String)
        /// The films of a library. It is opened for writing where the configuration lets clients write.
        case library(path: String)
    }

    private let server: HTTPServer
    private let handler: CatalogueHandler
    /// What makes pictures; nil where none are served.
    package let pictures: PictureService?

    /// Opens what is served, and listens; connections wait until `start()`. Throws what is wrong with the content, the
    /// address or the port.
    /// - Parameters:
    ///   - report: is told of every answer to a request, on the thread of its connection; nil, the default, for nobody.
    ///   - startThread: starts a thread. Default: the system.
    package init(
        _ content: Content, configuration: Configuration = Configuration(),
        report: (@Sendable (HTTPServer.Answer) -> Void)? = nil, startThread: BlockingThreads.Starter? = nil
    ) throws(CatalogueServiceError) {
        var configuration = configuration
        configuration.films.listeningHosts = configuration.server.addresses.compactMap { address in
            if case .internet(let host, _) = address { host } else { nil }
        }
        (handler, pictures) = try Self.handler(content, configuration)
        do throws(HTTPServerError) {
            server = try HTTPServer(
                configuration: configuration.server, handler: handler, report: report,
                startThread: startThread)
        } catch {
            throw .server(error)
        }
    }

    private static func handler(
        _ content: Content, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> (CatalogueHandler, PictureService?) {
        switch content {
        case .folder(let path): return try handler(path, catalogue: nil, configuration)
        case .catalogue(let path):
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
            return try handler(folder, catalogue: name, configuration)
        case .library(let path):
            do throws(FilmLibraryError) {
                let library = try FilmLibrary(
                    path: path, access: configuration.films.isWritable ? .writing : .reading)
                let pictures = try pictures(configuration) { body throws(FilmLibraryError) in
                    try library.forEach { film throws(FilmLibraryError) in
                        body(film)
                        return true
                    }
                }
                let films = FilmService(
                    library: library, configuration: configuration.films,
                    pictures: pictures.map { FilmPictures($0) }, report: configuration.reportFailure)
                return (
                    CatalogueHandler(site: .library(films), pictures: pictures, configuration: configuration),
                    pictures
                )
            } catch {
                throw .library(error)
            }
        }
    }

    private static func handler(
        _ path: String, catalogue: String?, _ configuration: Configuration
    ) throws(CatalogueServiceError) -> (CatalogueHandler, PictureService?) {
        let folder = try CatalogueFolder(path: path)
        let pictures = pictures(configuration) { body in
            FolderSite(folder: folder, catalogue: catalogue, pictures: nil, configuration: configuration)
                .forEachFilm(body)
        }
        let site = FolderSite(
            folder: folder, catalogue: catalogue, pictures: pictures, configuration: configuration)
        return (
            CatalogueHandler(site: .folder(site), pictures: pictures, configuration: configuration), pictures
        )
    }

    /// A service of pictures that may fetch from the hosts of the posters there are now. Those that clients write later do
    /// not count: anybody who may write could have this machine fetch from anywhere.
    private static func pictures<Failure: Error>(
        _ configuration: Configuration,
        forEachFilm: ((StoredFilm) -> Void) throws(Failure) -> Void
    ) throws(Failure) -> PictureService? {
        guard var settings = configuration.pictures else { return nil }
        var sources: Set<PictureRules.Source> = []
        try forEachFilm { film in
            guard case .address(let address) = film.poster, let origin = WebOrigin(address) else { return }
            sources.insert(PictureRules.Source(origin))
        }
        settings.rules.catalogueSources.formUnion(sources)
        return PictureService(settings)
    }

    /// The port it listens on; 0 where it listens at a local socket alone.
    package var port: UInt16 { server.ports.lazy.compactMap(\.self).first ?? 0 }

    /// The catalogue that `/` gives: `movies.json` or `movies.xml`, else the folder's only file of JSON or XML. Nil where
    /// there is none, or several, and for a library.
    package var catalogueName: String? {
        if case .folder(let folder) = handler.site { folder.catalogueName } else { nil }
    }

    /// Serves, on threads of its own, and returns at once. Once stopped, a service does not start again.
    ///
    /// Throws when the system gives no thread; a later call may succeed.
    package func start() throws(CatalogueServiceError) {
        do throws(HTTPServerError) { try server.start() } catch { throw .server(error) }
    }

    /// Begins to drain: every answer ends its connection from now on, so that clients go elsewhere.
    package func drain() { server.drain() }

    /// Stops: accepts nothing more, ends idle connections at once, lets running answers finish, and returns when the last
    /// thread has ended. Blocks, so not for the cooperative pool; may be called twice.
    /// - Parameter grace: how long running answers may take. Default: the configuration's, a second.
    package func stop(grace: Duration? = nil) { server.stop(grace: grace) }

    /// What it has done so far.
    package var statistics: HTTPServer.Statistics { server.statistics }
}

extension CatalogueService {
    /// How a service listens, what it bounds, and how bad a server it plays.
    package struct Configuration: Sendable {
        /// Where it listens, and its limits. The latency and bandwidth there make a server near by feel like one far away.
        package var server = HTTPServer.Configuration()
        /// The share of requests that are answered 500 instead, 0 (the default) to 1.
        package var failureRate = 0.0
        /// Decides which requests fail: the same seed and order of requests, the same failures.
        package var failureSeed: UInt64 = 1
        /// Seconds that files count as fresh (`Cache-Control: max-age`), default an hour.
        package var cacheSeconds = 3600

        /// Whom films are given to and who may write them. Where the service listens is filled in.
        package var films = FilmServiceConfiguration()
        /// Who a request's client is, behind proxies. Default: the peer.
        package var clients = ForwardedClient()
        /// How many requests a second a client may send; further ones are answered 429. Nil, the default, for any number.
        package var requestsPerClient: Int?
        /// How pictures are made at a size; nil, the default, for none. The hosts of the catalogue's posters are added to its
        /// sources.
        package var pictures: PictureService.Configuration?
        /// Is told what failed in a request that was answered 5xx; clients learn only that something did. Default: nobody.
        package var reportFailure: @Sendable (any Error) -> Void = { _ in }

        /// The defaults.
        package init() {}
    }
}

/// Why a service cannot be started.
package enum CatalogueServiceError: Error, Sendable, Hashable {
    /// There is no folder at this path.
    case noSuchFolder(path: String)
    /// There is something at this path that is not a folder.
    case notAFolder(path: String)
    /// The folder may not be read.
    case folderNotReadable(path: String)
    /// The folder cannot be opened: the system's error number.
    case folderRefused(path: String, errno: Int32)
    /// The library cannot be opened.
    case library(FilmLibraryError)
    /// It cannot listen.
    case server(HTTPServerError)
}

extension CatalogueServiceError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .noSuchFolder(let path): "there is no folder \(path); name the folder that holds the catalogue"
        case .notAFolder(let path): "\(path) is not a folder; name the folder that holds the catalogue"
        case .folderNotReadable(let path): "the folder \(path) may not be read; change its permissions"
        case .folderRefused(let path, let errno):
            "the system refused the folder \(path): \(SystemError.text(errno)); try again"
        case .library(let error): error.description
        case .server(let error): error.description
        }
    }
}
