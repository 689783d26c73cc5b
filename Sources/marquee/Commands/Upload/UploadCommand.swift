import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// `marquee upload FILE|- URL`: sends a file or a form, and prints the answer.
enum UploadCommand: Command {
    static let specification = CommandSpecification(
        name: "upload", operands: "[FILE|-] URL", operandCount: 1...2,
        summary: "send a file or a form to a server",
        examples: [
            ("marquee upload poster.jpg https://nas.example/posters/1.jpg", "one file, with PUT"),
            ("marquee upload film.json https://nas.example/films --method POST", "JSON, if it is right"),
            ("marquee upload poster.jpg URL --form id=1 --recipe w342", "a form with a smaller picture"),
            ("marquee upload URL --form title=Metropolis", "a form without a file"),
            ("tar c posters | marquee upload - URL", "standard input"),
        ],
        options: [
            Option(
                name: "method", value: "PUT|POST",
                help: "the method (default: PUT for a file, POST for a form)"),
            Option(
                name: "type", value: "TYPE", help: "the file's media type (default: from its name's ending)"),
            Option(
                name: "form", value: "NAME=VALUE", help: "a field of a form", isRepeatable: true, isText: true
            ),
            Option(
                name: "field", value: "NAME",
                help: "send the file in a form, in this field (default with --form: file)"),
            Option(
                name: "recipe", value: "R",
                help: "send a picture of the file, as marquee picture makes it: w342, 342x513.fill.q80, ..."),
        ],
        notes: [
            "A file is the whole body; with --form or --field it is a part of a form (multipart/form-data). Fields "
                + "without a file are url-encoded.",
            "JSON and XML, by --type or the name's ending, are checked before they go: UTF-8, no DOCTYPE, at most "
                + "16 MiB. With application/octet-stream, files are sent unchecked.",
            "Standard input is first stored in an unnamed file ($TMPDIR, else /var/tmp). The body is sent again "
                + "from its beginning if a server asks for credentials (401), after 307 and 308 within the "
                + "origin, and with PUT after a failure; never to another origin. Only --max-time limits the whole "
                + "time. Cookies are neither stored nor sent.",
            "The answer's body goes to standard output, on a terminal only if it is text; --verbose shows the "
                + "header. Exit status: 0 for an answer of 2xx, 1 for any other or none, 2 if nothing could be sent.",
        ])

    /// How long an upload may take by default. A stalled one ends by --timeout.
    private static let longest = Duration.seconds(30 * 86_400)

    static func run(_ session: Session) async throws -> ExitStatus {
        let order = try UploadContent.Order(session.arguments)
        if session.settings.isOffline { throw UsageError("leave out --offline: upload needs the network") }
        let address = session.arguments.operands[session.arguments.operands.count - 1]
        let url = try URL(typed: address)
        let content: UploadContent
        do throws(Failure) {
            do throws(ImageLoadingError) { try session.settings.downloads.security.check(url) } catch {
                throw Failure(error)
            }
            content = try await Input.reading { [settings = session.settings] () throws(Failure) in
                try UploadContent(order, settings)
            }
        } catch {
            report(UploadRecord(order.method, to: url.displayText, error), session)
            return .nothingDone
        }
        let request = UploadRequest(url: url, order.method, content.body, fields: session.settings.fields)
        let label =
            "sending" + (order.file.map { $0 == "-" ? "" : " " + URL(filePath: $0).lastPathComponent } ?? "")
        let start = ContinuousClock.now
        do throws(ImageLoadingError) {
            let (response, sent) = try await send(request, label: label, session)
            let record = UploadRecord(
                request, response, sent: sent, time: start.duration(to: .now), checksum: content.checksum)
            show(response, session)
            report(record, session)
            return record.error == nil ? .done : .someFailed
        } catch {
            report(UploadRecord(order.method, to: url.displayText, Failure(error)), session)
            return .someFailed
        }
    }

    /// Sends a request and shows the progress.
    /// - Returns: the answer, and the body's length.
    private static func send(
        _ request: UploadRequest, label: String, _ session: Session
    ) async throws(ImageLoadingError) -> (UploadResponse, sent: Int) {
        let opened = session.writing().makeLoader(keepsFiles: false, total: longest)
        let uploader = Uploader(opened.loader)
        let log = session.output.isVerbose ? TransferLog.follow(uploader.activity, session.output) : nil
        let newest = Lock(UploadProgress?.none)
        let task = uploader.task(for: request)
        let progress = task.progress
        let listening = Task { for await step in progress { newest.withLock { $0 = step } } }
        let work = session.output.progress.begin {
            var traffic = NetworkActivity.Traffic()
            if let progress = newest.withLock({ $0 }) {
                (traffic.received, traffic.remaining) = (progress.sent, progress.total - progress.sent)
            }
            return JobProgress(label: label, bytes: traffic)
        }
        let outcome: Result<UploadResponse, ImageLoadingError>
        do throws(ImageLoadingError) { outcome = .success(try await task.value) } catch {
            outcome = .failure(error)
        }
        session.output.progress.end(work)
        await listening.value
        log?.cancel()
        await log?.value
        await opened.close()
        return (try outcome.get(), newest.withLock { $0?.total } ?? 0)
    }

    /// Prints the answer's body, and with --verbose its header.
    private static func show(_ response: UploadResponse, _ session: Session) {
        let output = session.output
        let reason = HTTPStatus(rawValue: response.status).reason
        output.detail("\(response.status) \(reason)")
        for field in response.fields.fields { output.detail("\(field.name): \(field.value)") }
        if !session.settings.wantsJSON, !response.body.isEmpty {
            let body = ImageBytes(response.body)
            if !output.body(body, type: response.fields["content-type"]) { output.noteHiddenBody(body) }
        }
        if !response.isWhole { output.note("the answer's body is incomplete: cut off, or too long") }
    }

    /// Prints the object for programs, and reports how it ended.
    private static func report(_ record: UploadRecord, _ session: Session) {
        if session.settings.wantsJSON { session.output.json(record) }
        if let error = record.error {
            if !Task.isCancelled { session.output.failure(error.message) }
        } else {
            session.output.note(record.summary)
        }
    }
}
