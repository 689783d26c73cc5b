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
        let (manifest, place) = try await manifest(session)
        var failures = FailureReport(session.output)
        var unreadable = 0
        for problem in manifest.problems {
            failures.add(
                problem.line.map { "line \($0): " + problem.text + ": " + problem.reason }
                    ?? problem.text + ": " + problem.reason)
            unreadable += 1
        }
        var requests: [ImageRequest] = []
        for entry in manifest.entries {
            do throws(ImageLoadingError) {
                requests.append(
                    try session.request(for: entry.address, at: place, checksum: entry.checksum))
            } catch {
                failures.add((entry.line.map { "line \($0): " } ?? "") + error.advised)
                unreadable += 1
            }
        }
        if requests.isEmpty { throw Failure("there is nothing to prewarm: the manifest names no image") }

        let opened = session.makeLoader(keepsFiles: false)
        let report = PrewarmReport(session, total: requests.count)
        let clock = ContinuousClock()
        let start = clock.now
        let summary = await Prewarmer(opened.loader, concurrency: session.settings.downloads.transfers)
            .run(requests) { result in report.add(result) }
        await opened.close()
        report.finish(summary, unreadable: unreadable, duration: clock.now - start)
        let hasFaults = session.reportFaults()
        return unreadable + summary.failed > 0 || hasFaults ? .someFailed : .done
    }

    /// The manifest the command line names, and where its addresses stand.
    private static func manifest(_ session: Session) async throws -> (Manifest, Place?) {
        let name = session.arguments.operands.first
        let bytes: [UInt8]
        let place: Place?
        switch name {
        case nil: (bytes, place) = try await session.source.read(with: session)
        case "-": (bytes, place) = (try await Input.standard(), nil)
        case .some(let name) where name.contains("://"):
            (bytes, place) = try await CatalogueSource.read(url: name, with: session)
        case .some(let name):
            (bytes, place) = (try await Input.file(name), session.source.place(ofFile: name))
        }
        do {
            return (try Manifest(parsing: bytes), place)
        } catch {
            let source = name.map { $0 == "-" ? "standard input" : CatalogueSource($0).name }
            throw Failure("\(source ?? session.source.name): \(error)")
        }
    }
}
