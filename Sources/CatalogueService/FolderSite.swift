import FilmSources
import Films
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import SystemSupport

/// A served folder: its files, and the films of its catalogue at `/films`, or those that are in it.
final class FolderSite: Sendable {
    /// The folder, and the file for `/` if it is not the usual one.
    let folder: CatalogueFolder
    private let catalogue: String?
    /// The films in the folder, for one without a catalogue.
    private let filmFolder: FilmFolder?
    /// How often the folder has changed; it counts only for its films.
    private let changes = Lock(0)
    private let folderWatch: Lock<FolderWatch?> = Lock(nil)
    private let files: FolderFiles
    private let configuration: CatalogueService.Configuration
    /// Reads the folder's requests. Nobody may write.
    let gate: RequestGate
    private let parse: Parser
    private let films = Lock(Films())
    /// Held while a request parses the catalogue: one at a time.
    private let parsing = Lock(())
    private let pictures: PictureServer?
    /// Compressed text files. Their keys have the files' entity tags, so their state never changes.
    private let texts = KeptAnswers(limit: FolderSite.textMemory)
    /// Threads that read catalogues for requests without a thread of their own.
    private let threads = BlockingThreads(count: 2, name: "marquee-films")

    /// Parses a catalogue's bytes, with the name of its file, and says why it leaves out films. Tests pass
    /// one that waits.
    typealias Parser =
        @Sendable (_ bytes: [UInt8], _ name: String) throws -> (FilmLibrary, [CatalogueError])

    /// The catalogue as it was at one time.
    private struct Version: Equatable {
        let name: String
        /// Of its file; nil for the films in the folder.
        var metadata: FileMetadata?
        /// How often the folder has changed.
        var changes = 0
    }

    /// The films of a version.
    private struct Loaded {
        var version: Version
        let service: FilmService
        /// The files that a catalogue's films name; none of a folder of films, whose videos are served.
        let files: Set<RequestPath>
    }

    private struct Films {
        /// The films to answer with while the file has a version: its own, or the last good ones if it has none.
        var loaded: Loaded?
        /// The catalogue's version, if that could not be parsed.
        var unreadable: Version?
        /// What was wrong with films at the last reading.
        var problems: Set<CatalogueError> = []
        /// The requests that parse the catalogue, or wait to do so.
        var parsers = 0

        /// The films for a version; nil if it must be parsed first.
        func loaded(_ version: Version) -> Loaded? { loaded.flatMap { $0.version == version ? $0 : nil } }
    }

    init(
        folder: CatalogueFolder, catalogue: String?, films filmFolder: FilmFolder? = nil,
        pictures: PictureServer?,
        configuration: CatalogueService.Configuration,
        parse: @escaping Parser = { try FilmLibrary.inMemory(parsing: $0, path: $1) }
    ) {
        self.parse = parse
        self.filmFolder = filmFolder
        files = FolderFiles(folder: folder, catalogue: catalogue)
        self.pictures = pictures
        self.folder = folder
        self.catalogue = catalogue
        self.configuration = configuration
        var settings = configuration.films
        (settings.isWritable, settings.isRoot) = (false, false)
        gate = RequestGate(configuration: settings)
    }

    /// Notices changes of the folder's films from now on.
    func watchFilms() {
        guard let filmFolder else { return }
        // Ignored: without a descriptor the folder's films stay as they are.
        let watch = try? FolderWatch(filmFolder.path) { [weak self] in self?.changes.withLock { $0 += 1 } }
        folderWatch.withLock { $0 = watch }
    }

    /// Whether there are films.
    var hasCatalogue: Bool { filmFolder != nil || catalogueName != nil }

    /// The name of the file at `/`; nil if there is none, or several.
    var catalogueName: String? { catalogue ?? folder.catalogueName() }

    func admit(_ call: ServiceCall) -> Admission {
        guard isForFilms(call) else { return admitFile(call) }
        // A request for films that have been read does not wait in line behind those of hundreds of busy connections.
        if let version = source()?.version, let films = films.withLock({ $0.loaded(version) }) {
            return films.service.admit(call)
        }
        return .later { [self] pending in
            pending.wait(for: threads) { [self] in answer(call, pending) }
        }
    }

    /// Whether a request is for films, and not for a file.
    private func isForFilms(_ call: ServiceCall) -> Bool {
        if ServiceRoute.isOfFilms(call.target.segments) { return true }
        // Looked up last: that lists a folder without a usual catalogue. Ignored: an index.html that cannot be opened is not
        // served.
        return call.route == .list
            && (call.target.segments == [""] || (try? folder.open([Array("index.html".utf8)])) == nil)
            && hasCatalogue
    }

    /// Answers a request for films, after reading those of the present version. Blocks.
    private func answer(_ call: ServiceCall, _ pending: PendingAnswer) {
        do {
            switch try loadedFilms()?.service.admit(call) {
            case .answer(let response): pending.send(response)
            case .handle(_, let respond): pending.send(respond(.none))
            case .later(let body): body(pending)
            case nil: pending.send(.plain(.notFound, "this folder has no catalogue"))
            }
        } catch {
            pending.send(.plain(.serviceUnavailable, "the catalogue's file has no readable films"))
        }
    }

    // MARK: Files

    /// Answers GET or HEAD of a file. Opening it takes microseconds, so it may run on a thread that serves many connections,
    /// as in nginx. Films may have to be read to know whether one names it.
    private func admitFile(_ call: ServiceCall) -> Admission {
        guard let response = file(for: call, isNamed: { _ in nil }) else {
            return .handle(bodyLimit: Self.ignoredBody) { [self] _ in
                file(for: call, isNamed: isOfFilm) ?? refusal(.notFound, call)
            }
        }
        return compressed(response, call) ?? .answer(response)
    }

    /// Answers with a text file compressed, once for all clients; nil if the file is sent as it is.
    private func compressed(_ response: HTTPResponse, _ call: ServiceCall) -> Admission? {
        let head = call.head
        guard response.status == .ok, case .file(let file, let part) = response.body,
            part.count <= Self.longestText,
            let type = response.fields["content-type"], MediaType.isText(type),
            head.value(of: "range") == nil,
            call.coding == .gzip, let tag = response.fields["etag"]
        else { return nil }
        let key = CacheKey(id: "\(tag) \(head.target)")
        if let kept = texts.answer(key, 0) { return .answer(kept.answer(to: head)) }
        return .later { [texts, configuration] pending in
            texts.render(key, 0, for: pending, head) {
                do throws(FileFault) {
                    var whole = response
                    whole.fields["ETag"] = ContentCoding.gzip.entityTag(tag)
                    whole.fields["Accept-Ranges"] = nil
                    whole.body = .bytes(try file.contents())
                    return KeptAnswer(ContentCoding.gzip.applied(to: whole))
                } catch {
                    configuration.reportFailure(error)
                    return KeptAnswer(.plain(.serviceUnavailable, "the file cannot be read"))
                }
            }
        }
    }

    /// The most bytes of a body that is not needed.
    private static let ignoredBody = 64 << 10
    /// The longest text file that is compressed, and the memory for such files.
    private static let (longestText, textMemory) = (4 << 20, 8 << 20)

    /// - Parameter isNamed: whether a film names a file; nil leaves it open.
    private func file(for call: ServiceCall, isNamed: (RequestPath) -> Bool?) -> HTTPResponse? {
        var response: HTTPResponse?
        if call.isRead {
            do throws(RequestPath.Refusal) {
                response = file(at: try RequestPath(call.target), for: call, isNamed)
            } catch {
                response = refusal(error == .malformed ? .badRequest : .notFound, call)
            }
        } else {
            response = .plain(.methodNotAllowed)
            response?.fields["Allow"] = "GET, HEAD"
        }
        response?.route = .file
        return response
    }

    private func file(
        at path: RequestPath, for call: ServiceCall, _ isNamed: (RequestPath) -> Bool?
    ) -> HTTPResponse? {
        let isRoot = path.names.isEmpty
        let path = isRoot ? catalogueName.map { RequestPath($0) } ?? path : path
        guard let name = path.names.last else { return index() }
        do {
            let file = try folder.open(path.names)
            guard let isServed = files.serves(path, file) ? true : isNamed(path) else { return nil }
            guard isServed else { return refusal(.notFound, call) }
            guard file.hasPlace else { return .plain(.serviceUnavailable, "too many files are being sent") }
            var response = HTTPResponse.serving(
                file, mediaType: MediaType.of(name), to: call.head,
                cacheSeconds: configuration.cacheSeconds, now: time(nil))
            let choices =
                (isRoot ? ["Accept"] : []) + (MediaType.isText(MediaType.of(name)) ? ["Accept-Encoding"] : [])
            if !choices.isEmpty {
                response.fields.append(.init(name: "Vary", value: choices.joined(separator: ", ")))
            }
            return response
        } catch {
            return error == .exhausted ? .plain(.serviceUnavailable) : refusal(.notFound, call)
        }
    }

    /// A refusal: a page for a browser, otherwise a short line.
    private func refusal(_ status: HTTPStatus, _ call: ServiceCall) -> HTTPResponse {
        guard FilmFormat.ofProblems(nil, call.fields) == .html else { return .plain(status) }
        return FilmRefusal(status, "there is no such file").response(to: call.head)
    }

    /// Lists the catalogues, if none of them is the catalogue of the folder.
    private func index() -> HTTPResponse {
        let lines = ["A film catalogue."] + files.catalogues()
        return HTTPResponse(
            status: .ok, fields: ["Content-Type": MediaType.plainText],
            body: .bytes(Array((lines.joined(separator: "\n") + "\n").utf8)))
    }

    // MARK: Films

    /// Parses the catalogue if it has changed since a request for films, so that its faults are known before the next
    /// one; reads films in the folder without a request too. Blocks.
    func refresh() {
        let version = source()?.version
        let isChanged = films.withLock { films in
            (filmFolder != nil || films.loaded != nil || films.unreadable != nil)
                && films.unreadable != version
        }
        guard isChanged else { return }
        // Ignored: the parser has reported the fault.
        if (try? loadedFilms()) == nil, version == nil { mend() }
    }

    /// Forgets a fault of the catalogue.
    private func mend() {
        films.withLock { $0.unreadable = nil }
        configuration.readiness.setNote(nil, for: "catalogue")
    }

    private var filmPictures: FilmPictures? {
        guard let pictures else { return nil }
        let (folder, seconds) = (folder, configuration.cacheSeconds)
        return FilmPictures(pictures) { address in
            // Ignored: without such a file there is no poster here.
            guard let path = try? RequestPath(relative: address),
                let file = try? folder.open(path.names)
            else { return nil }
            return PictureOriginal(
                name: "file \(address)", tag: file.metadata.entityTag, cacheControl: "max-age=\(seconds)"
            ) { try file.contents() }
        }
    }

    /// Calls `body` with each film of the catalogue; never, if the catalogue is missing or unreadable.
    func forEachFilm(_ body: (StoredFilm) -> Void) {
        // Ignored: a request for films is told.
        try? loadedFilms()?.service.library.forEach { film in
            body(film)
            return true
        }
    }

    /// The films of the catalogue; nil if there is none. After a change the first request parses the new version.
    /// Until that ends, the others get the old films: they do not wait for a large file.
    private func loadedFilms() throws -> Loaded? {
        guard let file = source() else { return nil }
        let kept = films.withLock { films -> Loaded? in
            if let loaded = films.loaded(file.version) { return loaded }
            if films.parsers > 0, let loaded = films.loaded { return loaded }
            films.parsers += 1
            return nil
        }
        if let kept { return kept }
        defer { films.withLock { $0.parsers -= 1 } }
        return try parsing.withLock { _ in try parsedFilms() }
    }

    private func parsedFilms() throws -> Loaded? {
        // Meanwhile another request may have parsed this version, and the file may have changed again.
        guard let file = source() else { return nil }
        if let loaded = films.withLock({ $0.loaded(file.version) }) { return loaded }
        do {
            let (library, problems) = try file.films()
            warn(of: problems, in: file.version.name)
            let service = FilmService(
                library: library, configuration: gate.configuration, pictures: filmPictures,
                report: configuration.reportFailure)
            let files = filmFolder == nil ? Self.files(namedIn: library) : []
            let loaded = Loaded(version: file.version, service: service, files: files)
            // The films before are released, which removes their file, outside the lock.
            _ = films.withLock { exchange(&$0.loaded, with: loaded) }
            mend()
            return loaded
        } catch {
            let (wasReadable, kept) = films.withLock { films in
                defer {
                    films.unreadable = file.version
                    films.loaded?.version = file.version
                }
                return (films.unreadable == nil, films.loaded)
            }
            let fault = Fault(
                description: "\(file.version.name): \(error); "
                    + "\(kept == nil ? "no" : "the last good") films are served until it is repaired")
            configuration.readiness.setNote("\(fault)", for: "catalogue")
            // Each request finds the same fault, and somebody who edits the file makes several.
            if wasReadable { configuration.reportFailure(fault) }
            guard let kept else { throw fault }
            return kept
        }
    }

    /// Tells the operator what is wrong with films, unless it was so at the last reading.
    private func warn(of problems: [CatalogueError], in name: String) {
        let old = films.withLock { exchange(&$0.problems, with: Set(problems)) }
        let new = problems.filter { !old.contains($0) }
        for line in CatalogueError.warnings(of: new, in: name, advice: "marquee list --verbose") {
            configuration.reportFailure(Fault(description: line))
        }
    }

    /// Why the catalogue, or a film of it, cannot be read, in one line.
    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The catalogue, or the films in the folder, at their present version; nil if there are none.
    private func source() -> (
        version: Version, films: () throws -> (FilmLibrary, [CatalogueError])
    )? {
        if let filmFolder {
            let version = Version(name: filmFolder.path, changes: changes.withLock { $0 })
            return (version, { try FilmLibrary.inMemory(filmFolder) })
        }
        // Ignored: a file that has gone is no catalogue.
        guard let name = catalogueName, let file = try? folder.open([Array(name.utf8)]) else { return nil }
        return (
            Version(name: name, metadata: file.metadata),
            { [parse] in try parse(try file.contents(), name) }
        )
    }

    /// Whether a film names a file, or has it in its folder. Blocks.
    private func isOfFilm(_ path: RequestPath) -> Bool {
        if filmFolder != nil, let name = path.names.last {
            return FilmFolder.isVideo(String(decoding: name, as: UTF8.self))
        }
        // Ignored: films that cannot be read name nothing.
        return (try? loadedFilms())?.files.contains(path) ?? false
    }

    /// The files that films name relative to their catalogue.
    private static func files(namedIn library: FilmLibrary) -> Set<RequestPath> {
        var files: Set<RequestPath> = []
        // Ignored: a library in memory is readable.
        try? library.forEach { film in
            for member in [FilmMember.poster, .media] {
                guard let address = film.document[member.name]?.string, FilmRendering.isRelative(address),
                    // Ignored: an address that is no path below the folder names no file of it.
                    let path = try? RequestPath(relative: address)
                else { continue }
                files.insert(path)
            }
            return true
        }
        return files
    }
}
