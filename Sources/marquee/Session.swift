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
    /// Where the films come from.
    private(set) var provider: any FilmProvider
    /// The signals that ask the program to end.
    let interruption: Interruption
    /// How to open a catalogue of one's own: for the first start, which shows the sample. Nil later.
    let welcome: String?

    /// - Parameter provider: where the films come from. Default: from the settings.
    init(
        arguments: Arguments, settings: Settings, output: Output, interruption: Interruption,
        provider: (any FilmProvider)? = nil
    ) {
        self.interruption = interruption
        self.arguments = arguments
        self.settings = settings
        self.output = output
        if settings.catalogue == nil, !FileManager.default.fileExists(atPath: settings.cacheFolder) {
            welcome = "this is the sample; marquee FILE, FOLDER or URL opens your own films"
        } else {
            welcome = nil
        }
        self.provider = provider ?? FilmProviders.provider(named: settings.catalogue)
        network = CurlTransport(configuration: settings.transport)
        disk = settings.usesDisk ? DiskCache(folder: settings.cacheFolder, limit: settings.cacheLimit) : nil
    }

    /// The same session while the program uses the whole screen.
    func besideScreen() -> Session { changed { $0.output = output.besideScreen() } }

    /// The same session with other films. The user's credential for their server goes there.
    func reading(_ provider: any FilmProvider) -> Session { changed { $0.provider = provider } }

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

    /// A loader over the disk tier and the network, which includes the posters of the sample or the library.
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
        guard let server = provider.server, let token = token(for: server) else { return nil }
        return { request in
            guard SecurityPolicy.haveSameOrigin(request.url, server.address) else { return }
            server.authorize(&request.url, &request.fields, with: token)
        }
    }

    private func open(
        _ makeLoader: (inout ImageDownloader.Configuration, any Transport) -> FileLoader
    ) -> OpenLoader {
        var configuration = settings.downloads
        configuration.beforeSending = authorization
        let loader = makeLoader(&configuration, provider.network(network))
        let log = output.isVerbose ? TransferLog.follow(loader.downloader.activity, output) : nil
        return OpenLoader(loader: loader, log: log, output: output)
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
        if let size { url = FilmServers.poster(url, atLeast: size.width / 2) }
        var fields = fields
        if base?.sharesFields(with: url) ?? true { fields.replace(with: settings.fields) }
        return request(for: url, fields, checksum)
    }

    /// The request for a URL with exactly these header fields.
    func request(for url: URL, _ fields: HeaderFields, _ checksum: String?) -> ImageRequest {
        var request = ImageRequest(
            url, options: .init(fields: fields, checksum: checksum, ignoredQuery: settings.ignoredQuery)
        )
        if settings.isOffline, !LibraryPosters.serves(url) { request.cachePolicy = .cacheOnly }
        return request
    }

    /// The request for a poster at the smallest of its server's sizes that is enough.
    /// - Parameter size: a canvas's `pictureSize`, which is twice the drawn pixels; nil for the address as it is.
    func posterRequest(
        for text: String, relativeTo base: BaseURL?, decodedAt size: ImageSize?
    ) throws(ImageLoadingError) -> ImageRequest {
        var request = try request(for: text, relativeTo: base, decodedAt: size)
        if request.cachePolicy == .useProtocol, FilmServers.isImmutable(request.url) {
            request.cachePolicy = .returnCacheElseLoad
        }
        return request
    }

    /// Whether the disk tier has the file of a request (and not only a cached failure), or the file is local anyway.
    func hasCached(_ request: ImageRequest) -> Bool {
        if LibraryPosters.serves(request.url) { return true }
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

    /// The films of the settings' catalogue.
    /// - Parameters:
    ///   - selection: the films that are needed. Default: all.
    ///   - before: the films of the pages before these. Default: none.
    ///   - orCached: whether cached films will do if the server does not answer. `outage` then says why: see
    ///     `reportOutage`. Default: no.
    ///   - onPage: called with the films as their pages arrive.
    func catalogue(
        _ selection: FilmSelection = FilmSelection(), after before: OpenCatalogue? = nil,
        orCached: Bool = false, onPage: @escaping @Sendable (ArrivedFilms) -> Void = { _ in }
    ) async throws -> OpenCatalogue {
        let name = "reading " + URL(filePath: provider.name).lastPathComponent
        let work = output.progress.begin { JobProgress(label: name, total: 0) }
        defer { output.progress.end(work) }
        let open: OpenCatalogue
        do {
            open = try await read(selection, after: before, onPage: onPage)
        } catch let error as ImageLoadingError where error.isSilence {
            open = try await cachedCatalogue(selection, after: before, isWanted: orCached, because: error)
        }
        let problems = open.catalogue.problems
        let named = output.isVerbose ? problems.count : 5
        for line in CatalogueError.warnings(
            of: problems, in: provider.name, named: named, advice: "--verbose")
        {
            output.noticeOnce(line)
        }
        return open
    }

    private func read(
        _ selection: FilmSelection, after before: OpenCatalogue? = nil,
        onPage: @escaping @Sendable (ArrivedFilms) -> Void = { _ in }
    ) async throws -> OpenCatalogue {
        let arrived = ArrivedFilms(after: before)
        try await readPages(selection) { page in
            try arrived.take(page)
            onPage(arrived)
        }
        guard let open = arrived.open else { throw Failure("\(provider.name): there are no more films") }
        return open
    }

    /// The pages of the settings' catalogue, as they are written.
    func pages(_ selection: FilmSelection = FilmSelection()) async throws -> [CataloguePage] {
        let pages = Lock<[CataloguePage]>([])
        try await readPages(selection) { page in pages.withLock { $0.append(page) } }
        return pages.withLock { $0 }
    }

    /// Reads the pages of the settings' catalogue; of an endless list only those of the selection.
    /// - Parameter take: called with each page.
    func readPages(
        _ selection: FilmSelection, _ take: @escaping @Sendable (CataloguePage) throws -> Void
    ) async throws {
        let isEndless = provider.abilities.isEndless
        let count = Lock(0)
        do {
            try await withReader(reading: URL(filePath: provider.name).lastPathComponent) { reader in
                try await provider.readPages(selection, reader) { page in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    let isEnough = isEndless && number >= selection.pages.count
                    var page = page
                    page.isCut = isEnough && !page.isLast
                    try take(page)
                    return !isEnough
                }
            }
        } catch let fault as FilmFault {
            let place = provider.server == nil ? "" : "\(provider.name): "
            throw Failure(place + fault.description, code: fault.code)
        } catch let error as CatalogueError {
            let number = (isEndless ? selection.pages.lowerBound : 0) + count.withLock { $0 } + 1
            let page = provider.server == nil ? "" : "page \(number): "
            guard let path = provider.abilities.file, Self.isPicture(path) else {
                throw Failure("\(provider.name): \(page)\(error)")
            }
            throw Failure(
                "\(path): it is a picture, not a list of films; to see it, write marquee show \(path)")
        }
    }

    private static func isPicture(_ path: String) -> Bool {
        let beginning = Array(FilmProviders.beginning(of: path))
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
        "\(provider.name): \(ImageLoadingError.withoutAddress(error.advised))"
    }

    /// The cached films of the last reading.
    /// - Throws: the outage, if they are not wanted, or not all pages are cached.
    private func cachedCatalogue(
        _ selection: FilmSelection = FilmSelection(), after before: OpenCatalogue? = nil,
        isWanted: Bool = true, because outage: ImageLoadingError
    ) async throws(Failure) -> OpenCatalogue {
        let offline = changed { $0.settings.isOffline = true }
        // Ignored: the server's own error says more.
        guard isWanted, var cached = try? await offline.read(selection, after: before) else {
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

/// A loader with the log of its transfers, which lives as long as it.
struct OpenLoader: Sendable {
    let loader: FileLoader
    let log: Task<Void, Never>?
    let output: Output

    /// The bytes received so far, and those to come.
    var traffic: NetworkActivity.Traffic { loader.downloader.activity.traffic }

    /// Waits until everything is on disk. Reports why interrupted downloads cannot be resumed, if
    /// so.
    func close() async {
        await loader.flush()
        // If the whole cache folder fails, that was reported already.
        if loader.disk?.counters.lastFault == nil, let fault = loader.downloader.partialCounters.lastFault {
            output.failure("downloads that break cannot be resumed: \(fault)")
        }
        log?.cancel()
        await log?.value
    }
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
    /// Calls `body` with the films, for changes, and closes them.
    /// - Parameter wire: REST or SOAP. Default: SOAP if the catalogue's address is the SOAP one.
    /// - Throws: `Failure` for a catalogue that cannot be changed.
    func withFilms(
        _ wire: FilmWire? = nil, _ body: (FilmClient) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        if settings.isOffline { throw UsageError("leave out --offline: changes go to the service at once") }
        let name = provider.name
        switch provider.abilities.writing {
        case .refused(let reason): throw Failure(reason)
        case nil:
            throw Failure(
                "\(name): a catalogue file is read-only; make a library with "
                    + "marquee import \(name) films.db, and name it with --catalogue films.db")
        case .library(let path):
            return try await writing().withReader(reading: name) { reader in
                try await body(FilmClient(provider, library: path, reader))
            }
        case .service(let url):
            guard var address = FilmsAddress(catalogue: url.withOwnLoopback) else {
                throw Failure("\(name): this is no film service")
            }
            if let wire { address.isSoap = wire == .soap }
            let place = address.films.absoluteString
            let provider: any FilmProvider =
                address.isSoap ? SoapFilms(address, name: place) : WebFilms(place)
            return try await writing().reading(provider).withReader(reading: name) { reader in
                try await body(FilmClient(provider, address, reader))
            }
        }
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

    /// The film that `text` names in the films that are changed: by id, else by title.
    /// - Throws: `Failure` with the candidates if there are several or none.
    func film(_ text: String, of client: FilmClient) async throws -> FilmClient.Film {
        if FilmID.fault(text) == nil, let film = try await client.film(text) { return film }
        let movie = try await reading(client.provider).findNow(text, byID: false).movie
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
        var found: FoundFilm
        do {
            found = try await findNow(text, orCached: true)
        } catch let error as ImageLoadingError where error.isSilence {
            found = try self.found(text, in: try await cachedCatalogue(because: error))
        }
        // A server that is away is not asked for the film's own page either.
        let session = found.isCached ? changed { $0.settings.isOffline = true } : self
        found.movie = await session.whole(found.movie)
        return found
    }

    /// The same. If the server does not answer, its silence is thrown.
    /// - Parameters:
    ///   - byID: whether the text may be an id. Default: yes.
    ///   - orCached: whether cached films will do if all films are read. Default: no.
    private func findNow(
        _ text: String, byID: Bool = true, orCached: Bool = false
    ) async throws -> FoundFilm {
        if provider.abilities.searches {
            let film = try await withReader(reading: text) { reader in
                byID && FilmID.fault(text) == nil ? try await provider.film(text, reader) : nil
            }
            if let film { return film }
            var selection = FilmSelection()
            selection.words = text
            let some = ArrivedFilms()
            try await readPages(selection) { try some.take($0) }
            if let open = some.open {
                if case .none = open.catalogue.match(text) {} else { return try found(text, in: open) }
            }
        }
        return try found(text, in: try await catalogue(orCached: orCached))
    }

    private func found(_ text: String, in open: OpenCatalogue) throws(Failure) -> FoundFilm {
        reportOutage(of: open)
        var found = FoundFilm(try film(text, in: open.catalogue), base: open.base)
        found.isCached = open.outage != nil
        return found
    }

    /// The film with what only its own page at the server has.
    func whole(_ film: Movie) async -> Movie {
        // Ignored: the film stays as its list has it.
        let whole = try? await withReader(reading: film.title) { reader in
            try await provider.complete(film, reader)
        }
        return (whole ?? nil) ?? film
    }
}
