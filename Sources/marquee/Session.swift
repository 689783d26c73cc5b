import FilmBrowser
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import LazyImages
import SystemSupport

/// The state of one run of the program: its settings, its output, and what it opens when needed.
struct Session: Sendable {
    let arguments: Arguments
    private(set) var settings: Settings
    private(set) var output: Output
    /// The disk tier; nil if it is switched off.
    let disk: DiskCache?
    /// The network of all loaders, which so share their connections.
    private let network: CurlTransport
    private(set) var source: CatalogueSource
    /// The signals that ask the program to end.
    let interruption: Interruption
    /// How to open a catalogue of one's own: for the first start, which shows the sample. Nil later.
    let welcome: String?
    /// The pages that are read of a source that has too many.
    private(set) var pages = 0..<25

    /// - Parameter source: the source of the films. Default: from the settings.
    init(
        arguments: Arguments, settings: Settings, output: Output, interruption: Interruption,
        source: CatalogueSource? = nil
    ) {
        self.interruption = interruption
        self.arguments = arguments
        self.settings = settings
        self.output = output
        let source = source ?? CatalogueSource(settings.catalogue)
        if case .sample = source, settings.catalogue == nil,
            !FileManager.default.fileExists(atPath: settings.cacheFolder)
        {
            welcome = "this is the sample; marquee FILE, FOLDER or URL opens your own films"
        } else {
            welcome = nil
        }
        self.source = source
        network = CurlTransport(configuration: settings.transport)
        disk = settings.usesDisk ? DiskCache(folder: settings.cacheFolder, limit: settings.cacheLimit) : nil
    }

    /// The same session while the program uses the whole screen.
    func besideScreen() -> Session { changed { $0.output = output.besideScreen() } }

    /// The same session with another source, to which its credential goes.
    func reading(_ source: CatalogueSource) -> Session { changed { $0.source = source } }

    /// The same session for these pages of a source that has too many.
    func reading(pages: Range<Int>) -> Session { changed { $0.pages = pages } }

    /// The same session for requests that write: it authenticates at the user's own services too.
    func writing() -> Session {
        let credentials = WritingCredentials(named: settings.downloads.authenticator)
        return changed { $0.settings.downloads.authenticator = credentials }
    }

    /// Lets `print` write to standard output, through a pager where that is longer than the terminal.
    func paged(_ print: () -> Void) {
        output.paged(isWanted: !arguments.has("no-pager"), interruption, print)
    }

    /// Prints a result: an object for programs, or a line for people.
    func print(_ record: some Encodable, orLine line: String) {
        if settings.wantsJSON { output.json(record) } else { output.line(line) }
    }

    /// The same session without messages on standard error.
    func silent() -> Session { changed { $0.output = Output(isQuiet: true) } }

    private func changed(_ change: (inout Session) -> Void) -> Session {
        var session = self
        change(&session)
        return session
    }

    /// A loader over the disk tier and the network, which includes the embedded origin or the library.
    /// - Parameters:
    ///   - keepsFiles: whether memory caches the files too, for a caller that asks again.
    ///   - acceptsAnyContent: whether it accepts files that are not images, whatever the settings say.
    ///   - total: the most time for a whole transfer, unless the user sets it. Default: from the settings.
    func makeLoader(
        keepsFiles: Bool = true, acceptsAnyContent: Bool = false, total: Duration? = nil
    ) -> OpenLoader {
        open { configuration, network in
            if let total, !arguments.has("max-time") { configuration.timeouts.total = total }
            if acceptsAnyContent { configuration.acceptsAnyContent = true }
            let shared = settings.shared?.tier
            if disk == nil {
                if shared == nil { return .ephemeral(configuration: configuration, transport: network) }
                configuration.temporaryFolder = nil
            }
            return FileLoader(
                memory: keepsFiles || disk == nil ? MemoryCache(limit: 64 * 1024 * 1024) : nil, disk: disk,
                shared: shared, configuration: configuration, transport: network)
        }
    }

    /// A loader for servers' answers with any status and content. It caches nothing.
    func makeAnswerLoader() -> OpenLoader {
        open { configuration, network in
            configuration.acceptsAnyContent = true
            configuration.acceptsAnyStatus = true
            return .ephemeral(configuration: configuration, transport: network)
        }
    }

    /// A loader of what a picture service makes. It keeps nothing, and the service alone may have all transfers. A
    /// picture may wait a minute for its turn there.
    func makePictureLoader() -> OpenLoader {
        open { configuration, network in
            if !arguments.has("timeout") { configuration.timeouts.firstByte = .seconds(60) }
            if !arguments.has("per-host") { configuration.transfersPerHost = configuration.transfers }
            return .ephemeral(memory: nil, configuration: configuration, transport: network)
        }
    }

    /// Adds the user's credential to requests for the source's own server: last of all, so that it is in no cache key, no
    /// message and no redirect.
    private var authorization: (@Sendable (inout TransportRequest) async throws -> Void)? {
        guard let source = source.server, let token = SourceReader.token(for: source, settings) else {
            return nil
        }
        return { request in
            guard SecurityPolicy.haveSameOrigin(request.url, source.server) else { return }
            source.authorize(&request.url, &request.fields, with: token)
        }
    }

    private func open(
        _ makeLoader: (inout ImageDownloader.Configuration, any Transport) -> FileLoader
    ) -> OpenLoader {
        var origin: EmbeddedOrigin?
        var network: any Transport = network
        switch source {
        case .sample(.folder(let folder)) where !settings.isOffline:
            let embedded = EmbeddedOrigin(folder: folder, transport: settings.transport)
            (origin, network) = (embedded, embedded)
        case .sample(.program) where !settings.isOffline: network = SampleTransport(network: network)
        case .library(let path): network = LibraryTransport(path: path, network: network)
        default: break
        }
        var configuration = settings.downloads
        configuration.beforeSending = authorization
        let loader = makeLoader(&configuration, network)
        let log = output.isVerbose ? TransferLog.follow(loader.downloader.activity, output) : nil
        return OpenLoader(loader: loader, origin: origin, log: log, output: output)
    }

    /// A loader of displayed pictures, over a loader of files.
    /// - Parameter pressure: as in `ImageLoader`. A short command leaves it out: the kernel takes some 10 ms to end a
    ///   process that watches the memory pressure.
    func imageLoader(over opened: OpenLoader, pressure: MemoryPressure? = nil) -> ImageLoader {
        ImageLoader(
            memory: MemoryCache(limit: settings.memoryLimit), files: opened.loader,
            decodingLimits: settings.decoding, pressure: pressure)
    }

    /// The request for the address `text`. The user's own header fields are sent with it, unless it leads away from the
    /// user's server.
    /// - Parameters:
    ///   - fields: further fields; the user's own win over them.
    ///   - size: for a poster, the size to which it is decoded: see `posterRequest`.
    func request(
        for text: String, relativeTo base: BaseURL?, checksum: String? = nil,
        adding fields: HeaderFields = HeaderFields(), decodedAt size: ImageSize? = nil
    ) throws(ImageLoadingError) -> ImageRequest {
        var url = if let base { try base.resolve(text) } else { try URL(typed: text) }
        if let size { url = SourceKinds.poster(url, atLeast: size.width / 2) }
        var fields = fields
        if base?.sharesFields(with: url) ?? true { fields.replace(with: settings.fields) }
        return request(for: url, fields, checksum)
    }

    /// The request for a URL with exactly these header fields.
    func request(for url: URL, _ fields: HeaderFields, _ checksum: String?) -> ImageRequest {
        var request = ImageRequest(
            url, options: .init(fields: fields, checksum: checksum, ignoredQuery: settings.ignoredQuery)
        )
        if settings.isOffline, !LibraryTransport.serves(url) { request.cachePolicy = .cacheOnly }
        return request
    }

    /// The request for a poster at the smallest of its server's sizes that is enough.
    /// - Parameter size: a canvas's `pictureSize`, which is twice the drawn pixels; nil for the address as it is.
    func posterRequest(
        for text: String, relativeTo base: BaseURL?, decodedAt size: ImageSize?
    ) throws(ImageLoadingError) -> ImageRequest {
        var request = try request(for: text, relativeTo: base, decodedAt: size)
        if request.cachePolicy == .useProtocol, SourceKinds.isImmutable(request.url) {
            request.cachePolicy = .returnCacheElseLoad
        }
        return request
    }

    /// Whether the disk tier has the file of a request (and not only a cached failure), or the file is local anyway.
    func hasCached(_ request: ImageRequest) -> Bool {
        if LibraryTransport.serves(request.url) { return true }
        if request.url.isFileURL { return LocalContent.isReadable(request.url) }
        return disk?.hasFile(for: request.key) ?? false
    }

    /// Reports faults of the disk tier, if there were any; returns true then.
    /// - Parameter other: a disk tier other than the session's own.
    @discardableResult
    func reportFaults(of other: DiskCache? = nil) -> Bool {
        guard let disk = other ?? disk, let fault = disk.counters.lastFault else { return false }
        output.failure(
            "the cache does not work: \(fault); choose another folder with --cache-dir")
        return true
    }

    /// The catalogue of the settings. From a library, only the films that `text` may mean, or all films if there are
    /// none.
    func catalogue(for text: String) async throws -> OpenCatalogue {
        if case .library(let path) = source, let few = try await LibrarySource.few(text, path, output) {
            return few
        }
        return try await catalogue(orCached: true)
    }

    /// The catalogue of the settings.
    /// - Parameters:
    ///   - top: only this many of the best films are needed, if the service can select them. Default: all films.
    ///   - orCached: whether cached films will do if the server does not answer. `outage` then says why: see
    ///     `reportOutage`. Default: no.
    ///   - onPage: called with the films as their pages arrive.
    func catalogue(
        top: Int? = nil, orCached: Bool = false,
        onPage: @escaping @Sendable (CatalogueParts) -> Void = { _ in }
    ) async throws -> OpenCatalogue {
        let name = "reading " + URL(filePath: source.name).lastPathComponent
        let work = output.progress.begin { JobProgress(label: name, total: 0) }
        defer { output.progress.end(work) }
        if case .library(let path) = source { return try await LibrarySource.all(path, output) }
        let open: OpenCatalogue
        do {
            open = try await read(top: top, onPage: onPage)
        } catch let error as ImageLoadingError where error.isSilence {
            open = try await cachedCatalogue(top: top, isWanted: orCached, because: error)
        }
        let problems = open.catalogue.problems
        let named = output.isVerbose ? problems.count : 5
        for line in CatalogueError.warnings(of: problems, in: source.name, named: named, advice: "--verbose")
        {
            output.notice(line)
        }
        return open
    }

    private func read(
        top: Int?, onPage: @escaping @Sendable (CatalogueParts) -> Void
    ) async throws -> OpenCatalogue {
        do {
            let open = try await CatalogueParts.all(onPage: onPage) { take in
                try await source.read(with: self, top: top, take: take)
            }
            guard let open else { throw Failure("\(source.name): there are no more films") }
            return open
        } catch let error as CatalogueError {
            guard let path = source.path, Self.isPicture(path) else {
                throw Failure("\(source.name): \(error)")
            }
            throw Failure(
                "\(path): it is a picture, not a list of films; to see it, write marquee show \(path)")
        }
    }

    private static func isPicture(_ path: String) -> Bool {
        guard FileKind(path) == .file else { return false }
        // Ignored: the file has just been read, and its error is reported.
        let beginning = (try? Input.beginning(of: path)).map(Array.init) ?? []
        return ImageFormat(detecting: beginning.span) != nil
    }

    /// Says that the films are cached ones, because their server does not answer.
    func reportOutage(of open: OpenCatalogue) {
        guard let outage = open.outage else { return }
        let age = open.confirmed.map { Age.text(WallClock.system.seconds - $0) + " old" } ?? "of unknown age"
        output.failure("\(silence(outage)); showing the cached films, \(age)")
    }

    /// Why the server of the films does not answer. It names the catalogue, and not the address of a page of it.
    private func silence(_ error: ImageLoadingError) -> String {
        "\(source.name): \(ImageLoadingError.withoutAddress(error.advised))"
    }

    /// The cached films of the last reading.
    /// - Throws: the outage, if they are not wanted, or not all pages are cached.
    private func cachedCatalogue(
        top: Int?, isWanted: Bool = true, because outage: ImageLoadingError
    ) async throws(Failure) -> OpenCatalogue {
        let offline = changed { $0.settings.isOffline = true }
        // Ignored: the server's own error says more.
        guard isWanted, var cached = try? await offline.read(top: top, onPage: { _ in }) else {
            throw Failure(silence(outage), code: outage.code)
        }
        cached.outage = outage
        return cached
    }

    /// The film that `text` names.
    /// - Throws: `Failure` with the candidates if there are several or none.
    func film(_ text: String, in catalogue: Catalogue) throws(Failure) -> Movie {
        func lines(_ movies: [Movie]) -> [String] {
            movies.prefix(8).map { movie in
                "\(movie.id) (\(movie.title)\(movie.year.map { ", \($0)" } ?? ""))"
            }
        }
        func list(_ movies: [Movie]) -> String {
            lines(movies).joined(separator: ", ") + (movies.count > 8 ? " and \(movies.count - 8) more" : "")
        }
        switch catalogue.match(text) {
        case .one(let movie): return movie
        case .several(let movies):
            let more = movies.count > 8 ? ["and \(movies.count - 8) more"] : []
            throw Failure(
                "\"\(text)\" names several films: \(list(movies)); give an id", code: "ambiguous-film",
                lines: ["\"\(text)\" names several films; give an id:"]
                    + (lines(movies) + more).map { "  " + $0 })
        case .none(let suggestions) where suggestions.isEmpty:
            throw Failure("no film is called \"\(text)\"; marquee list shows them all", code: "no-such-film")
        case .none(let suggestions):
            throw Failure(
                "no film is called \"\(text)\"; did you mean \(list(suggestions))?", code: "no-such-film")
        }
    }
}

/// A loader with the origin of the sample posters and the log of transfers, which live as long as it.
struct OpenLoader: Sendable {
    let loader: FileLoader
    let origin: EmbeddedOrigin?
    let log: Task<Void, Never>?
    let output: Output

    /// The bytes received so far, and those to come.
    var traffic: NetworkActivity.Traffic { loader.downloader.activity.traffic }

    /// Waits until everything is on disk, and stops the origin. Reports why interrupted downloads cannot be resumed, if
    /// so.
    func close() async {
        await loader.flush()
        // If the whole cache folder fails, that was reported already.
        if loader.disk?.counters.lastFault == nil, let fault = loader.downloader.partialCounters.lastFault {
            output.failure("downloads that break cannot be resumed: \(fault)")
        }
        log?.cancel()
        await log?.value
        await origin?.stop()
    }
}

/// A catalogue and the base URL of its posters.
struct OpenCatalogue: Sendable {
    var catalogue: Catalogue
    let base: BaseURL
    /// The marks that the films' server has for the user, by the film's id.
    var served: [String: FilmMarks] = [:]
    /// The ids that databases of films have for a film of a source, by the film's own.
    var ids: [String: [String: String]] = [:]
    /// Whether the server has more films than were read.
    var hasMore = false
    /// When the server last confirmed the films, in seconds since 1970; nil if that is unknown.
    var confirmed: Int?
    /// Why these are cached films: the server did not answer. Nil if they are current.
    var outage: ImageLoadingError?

    /// These films, and behind them those of later pages.
    func appending(_ later: OpenCatalogue) -> OpenCatalogue {
        var all = self
        all.catalogue = catalogue.appending([later.catalogue])
        all.served.merge(later.served) { first, _ in first }
        all.ids.merge(later.ids) { first, _ in first }
        all.hasMore = later.hasMore
        all.confirmed = [confirmed, later.confirmed].compactMap(\.self).min()
        all.outage = outage ?? later.outage
        return all
    }
}

/// A film that a word of the command line names.
struct FoundFilm: Sendable {
    let movie: Movie
    let base: BaseURL
    /// Whether it is a cached one, because the server does not answer.
    var isCached = false
}

/// Why a command failed, in one line that says what to do.
struct Failure: Error, CustomStringConvertible {
    let description: String
    /// A short, stable name for programs, like that of `ImageLoadingError`.
    let code: String
    /// The same for a person, in lines; nil where one line is enough.
    let lines: [String]?

    init(_ description: String, code: String = "failure", lines: [String]? = nil) {
        self.description = description
        self.code = code
        self.lines = lines
    }

    /// Calls `body`. Its error becomes a failure that names the place.
    static func naming<Value>(
        _ place: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch { throw Failure("\(place()): \(error)") }
    }

    /// The system lacks a resource that `work` needs.
    init(_ shortage: ResourceShortage, doing work: String) {
        self.init("\(work): \(shortage); try again later", code: "resources-short")
    }
}

extension Session {
    /// The service of the catalogue, for changes.
    /// - Parameter wire: REST or SOAP. Default: SOAP if the catalogue's address is the SOAP one.
    /// - Throws: `Failure` for a catalogue that cannot be changed.
    private func filmClient(_ wire: FilmWire?) throws -> FilmClient {
        if settings.isOffline { throw UsageError("leave out --offline: changes go to the service at once") }
        let url: URL
        var local: LocalFilms?
        switch source {
        case .url(let text): url = try URL(typed: text).withOwnLoopback
        case .library(let path):
            local = try LocalFilms(path: path)
            url = try URL(typed: LibraryTransport.base(path))
        case .sample:
            throw Failure(
                "the sample is read-only; make a library with marquee import \(SampleCatalogue.word) films.db, "
                    + "and name it with --catalogue films.db")
        case .invalid(let failure): throw failure
        case .file, .folder, .films, .server, .missing:
            throw Failure(
                "\(source.name): a catalogue file is read-only; make a library with "
                    + "marquee import \(source.name) films.db, and name it with --catalogue films.db")
        }
        guard var address = FilmsAddress(catalogue: url) else {
            throw Failure(
                "\(source.name): this is a file, not a film service; "
                    + "name a service with --catalogue http://HOST:PORT/films, or a library with --catalogue films.db"
            )
        }
        if let wire { address.isSoap = wire == .soap }
        let opened = writing().makeLoader(keepsFiles: false, acceptsAnyContent: true)
        return FilmClient(
            address, opened, fields: local == nil ? settings.fields : HeaderFields(), local: local)
    }

    /// Opens the service of the catalogue, calls `body`, and closes the service.
    func withFilms(
        _ wire: FilmWire? = nil, _ body: (FilmClient) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let client = try filmClient(wire)
        return try await Self.closing(client.close) { try await body(client) }
    }

    /// Calls `body`, and then `close`, also if `body` has thrown an error.
    private static func closing<Value>(
        _ close: () async -> Void, after body: () async throws -> Value
    ) async throws -> Value {
        let result = await Result<Value, any Error>.of(body)
        await close()
        return try result.get()
    }

    /// Reports a change of a film: the film for programs, or a line for people.
    func report(_ film: FilmClient.Film, _ line: String) -> ExitStatus {
        if settings.wantsJSON {
            output.json(JSONText(members: film.document.members))
        } else {
            output.line(line)
        }
        return .done
    }

    /// The film that `text` names in a service: by id, else by title.
    /// - Throws: `Failure` with the candidates if there are several or none.
    func film(_ text: String, of client: FilmClient) async throws -> FilmClient.Film {
        if FilmID.fault(text) == nil, let film = try await client.film(text) { return film }
        let movie: Movie
        if case .library = source {
            movie = try self.film(text, in: try await catalogue(for: text).catalogue)
        } else if let found = try await search(text, client.address, client.opened) {
            movie = found.movie
        } else {
            throw Failure(
                "\(client.address.films.displayText): no film service answers; "
                    + "name one with --catalogue http://HOST:PORT/films")
        }
        guard let film = try await client.film(movie.id) else {
            throw Failure("\(movie.title) has just been removed", code: "no-such-film")
        }
        return film
    }
}

extension Session {
    /// The film that `text` names: from the service or the server if it has a search, else from all films.
    /// - Throws: `Failure` with the candidates if there are several or none.
    func find(_ text: String) async throws -> FoundFilm {
        let open: OpenCatalogue
        do {
            if let found = try await findAtServer(text) { return found }
            open = try await catalogue(for: text)
        } catch let error as ImageLoadingError where error.isSilence {
            open = try await cachedCatalogue(top: nil, because: error)
        }
        reportOutage(of: open)
        // A server that is away is not asked for the film's own page either.
        let session = open.outage == nil ? self : changed { $0.settings.isOffline = true }
        let film = await session.whole(try film(text, in: open.catalogue))
        return FoundFilm(movie: film, base: open.base, isCached: open.outage != nil)
    }

    /// Nil if no server was asked, or a server with too many films to read has none so called.
    private func findAtServer(_ text: String) async throws -> FoundFilm? {
        if case .url(let name) = source, let address = FilmsAddress(catalogue: try URL(typed: name)),
            address.isWhole || address.isSoap
        {
            return try await withLoader(reading: text) { opened in
                if FilmID.fault(text) == nil, let film = try await one(text, address, opened) { return film }
                return try await search(text, address, opened)
            }
        }
        guard let search = source.server?.searching(text) else { return nil }
        let found = try await reading(.server(search)).reading(pages: 0..<1).catalogue()
        if case .none = found.catalogue.match(text) { return nil }
        return FoundFilm(movie: await whole(try film(text, in: found.catalogue)), base: found.base)
    }

    /// The film with what only its own page at the source has.
    func whole(_ film: Movie) async -> Movie {
        guard let source = source.server else { return film }
        // Ignored: the film stays as its list has it.
        let whole = try? await withLoader(reading: film.title) { opened in
            try await source.complete(film, SourceReader(source, opened, self))
        }
        return whole ?? film
    }

    /// The film with an id; nil if there is none.
    private func one(
        _ id: String, _ address: FilmsAddress, _ opened: OpenLoader
    ) async throws -> FoundFilm? {
        if address.isSoap {
            guard let film = try await soap(address, opened).film(id) else { return nil }
            return FoundFilm(movie: try film.document.movie(), base: BaseURL(address.soap))
        }
        let url = address.film(id)
        let first = Lock<CataloguePage?>(nil)
        _ = try await CataloguePages.readIfThere(url, opened, self) { page in
            first.withLock { $0 = $0 ?? page }
        }
        guard let page = first.withLock({ $0 }) else { return nil }
        return try Failure.naming("\(url.displayText): the answer is not a film") {
            FoundFilm(
                movie: try FilmDocument(json: try JSONText(parsing: page.bytes)).movie(), base: page.base)
        }
    }

    /// The film that a title names, from the service's search; nil without a service. If the search finds none, all
    /// films are read, to suggest similar names.
    func search(
        _ text: String, _ address: FilmsAddress, _ opened: OpenLoader
    ) async throws -> FoundFilm? {
        do {
            guard var open = try await films(address, searching: text, opened) else { return nil }
            if case .none = open.catalogue.match(text) {
                open = try await films(address, searching: nil, opened) ?? open
            }
            return FoundFilm(movie: try film(text, in: open.catalogue), base: open.base)
        } catch let error as CatalogueError {
            throw Failure("\(address.films.displayText): \(error)")
        }
    }

    private func films(
        _ address: FilmsAddress, searching text: String?, _ opened: OpenLoader
    ) async throws -> OpenCatalogue? {
        try await CatalogueParts.all { take in
            if address.isSoap {
                return try await soap(address, opened).readPages(searching: text, take: take)
            }
            _ = try await CataloguePages.readIfThere(
                address.pages(searching: text), opened, self, take: take)
        }
    }

    /// The caller for a service in SOAP.
    func soap(_ address: FilmsAddress, _ opened: OpenLoader) throws -> SoapCaller {
        if settings.isOffline {
            throw UsageError("leave out --offline: answers in SOAP are not cached")
        }
        return SoapCaller(url: address.soap, uploader: Uploader(opened.loader), fields: settings.fields)
    }

    /// Opens a loader for catalogues, calls `body`, and closes the loader.
    func withLoader<Value: Sendable>(
        reading name: String, _ body: (OpenLoader) async throws -> Value
    ) async throws -> Value {
        let opened = makeLoader(keepsFiles: false, acceptsAnyContent: true)
        let work = output.progress.begin {
            JobProgress(label: name, bytes: opened.traffic)
        }
        defer { output.progress.end(work) }
        return try await Self.closing(opened.close) { try await body(opened) }
    }
}
