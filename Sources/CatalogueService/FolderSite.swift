import FilmSources
import Films
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import SystemSupport

/// A served folder: its films at `/films`, the files that they name, and its pictures.
final class FolderSite: Sendable {
    private let films: FolderFilms
    private let configuration: CatalogueService.Configuration
    /// Reads the folder's requests. Nobody may write.
    let gate: RequestGate
    private let pictures: PictureServer?
    private let state = Lock(State())
    /// Held while films are read: one reading at a time.
    private let reading = Lock(())
    /// Compressed text files. Their keys have the files' entity tags, so their state never changes.
    private let texts = KeptAnswers(limit: FolderSite.textMemory)
    /// Threads that read films for requests without a thread of their own.
    private let threads = BlockingThreads(count: 2, name: "marquee-films")

    private struct State {
        /// The version that was read last, good or not; nil if there are no films.
        var version: FolderFilms.Version?
        /// Serves the last good films; nil if there never were any.
        var service: FilmService?
        /// The files that these films name.
        var files: Set<RequestPath> = []
        /// Whether the version cannot be read.
        var isBroken = false
        /// What was wrong with single films at the last reading.
        var problems: Set<CatalogueError> = []
        /// Whether the films are being read.
        var isReading = false
    }

    /// The most bytes of a text file that is compressed, and the memory for such files.
    private static let (longestText, textMemory) = (4 << 20, 8 << 20)

    /// - Parameter first: the films as they were read before; nil if the first request is to read them.
    init(
        _ films: FolderFilms, first: FolderFilms.Reading? = nil, pictures: PictureServer?,
        configuration: CatalogueService.Configuration
    ) {
        (self.films, self.pictures, self.configuration) = (films, pictures, configuration)
        var settings = configuration.films
        (settings.isWritable, settings.isRoot) = (false, false)
        gate = RequestGate(configuration: settings)
        if let first { take(first) }
    }

    /// Whether there are films.
    var hasFilms: Bool { films.version != nil }

    /// The name of the file at `/`; nil if there is none.
    var catalogueName: String? { films.catalogueName }

    func admit(_ call: ServiceCall) -> Admission {
        guard isForFilms(call) else { return admitFile(call) }
        return whenCurrent { [self] in
            let (service, isBroken) = state.withLock { ($0.service, $0.isBroken) }
            if let service { return service.admit(call) }
            return .answer(
                isBroken
                    ? .plain(.serviceUnavailable, "the catalogue's file has no readable films")
                    : .plain(.notFound, "this folder has no catalogue"))
        }
    }

    /// Whether a request is for films, and not for a file.
    private func isForFilms(_ call: ServiceCall) -> Bool {
        if ServiceRoute.isOfFilms(call.target.segments) || call.route == .login { return true }
        // Looked up last: that lists a folder without a usual catalogue. Ignored: an index.html that cannot be opened is not
        // served.
        return call.route == .list
            && (call.target.segments == [""] || (try? films.folder.open([Array("index.html".utf8)])) == nil)
            && hasFilms
    }

    // MARK: Files

    /// Answers GET or HEAD of a file. Opening it takes microseconds, so it may run on a thread that serves many connections,
    /// as in nginx. Films may have to be read to know whether one names it.
    private func admitFile(_ call: ServiceCall) -> Admission {
        guard call.isRead else {
            return .answer(labelled(.plain(.methodNotAllowed, fields: ["Allow": "GET, HEAD"])))
        }
        do throws(RequestPath.Refusal) {
            var path = try RequestPath(call.target)
            if path.names.isEmpty {
                guard let catalogueName else {
                    return .answer(
                        refusal(
                            .notFound, call,
                            "this folder has no catalogue, or several; serve one of them by its name"))
                }
                path = RequestPath(catalogueName)
            }
            if films.serves(path) { return admitFile(path, call) }
            return whenCurrent { [self, path] in
                state.withLock { $0.files.contains(path) }
                    ? admitFile(path, call) : .answer(refusal(.notFound, call))
            }
        } catch {
            return .answer(refusal(error == .malformed ? .badRequest : .notFound, call))
        }
    }

    private func admitFile(_ path: RequestPath, _ call: ServiceCall) -> Admission {
        let mediaType = MediaType.of(path.names.last ?? [])
        let response: HTTPResponse
        do throws(CatalogueFolder.Failure) {
            let file = try films.folder.open(path.names)
            guard file.hasPlace else { throw CatalogueFolder.Failure.exhausted }
            response = .serving(
                file, mediaType: mediaType, to: call.head, cacheSeconds: configuration.cacheSeconds,
                now: time(nil))
        } catch {
            guard error == .exhausted else { return .answer(refusal(.notFound, call)) }
            return .answer(labelled(.plain(.serviceUnavailable, "too many files are being sent")))
        }
        let choices =
            (call.target.segments == [""] ? ["Accept"] : [])
            + (MediaType.isText(mediaType) ? ["Accept-Encoding"] : [])
        var answer = labelled(response)
        if !choices.isEmpty {
            answer.fields.append(.init(name: "Vary", value: choices.joined(separator: ", ")))
        }
        return compressed(answer, call) ?? .answer(answer)
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

    /// A refusal: a page for a browser, otherwise a short line.
    private func refusal(
        _ status: HTTPStatus, _ call: ServiceCall, _ reason: String? = nil
    ) -> HTTPResponse {
        guard FilmFormat.ofProblems(nil, call.fields) == .html else {
            return labelled(.plain(status, reason))
        }
        return labelled(
            FilmRefusal(status, reason ?? "there is no such file").response(to: call.head))
    }

    private func labelled(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.route = .file
        return response
    }

    // MARK: Films

    /// Answers with the present films: at once if they have been read; if not, on a thread that reads them. While one
    /// request reads a new version, the others get the last good one: they do not wait for a large file.
    private func whenCurrent(_ admit: @escaping @Sendable () -> Admission) -> Admission {
        let version = films.version
        let isCurrent = state.withLock { state in
            state.service == nil
                ? version == nil && state.version == nil
                : state.isReading || state.version == version
        }
        // A request for films that have been read does not wait in line behind those of hundreds of busy connections.
        if isCurrent { return admit() }
        return .later { [self] pending in
            pending.wait(for: threads) { [self] in
                refresh()
                switch admit() {
                case .answer(let response): pending.send(response)
                case .handle(_, let respond): pending.send(respond(.none))
                case .later(let body): body(pending)
                }
            }
        }
    }

    /// Reads the films if they have changed, so that their faults are known before the next request. Blocks.
    func refresh() {
        reading.withLock { _ in
            // Meanwhile another request may have read this version, and the films may have changed again.
            let version = films.version
            let isRead = state.withLock { state in
                state.version == version && (state.service != nil || version == nil)
            }
            if isRead { return }
            state.withLock { $0.isReading = true }
            defer { state.withLock { $0.isReading = false } }
            take(films.read())
        }
    }

    /// Serves other films from now on; the last good ones if they cannot be read.
    private func take(_ reading: FolderFilms.Reading) {
        do {
            let films = try reading.films?.get()
            if let version = reading.version, let films { warn(of: films.problems, in: version.name) }
            let service = films.map { films in
                FilmService(
                    library: films.library, configuration: gate.configuration, pictures: filmPictures,
                    report: configuration.reportFailure)
            }
            let files = films.map { self.films.files(namedIn: $0.library) } ?? []
            // The films before are released, which removes their file, outside the lock.
            _ = state.withLock { state in
                (state.version, state.files, state.isBroken) = (reading.version, files, false)
                return exchange(&state.service, with: service)
            }
            configuration.readiness.setNote(nil, for: "catalogue")
        } catch {
            let (wasBroken, hasFilms) = state.withLock { state in
                state.version = reading.version
                return (exchange(&state.isBroken, with: true), state.service != nil)
            }
            let fault = Fault(
                description: "\(reading.version?.name ?? ""): \(error); "
                    + "\(hasFilms ? "the last good" : "no") films are served until it is repaired")
            configuration.readiness.setNote("\(fault)", for: "catalogue")
            // Each request finds the same fault, and somebody who edits the file makes several.
            if !wasBroken { configuration.reportFailure(fault) }
        }
    }

    /// Tells the operator what is wrong with films, unless it was so at the last reading.
    private func warn(of problems: [CatalogueError], in name: String) {
        let old = state.withLock { exchange(&$0.problems, with: Set(problems)) }
        let new = problems.filter { !old.contains($0) }
        for line in CatalogueError.warnings(of: new, in: name, advice: "marquee list --verbose") {
            configuration.reportFailure(Fault(description: line))
        }
    }

    /// Why the catalogue, or a film of it, cannot be read, in one line.
    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private var filmPictures: FilmPictures? {
        guard let pictures else { return nil }
        let (folder, seconds) = (films.folder, configuration.cacheSeconds)
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
}
