import FilmSources
import Films
import FoundationEssentials
import LazyImages
import PictureServer
import PictureService

/// `marquee prewarm`: fills the cache from a manifest. Cached images are skipped, so a killed run continues where it
/// stopped.
enum PrewarmCommand: Command {
    static let specification = CommandSpecification(
        name: "prewarm", operands: "[MANIFEST]", operandCount: 0...1,
        summary: "fill the cache from a manifest (default: the catalogue's posters)",
        examples: [
            ("marquee prewarm", "all posters of the catalogue"),
            ("marquee prewarm manifest.json", "a manifest: JSON, a list of URLs, or a catalogue"),
            ("marquee prewarm - < urls.txt", "the images of a list"),
            ("marquee prewarm list.txt --detach", "in the background: see marquee help jobs"),
            ("marquee prewarm --sizes w154,w342 --through http://pictures/", "all pictures of a service"),
        ],
        options: [
            .concurrency, .perHost, .anyContent, .noCellular,
            Option(
                name: "detach", help: "run in the background, as a job that outlives this terminal"),
            Option(name: "name", value: "NAME", help: "the job's name (default: the manifest's)"),
        ] + throughOptions)

    /// The images to fetch.
    struct List {
        /// The requests, and whether the user's own header fields are sent with each.
        var requests: [(request: ImageRequest, sendsFields: Bool)] = []
        /// What messages call each request; empty where they name its address.
        var names: [String] = []
        /// The number of entries that name no image.
        var rejected = 0
        /// The number of films without a poster.
        var withoutPoster = 0
    }

    static func run(_ session: Session) async throws -> ExitStatus {
        let session = namedSource(session).map { session.reading($0) } ?? session
        if session.arguments.has("through") { return try await fillService(session) }
        for option in ["sizes", "sign-key-file"] where session.arguments.has(option) {
            throw UsageError("--\(option) works only with prewarm --through")
        }
        guard session.disk != nil else {
            throw UsageError("prewarm fills the disk cache: leave out --no-disk-cache")
        }
        if session.arguments.has("detach") {
            return try detach(try await list(session), session)
        }
        if session.arguments.has("name") { throw UsageError("--name works only with prewarm --detach") }
        if session.arguments.has("no-cellular") { try CellularRefusal.check() }
        return await fill(try await list(session), with: session.makeLoader(keepsFiles: false), session)
    }

    /// The operand, if it is a library of another program or a folder.
    private static func namedSource(_ session: Session) -> (any FilmProvider)? {
        guard let name = session.arguments.operands.first,
            FilmServers.areNamed(by: name) || FileKind(name) == .folder
        else { return nil }
        return FilmProviders.provider(named: name)
    }

    /// Loads everything of the list, reports it, and closes the loader.
    static func fill(_ list: List, with opened: OpenLoader, _ session: Session) async -> ExitStatus {
        let requests = list.requests.map(\.request)
        let report = BatchReport(session, named: list.names, isBarEnough: true)
        report.beginProgress(total: { requests.count }, traffic: { opened.traffic })
        let clock = ContinuousClock()
        let start = clock.now
        let summary = await Prewarmer(opened.loader, concurrency: session.settings.downloads.transfers)
            .run(requests) { result in
                report.add(
                    FetchRecord(result, wantsChecksum: session.settings.wantsChecksum), index: result.index)
            }
        await opened.close()
        finish(
            report, summary, requests.map(\.url.displayText), unreadable: list.rejected,
            withoutPoster: list.withoutPoster, duration: clock.now - start, session)
        let hasFaults = session.reportFaults()
        let failed = list.rejected + summary.failed
        if failed > 0, summary.fetched + summary.alreadyCached == 0 { return .nothingDone }
        return failed > 0 || hasFaults ? .someFailed : .done
    }

    /// Reads the manifest, and reports entries that name no image.
    static func list(_ session: Session) async throws -> List {
        let manifests = try await manifests(session)
        var failures = FailureReport(session.output)
        var list = List()
        list.withoutPoster = manifests.reduce(0) { $0 + $1.manifest.filmsWithoutPoster }
        for problem in manifests.flatMap(\.manifest.problems) {
            let reason = problem.text + ": " + problem.reason
            failures.add(problem.line.map { "line \($0): " + reason } ?? reason)
            record(FetchRecord(Failure(reason, code: "invalid-entry"), of: problem.text), session)
            list.rejected += 1
        }
        for (entry, base) in manifests.flatMap({ page in page.manifest.entries.map { ($0, page.base) } }) {
            do throws(ImageLoadingError) {
                let request = try session.request(
                    for: entry.address, relativeTo: base, checksum: entry.checksum)
                list.requests.append((request, base?.sharesFields(with: request.url) ?? true))
            } catch {
                failures.add((entry.line.map { "line \($0): " } ?? "") + error.advised)
                record(FetchRecord(error, of: entry.address), session)
                list.rejected += 1
            }
        }
        if list.requests.isEmpty {
            throw Failure(
                "there is nothing to prewarm: \(session.provider.abilities.isLibrary ? "every poster is in the library" : "the manifest names no image")"
            )
        }
        return list
    }

    /// Prints the object of an entry that names no image.
    static func record(_ record: FetchRecord, _ session: Session) {
        if session.settings.wantsJSON { session.output.json(record) }
    }

    /// The posters of a library that are not stored in it.
    private static func libraryManifest(
        _ session: Session
    ) async throws -> (manifest: Manifest, base: BaseURL?) {
        let open = try await session.catalogue()
        let elsewhere = open.catalogue.movies.compactMap(\.poster).filter { address in
            URL(string: address).map { !LibraryPosters.serves($0) } ?? true
        }
        return (Manifest(entries: elsewhere.map { Manifest.Entry(address: $0) }), open.base)
    }

    /// The manifest of the command line, in its pages, with their base URLs.
    static func manifests(
        _ session: Session
    ) async throws -> [(manifest: Manifest, base: BaseURL?)] {
        let name = namedSource(session) == nil ? session.arguments.operands.first : nil
        let catalogue = session.provider
        let session = name.map { session.reading(FilmProviders.provider(named: $0)) } ?? session
        if session.provider.abilities.isLibrary { return [try await libraryManifest(session)] }
        let pages: [(bytes: [UInt8], base: BaseURL?)] =
            switch (name, session.provider.abilities.serving) {
            case ("-", _): [(try await Input.standard(), nil)]
            case (let name?, .catalogue), (let name?, .folder):
                [(try await Input.file(name), catalogue.base(ofFile: name))]
            default: try await session.pages().map { ($0.bytes, $0.base) }
            }
        return try Failure.naming(session.provider.name) {
            try pages.map { (try Manifest(parsing: $0.bytes), $0.base) }
        }
    }
}

/// `marquee prewarm --through URL`: fills a picture service, or all instances behind a balancer, by asking for each
/// picture at each size. Nothing is kept here.
extension PrewarmCommand {
    private static let throughOptions = [
        Option(
            name: "through", value: "URL",
            help: "fill the picture service at this address instead: its films, or a manifest's pictures"),
        Option(
            name: "sizes", value: "RECIPES", help: "the sizes to request, such as w154,w342",
            isRepeatable: true),
        Option(
            name: "sign-key-file", value: "FILE",
            help: "keys, one on each line; the first signs the addresses (see marquee sign)"),
    ]

    private static func fillService(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        for option in ["detach", "name", "offline"] where arguments.has(option) {
            throw UsageError("--\(option) does not go with prewarm --through")
        }
        let service = try SignCommand.service(arguments.value("through") ?? "", "through")
        let recipes = try recipes(arguments)
        if arguments.has("no-cellular") { try CellularRefusal.check() }
        let list =
            if arguments.operands.isEmpty, session.settings.catalogue == nil {
                try await films(of: service, recipes, session)
            } else {
                try await pictures(through: service, recipes, session)
            }
        return await fill(list, with: session.makePictureLoader(), session)
    }

    private static func recipes(_ arguments: Arguments) throws(UsageError) -> [PictureRecipe] {
        let words = arguments.words("sizes")
        if words.isEmpty {
            throw UsageError("prewarm --through needs the sizes to ask for, such as --sizes w154,w342")
        }
        return try words.map { word throws(UsageError) in
            try UsageError.naming("--sizes") { try PictureRecipe(word) }
        }
    }

    /// All sizes of a picture, one after the other: the instance that has its source makes them of one decode.
    private static func films(
        of service: String, _ recipes: [PictureRecipe], _ session: Session
    ) async throws -> List {
        guard !session.arguments.has("sign-key-file") else {
            throw UsageError(
                "posters of a service's own films are not signed; name a manifest, or leave out --sign-key-file"
            )
        }
        let open = try await session.reading(WebFilms(service + "/films")).catalogue()
        guard let address = FilmsAddress(catalogue: try URL(typed: service + "/films")) else {
            throw Failure("\(service) has no films; name a manifest")
        }
        var list = List()
        for movie in open.catalogue.movies where movie.poster != nil {
            for recipe in recipes {
                let url = address.poster(of: movie.id).absoluteString + "/\(recipe)"
                list.requests.append((try session.request(for: url, relativeTo: nil), true))
            }
        }
        if list.requests.isEmpty { throw Failure("\(service)/films: no film has a poster; name a manifest") }
        return list
    }

    /// The pictures of a manifest, under the addresses that the service has for them.
    private static func pictures(
        through service: String, _ recipes: [PictureRecipe], _ session: Session
    ) async throws -> List {
        var keys: SigningKeys?
        if let path = session.arguments.value("sign-key-file") {
            keys = try await SettingsReader(output: session.output).read(path) { try SigningKeys($0) }
        }
        var list = try await list(session)
        let entries = list.requests
        list.requests = []
        var failures = FailureReport(session.output)
        for (entry, _) in entries {
            guard let source = try? PictureSource(entry.url.absoluteString), source.origin != nil else {
                let failure = Failure(
                    "\(entry.url.displayText): a service fetches http and https only", code: "invalid-entry")
                failures.add(failure.description)
                record(FetchRecord(failure, of: entry.url.displayText), session)
                list.rejected += 1
                continue
            }
            for recipe in recipes {
                let address =
                    keys.map { PictureAddress(recipe, of: source, signedBy: $0) }
                    ?? PictureAddress(recipe, of: source)
                list.requests.append(
                    (try session.request(for: service + address.path, relativeTo: nil), true))
                list.names.append("\(entry.url.displayText) at \(recipe)")
            }
        }
        if list.requests.isEmpty {
            throw Failure(
                "the manifest names nothing that \(service) could fetch; name addresses with http or https")
        }
        return list
    }
}

extension PrewarmCommand {
    /// Reports the images left after an interruption, and then the summary.
    /// - Parameters:
    ///   - urls: the addresses of all images, without credentials.
    ///   - unreadable: the entries that name no image.
    ///   - withoutPoster: the films that have no poster.
    ///   - duration: how long it took; nil if that is unknown.
    ///   - isData: whether the summary is a part of what the user asked for, and goes to standard output. Default: it
    ///     is a message.
    static func finish(
        _ report: BatchReport, _ summary: Prewarmer.Summary, _ urls: [String], unreadable: Int,
        withoutPoster: Int = 0, duration: Duration?, isData: Bool = false, _ session: Session
    ) {
        report.endProgress()
        let output = session.output
        if session.settings.wantsJSON {
            for index in report.missing(of: urls.count) {
                output.json(FetchRecord(.cancelled(url: urls[index]), of: urls[index]))
            }
            output.flush()
        }
        guard !output.isQuiet, !session.settings.wantsJSON else { return }
        var parts = [
            "\(summary.fetched) fetched (\(ByteCount.text(summary.bytesFetched)))",
            "\(summary.alreadyCached) already cached"
                + (summary.revalidated > 0 ? " (\(summary.revalidated) revalidated)" : ""),
        ]
        if summary.failed + unreadable > 0 { parts.append("\(summary.failed + unreadable) failed") }
        if withoutPoster > 0 {
            parts.append("\(withoutPoster) \(withoutPoster == 1 ? "film" : "films") without a poster")
        }
        if summary.cancelled > 0 { parts.append("\(summary.cancelled) not tried") }
        if let duration { parts.append("in \(duration.seconds.formatted(decimals: 2)) s") }
        let text = parts.joined(separator: ", ")
        guard isData else { return output.notice(text) }
        output.line(text)
        output.flush()
    }
}

extension FetchRecord {
    /// The result of an image of a prewarm.
    fileprivate init(_ result: Prewarmer.ItemResult, wantsChecksum: Bool) {
        let url = result.request.url.displayText
        let timing = LoadTiming(total: result.duration, queued: result.queued)
        switch result.outcome {
        case .alreadyCached(let image), .fetched(let image):
            self.init(image, of: url, timing: timing, wantsChecksum: wantsChecksum)
        case .alreadyDecoded(let image): self.init(image, of: url, timing: timing)
        case .failed(let error): self.init(error, of: url, timing: timing)
        }
    }
}
