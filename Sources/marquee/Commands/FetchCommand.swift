import FoundationEssentials
import LazyImages
import SystemSupport

/// `marquee fetch`: loads films' posters, or images at any addresses. Many load at once; each is reported when it is
/// done.
enum FetchCommand: Command {
    static let specification = CommandSpecification(
        name: "fetch", operands: "FILM|URL|FILE...", operandCount: 1...Int.max,
        summary: "fetch posters or any images on demand",
        examples: [
            ("marquee fetch metropolis -o posters", "one film's poster, into a folder"),
            ("marquee fetch metropolis -o small.jpg", "into a file"),
            ("marquee fetch https://example.org/a.jpg --json", "any image; one JSON object a line"),
            ("marquee fetch - < urls.txt", "all films, addresses and files of a list"),
            ("marquee fetch metropolis -o - | djpeg", "one file, to another program"),
            ("marquee fetch --include URL --any-content", "one answer as HTTP, as the cache gives it"),
        ],
        options: [
            Option(
                name: "output", letter: "o", value: "DIR|FILE",
                help:
                    "also write the files to this folder, or one file of this name: poster.jpg; - writes one file to standard output"
            ),
            .concurrency, .perHost, .anyContent, .noCellular,
            Option(name: "include", help: "print one answer with its status line and header"),
        ] + ExistingFile.options,
        notes: [
            "A file that is there with other content stays. In a folder the new file gets a number; a file that "
                + "--output names is an error."
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        if session.arguments.has("no-cellular"), !session.arguments.operands.allSatisfy(isOfThisMachine) {
            try CellularRefusal.check()
        }
        if session.arguments.has("include") { return try await include(session) }
        if session.arguments.value("output") == "-" { return try await printBody(session) }
        let words = session.arguments.operands
        let existing = try ExistingFile(session.arguments, else: .number)
        let place = try session.arguments.value("output").map {
            try OutputPlace($0, isSingle: words.count == 1 && words[0] != "-", existing: existing)
        }
        let targets = FetchTargets(session)
        let report = BatchReport(session)
        let opened = session.makeLoader()
        let total = Lock(words.contains("-") ? nil : words.count)
        // The progress would disturb a person who types addresses on the same terminal.
        if !words.contains("-") || isatty(STDIN_FILENO) == 0 {
            report.beginProgress(total: { total.withLock { $0 } }, traffic: { opened.traffic })
        }
        defer { report.endProgress() }
        await Batch.run(
            atOnce: session.settings.downloads.transfers, report, next: targets.next,
            ended: {
                let count = await targets.count
                total.withLock { $0 = count }
            },
            job: { job($0, place, opened.loader, session) })
        if Task.isCancelled, session.settings.wantsJSON {
            for record in await targets.rest() { report.add(record) }
        }
        await opened.close()
        session.reportFaults()
        return try report.status(ifNothing: "nothing to fetch: standard input names no address")
    }

    /// Whether a word names a file, data, or an address of this machine, which need no network.
    private static func isOfThisMachine(_ word: String) -> Bool {
        guard let target = FetchTarget(word) else { return false }
        // Ignored: an invalid address is never fetched.
        return (try? URL(typed: target.address))?.isOfThisMachine ?? true
    }

    /// The job of one address. Its file's name is claimed at once.
    /// - Parameter place: where the file is written; nil for nowhere.
    static func job(
        _ target: FetchTarget, _ place: OutputPlace?, _ loader: FileLoader, _ session: Session
    ) -> Batch.Job {
        let request: ImageRequest
        do throws(ImageLoadingError) {
            request = try session.request(for: target.address, relativeTo: target.base)
        } catch {
            let record = FetchRecord(error, of: target.address).naming(target)
            return { record }
        }
        let write = place?.writer(of: request, target.name)
        return {
            var (record, image) = await FetchRecord.fetching(request, with: loader, session)
            if let write, let image {
                do throws(Failure) {
                    record.setFile(try await write(image))
                } catch {
                    record.fail(error)
                }
            }
            return record.naming(target)
        }
    }
}

/// One answer, on standard output.
extension FetchCommand {
    /// Prints the status line, the header and the body.
    static func include(_ session: Session) async throws -> ExitStatus {
        guard session.arguments.operands.count == 1, FetchTarget.isAddress(session.arguments.operands[0]),
            !session.settings.wantsJSON, !session.arguments.has("output")
        else { throw UsageError("--include needs one address, and neither --json nor --output") }
        let target = FetchTarget(address: session.arguments.operands[0])
        return await session.withFile(of: target) { file in
            session.output.detail("\(target.displayText): \(file.source)")
            session.output.answer(file.head ?? ResponseHead(status: 200), file.bytes)
            return .done
        } failure: { error in
            // A cache answers 504 if it must not ask the server (RFC 9111 section 5.2.1.7).
            if case .notCached = error { session.output.answer(ResponseHead(status: 504), ImageBytes([])) }
        }
    }

    /// Prints the body, byte for byte. On a terminal it prints only text, made safe.
    private static func printBody(_ session: Session) async throws -> ExitStatus {
        let words = session.arguments.operands
        guard words.count == 1, words[0] != "-", !session.settings.wantsJSON else {
            throw UsageError("-o - needs one film, address or file, and no --json")
        }
        let target: FetchTarget
        switch try await FetchTargets(session).next() {
        case .item(let named)?: target = named
        case .failure(let record)?: throw Failure(record.error?.message ?? "\(words[0]): nothing to fetch")
        case nil: return .nothingDone
        }
        return await session.withFile(of: target) { file in
            if session.output.body(file.bytes, type: file.contentType) { return .done }
            session.output.failure(
                "\(target.displayText): \(file.bytes.count) bytes that are not text; "
                    + "save them with -o DIR or > FILE")
            return .nothingDone
        }
    }
}

extension Session {
    /// Fetches one file and passes it to `body`. An error is printed, after `failure` has seen it.
    fileprivate func withFile(
        of target: FetchTarget, body: (LoadedFile) -> ExitStatus,
        failure: (ImageLoadingError) -> Void = { _ in }
    ) async -> ExitStatus {
        let opened = makeLoader()
        let status: ExitStatus
        let work = output.progress.begin { JobProgress(bytes: opened.traffic) }
        do throws(ImageLoadingError) {
            let request = try request(for: target.address, relativeTo: target.base)
            let file = try await opened.loader.file(for: request)
            output.progress.end(work)
            status = body(file)
        } catch {
            output.progress.end(work)
            failure(error)
            output.failure(target.naming(error.advised))
            status = .nothingDone
        }
        await opened.close()
        return reportFaults() && status == .done ? .someFailed : status
    }
}
