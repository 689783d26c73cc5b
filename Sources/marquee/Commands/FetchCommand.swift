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
            ("marquee fetch --include URL --any-content", "one answer as HTTP, as the cache gives it"),
        ],
        options: [
            Option(name: "output", letter: "o", value: "DIR", help: "write the files into this folder too"),
            Option(name: "concurrency", value: "N", help: "transfers at once (default: 32)"),
            Option(name: "per-host", value: "N", help: "transfers at once to one host (default: 6)"),
            Option(name: "any-content", help: "take what is not an image too"),
            Option(
                name: "include",
                help:
                    "one address: print the answer's status line and header, whatever they are, and its body"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        if session.arguments.has("include") { return try await include(session) }
        let folder = try session.arguments.value("output").map { try OutputFolder($0) }
        let (targets, strangers) = try await targets(session)
        var failures = FailureReport(session.output)
        for record in strangers {
            show(record, session)
            if let message = record.error?.message { failures.add(message) }
        }
        if targets.isEmpty {
            if strangers.isEmpty { throw Failure("nothing to fetch: standard input names no address") }
            return .nothingDone
        }
        let opened = session.makeLoader()
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

    /// Prints one answer.
    private static func include(_ session: Session) async throws -> ExitStatus {
        guard session.arguments.operands.count == 1, isAddress(session.arguments.operands[0]),
            !session.settings.wantsJSON, !session.arguments.has("output")
        else { throw UsageError("--include wants one address, and neither --json nor --output") }
        let opened = session.makeLoader()
        var status = ExitStatus.done
        do throws(ImageLoadingError) {
            let request = try session.request(for: session.arguments.operands[0], at: nil)
            let file = try await opened.loader.file(for: request)
            session.output.detail("\(request.url.displayText): \(file.source.rawValue)")
            session.output.answer(file.head ?? ResponseHead(status: 200), file.bytes)
        } catch {
            // What a cache answers that may not ask (RFC 9111 section 5.2.1.7).
            if case .notCached = error { session.output.answer(ResponseHead(status: 504), ImageBytes([])) }
            session.output.failure(error.advised)
            status = .someFailed
        }
        await opened.close()
        return session.reportFaults() ? .someFailed : status
    }

    /// Something to fetch: an address and where it stands.
    private struct Target {
        let address: String
        var place: Place?
        /// What the file is called, for a film; nil if its address says.
        var name: String?
    }

    /// What the operands name; those that name no film, or one without a poster, as failures of their own, so that they
    /// do not stop the others.
    private static func targets(_ session: Session) async throws -> ([Target], strangers: [FetchRecord]) {
        var targets: [Target] = []
        var strangers: [FetchRecord] = []
        var open: OpenCatalogue?
        for operand in session.arguments.operands {
            if operand == "-" {
                targets += try await Input.standardLines().map { Target(address: $0) }
            } else if isAddress(operand) {
                targets.append(Target(address: operand))
            } else {
                let catalogue: OpenCatalogue
                if let open { catalogue = open } else { catalogue = try await session.catalogue() }
                open = catalogue
                do throws(Failure) {
                    targets.append(try target(of: operand, in: catalogue, session))
                } catch {
                    strangers.append(FetchRecord(error, of: operand))
                }
            }
        }
        return (targets, strangers)
    }

    private static func target(
        of film: String, in open: OpenCatalogue, _ session: Session
    ) throws(Failure) -> Target {
        let movie = try session.film(film, in: open.catalogue)
        guard let poster = movie.poster else {
            throw Failure(
                "\(movie.title) has no poster in the catalogue; add the address of one there",
                code: "no-poster")
        }
        return Target(address: poster, place: open.place, name: movie.id)
    }

    /// Whether a word is an address and not a film: it has a scheme that is followed by `//`, or is a data URL.
    private static func isAddress(_ word: String) -> Bool {
        word.contains("://") || word.lowercased().hasPrefix("data:") || word.lowercased().hasPrefix("file:")
    }

    private static func fetch(
        _ target: Target, _ loader: FileLoader, _ folder: OutputFolder?, _ session: Session
    ) async -> (FetchRecord, Failure?) {
        let (record, image) = await FetchRecord.fetching(
            target.address, at: target.place, with: loader, session)
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
