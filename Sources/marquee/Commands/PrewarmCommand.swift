import FoundationEssentials
import Glibc
import LazyImages
import MovieCatalogue

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
            Option(name: "concurrency", value: "N", help: "transfers at once (default: 32)"),
            Option(name: "per-host", value: "N", help: "transfers at once to one host (default: 6)"),
            Option(name: "any-content", help: "accept files that are not images"),
            .noCellular,
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

    /// Loads everything of the list, reports it, and closes the loader.
    static func fill(_ list: List, with opened: OpenLoader, _ session: Session) async -> ExitStatus {
        let requests = list.requests.map(\.request)
        let activity = opened.loader.downloader.activity
        let report = PrewarmReport(session, requests.map(\.url.displayText), named: list.names) {
            activity.traffic
        }
        let clock = ContinuousClock()
        let start = clock.now
        let summary = await Prewarmer(opened.loader, concurrency: session.settings.downloads.transfers)
            .run(requests) { result in report.add(result) }
        await opened.close()
        report.finish(
            summary, unreadable: list.rejected, withoutPoster: list.withoutPoster, duration: clock.now - start
        )
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
                "there is nothing to prewarm: \(session.source.isLibrary ? "every poster is in the library" : "the manifest names no image")"
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
        _ path: String, _ output: Output
    ) async throws -> (manifest: Manifest, base: BaseURL?) {
        let open = try await LibrarySource.all(path, output)
        let elsewhere = open.catalogue.movies.compactMap(\.poster).filter { address in
            URL(string: address).map { !LibraryTransport.serves($0) } ?? true
        }
        return (Manifest(entries: elsewhere.map { Manifest.Entry(address: $0) }), open.base)
    }

    /// The manifest of the command line, in its pages, with their base URLs.
    static func manifests(
        _ session: Session
    ) async throws -> [(manifest: Manifest, base: BaseURL?)] {
        let name = session.arguments.operands.first
        let pages: [(bytes: [UInt8], base: BaseURL?)]
        switch name {
        case nil:
            if case .library(let path) = session.source {
                return [try await libraryManifest(path, session.output)]
            }
            pages = try await session.source.read(with: session).pages.map { ($0.bytes, $0.base) }
        case "-": pages = [(try await Input.standard(), nil)]
        case .some(let name) where name.contains("://"):
            pages = try await CatalogueSource.read(url: name, with: session).pages.map { ($0.bytes, $0.base) }
        case .some(let name) where CatalogueSource(name).isLibrary:
            return [try await libraryManifest(name, session.output)]
        case .some(let name):
            pages = [(try await Input.file(name), session.source.base(ofFile: name))]
        }
        do {
            return try pages.map { (try Manifest(parsing: $0.bytes), $0.base) }
        } catch {
            let source = name.map { $0 == "-" ? "standard input" : CatalogueSource($0).name }
            throw Failure("\(source ?? session.source.name): \(error)")
        }
    }
}
