import FoundationEssentials
import Glibc
import LazyImages
import MovieCatalogue

/// `marquee fetch`: loads films' posters, or any addresses, on demand; many at once, each reported as it is done.
enum FetchCommand: Command {
    static let specification = CommandSpecification(
        name: "fetch", operands: "FILM|URL...", operandCount: 1...Int.max,
        summary: "fetch posters or any images on demand",
        examples: [
            ("marquee fetch metropolis -o posters", "one film's poster, into a folder"),
            ("marquee fetch https://example.org/a.jpg --json", "any image; one JSON object a line"),
            ("marquee fetch - < urls.txt", "every address of a list"),
        ],
        options: [
            Option(name: "output", letter: "o", value: "DIR", help: "write the files into this folder too"),
            Option(name: "concurrency", value: "N", help: "transfers at once (default: 32)"),
            Option(name: "per-host", value: "N", help: "transfers at once to one host (default: 6)"),
            Option(name: "any-content", help: "take what is not an image too"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let folder = try session.arguments.value("output").map { try OutputFolder($0) }
        let targets = try await targets(session)
        if targets.isEmpty { throw Failure("nothing to fetch: standard input names no address") }
        let opened = try session.makeLoader()
        var failures = FailureReport(session.output)
        await withTaskGroup(of: (FetchRecord, Failure?).self) { group in
            var rest = targets[...]
            func begin() {
                guard !Task.isCancelled, let target = rest.popFirst() else { return }
                group.addTask { await fetch(target, opened.loader, folder, session) }
            }
            for _ in 0..<session.settings.downloads.transfers { begin() }
            while let (record, failure) = await group.next() {
                begin()
                if Task.isCancelled, record.error?.code == "cancelled" { continue }
                show(record, session)
                if let message = failure?.description ?? record.error?.message { failures.add(message) }
            }
        }
        await opened.close()
        session.reportFaults()
        return failures.isEmpty ? .done : .someFailed
    }

    /// Something to fetch: an address and what it is relative to.
    private struct Target {
        let address: String
        let base: URL?
        /// What the file is called if the address says nothing, or nil.
        var name: String?
    }

    private static func targets(_ session: Session) async throws -> [Target] {
        var targets: [Target] = []
        var open: OpenCatalogue?
        for operand in session.arguments.operands {
            if operand == "-" {
                targets += try StandardInput.lines().map { Target(address: $0, base: nil) }
            } else if isAddress(operand) {
                targets.append(Target(address: operand, base: nil))
            } else {
                let catalogue: OpenCatalogue
                if let open { catalogue = open } else { catalogue = try await session.catalogue() }
                open = catalogue
                let movie = try session.film(operand, in: catalogue.catalogue)
                guard let poster = movie.poster else {
                    throw Failure("\(movie.title) has no poster in the catalogue")
                }
                targets.append(Target(address: poster, base: catalogue.base, name: movie.id))
            }
        }
        return targets
    }

    /// Whether a word is an address and not a film: it has a scheme that is followed by `//`, or is a data URL.
    private static func isAddress(_ word: String) -> Bool {
        word.contains("://") || word.lowercased().hasPrefix("data:") || word.lowercased().hasPrefix("file:")
    }

    private static func fetch(
        _ target: Target, _ loader: ImageLoader, _ folder: OutputFolder?, _ session: Session
    ) async -> (FetchRecord, Failure?) {
        let (record, image) = await FetchRecord.fetching(
            target.address, relativeTo: target.base, with: loader, session)
        guard let folder, let image else { return (record, nil) }
        do {
            try await folder.write(image, name: target.name)
            return (record, nil)
        } catch {
            return (record, error)
        }
    }

    private static func show(_ record: FetchRecord, _ session: Session) {
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil, !session.output.isQuiet {
            session.output.line(record.summary + "  " + record.url)
        }
        session.output.flush()
    }
}

/// Says what failed, a line each; what would be the same line for every address only once.
struct FailureReport {
    private let output: Output
    private var seen: Set<String> = []

    init(_ output: Output) { self.output = output }

    var isEmpty: Bool { seen.isEmpty }

    mutating func add(_ message: String) {
        if seen.insert(message).inserted { output.failure(message) }
    }
}
