import FoundationEssentials
import Glibc
import LazyImages
import MovieCatalogue

/// `marquee prewarm`: fills the cache from a manifest; what is there already is skipped, so a killed run goes on where it
/// stopped.
enum PrewarmCommand: Command {
    static let specification = CommandSpecification(
        name: "prewarm", operands: "[MANIFEST]", operandCount: 0...1,
        summary: "fill the cache from a manifest (default: the catalogue's posters)",
        examples: [
            ("marquee prewarm", "every poster of the catalogue"),
            ("marquee prewarm manifest.json", "what a manifest names: JSON, a list of URLs, or a catalogue"),
            ("marquee prewarm - < urls.txt", "what a list names"),
        ],
        options: [
            Option(name: "concurrency", value: "N", help: "transfers at once (default: 32)"),
            Option(name: "per-host", value: "N", help: "transfers at once to one host (default: 6)"),
            Option(name: "any-content", help: "take what is not an image too"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        guard session.disk != nil else {
            throw UsageError("prewarm fills the disk cache: leave out --no-disk-cache")
        }
        let manifests = try await manifests(session)
        var failures = FailureReport(session.output)
        var unreadable = 0
        for problem in manifests.flatMap(\.manifest.problems) {
            let reason = problem.text + ": " + problem.reason
            failures.add(problem.line.map { "line \($0): " + reason } ?? reason)
            record(FetchRecord(Failure(reason, code: "invalid-entry"), of: problem.text), session)
            unreadable += 1
        }
        var requests: [ImageRequest] = []
        for (entry, base) in manifests.flatMap({ page in page.manifest.entries.map { ($0, page.base) } }) {
            do throws(ImageLoadingError) {
                requests.append(
                    try session.request(for: entry.address, relativeTo: base, checksum: entry.checksum))
            } catch {
                failures.add((entry.line.map { "line \($0): " } ?? "") + error.advised)
                record(FetchRecord(error, of: entry.address), session)
                unreadable += 1
            }
        }
        if requests.isEmpty {
            throw Failure(
                "there is nothing to prewarm: \(session.source.isLibrary ? "every poster is in the library" : "the manifest names no image")"
            )
        }

        let opened = session.makeLoader(keepsFiles: false)
        let report = PrewarmReport(session, requests, opened.loader.downloader.activity)
        let clock = ContinuousClock()
        let start = clock.now
        let summary = await Prewarmer(opened.loader, concurrency: session.settings.downloads.transfers)
            .run(requests) { result in report.add(result) }
        await opened.close()
        report.finish(summary, unreadable: unreadable, duration: clock.now - start)
        let hasFaults = session.reportFaults()
        let failed = unreadable + summary.failed
        if failed > 0, summary.fetched + summary.alreadyCached == 0 { return .nothingDone }
        return failed > 0 || hasFaults ? .someFailed : .done
    }

    /// The object of what names no image.
    private static func record(_ record: FetchRecord, _ session: Session) {
        if session.settings.wantsJSON { session.output.json(record) }
    }

    /// The posters of a library that are not in it.
    private static func libraryManifest(
        _ path: String, _ output: Output
    ) async throws -> (manifest: Manifest, base: BaseURL?) {
        let open = try await LibrarySource.all(path, output)
        let elsewhere = open.catalogue.movies.compactMap(\.poster).filter { address in
            URL(string: address).map { !LibraryTransport.serves($0) } ?? true
        }
        return (Manifest(entries: elsewhere.map { Manifest.Entry(address: $0) }), open.base)
    }

    /// The manifest that the command line names, in its pages, and their base URLs.
    private static func manifests(
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
