import Films
import FoundationEssentials
import HTTPSemantics
import Hashing
import LazyImages
import PictureService
import SystemSupport

/// `marquee upload FILE|- URL`: sends a file or a form, and prints the answer.
enum UploadCommand: Command {
    static let specification = CommandSpecification(
        name: "upload", operands: "[FILE|-] URL", operandCount: 1...2,
        summary: "send a file or a form to a server",
        examples: [
            ("marquee upload poster.jpg https://nas.example/posters/1.jpg", "one file, with PUT"),
            ("marquee upload film.json https://nas.example/films --method POST", "a film as JSON"),
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
            try Failure.advising(try session.settings.downloads.security.check(url))
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
        let outcome = await Result.of { () throws(ImageLoadingError) in try await task.value }
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
        if !response.isWhole { output.notice("the answer's body is incomplete: cut off, or too long") }
    }

    /// Prints the object for programs, and reports how it ended.
    private static func report(_ record: UploadRecord, _ session: Session) {
        if session.settings.wantsJSON { session.output.json(record) }
        if let error = record.error {
            if !Task.isCancelled { session.output.failure(error.message) }
        } else {
            session.output.notice(record.summary)
        }
    }
}

/// What `marquee upload` sends: a file, a form with a file (RFC 7578), or the fields of a form, url-encoded.
struct UploadContent: Sendable {
    /// The command line, checked.
    struct Order: Sendable {
        /// A path, or `-`; nil for a form without a file.
        let file: String?
        let method: RequestMethod
        let type: String?
        let fields: [(name: String, value: String)]
        /// The form field of the file; nil if the file is the whole body.
        let fileField: String?
        let recipe: PictureRecipe?
    }

    let body: UploadBody
    /// The SHA-256 of the file, if the user wants it.
    let checksum: String?

    /// Reads what must be known before sending. Blocks.
    init(_ order: Order, _ settings: Settings) throws(Failure) {
        guard let word = order.file else {
            (body, checksum) = (.urlEncoded(order.fields), nil)
            return
        }
        var file = try Failure.advising(try UploadedFile(word, type: order.type))
        if let recipe = order.recipe {
            try file.replaceByPicture(by: recipe, limit: settings.downloads.maximumBytes)
        }
        let fields = order.fields.map { FormPart.field($0.name, $0.value) }
        let body = order.fileField.map { .form(fields + [file.part($0)]) } ?? file.body
        self.body = body
        // An unreadable file is reported before anything is sent.
        _ = try Failure.advising(try body.open())
        checksum = settings.wantsChecksum ? try Failure.advising(try file.checksum()) : nil
    }
}

extension UploadContent.Order {
    /// The default name of the file's field in a form.
    private static let usualField = "file"

    init(_ arguments: Arguments) throws(UsageError) {
        file = arguments.operands.count == 2 ? arguments.operands[0] : nil
        fields = try arguments.values("form").map { text throws(UsageError) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError("--form needs NAME=VALUE, not \"\(text)\"")
            }
            return (String(parts[0]), String(parts[1]))
        }
        guard file != nil || !fields.isEmpty else {
            throw UsageError("upload needs FILE or -, and URL; or URL and --form NAME=VALUE")
        }
        for name in ["field", "type", "recipe"] where file == nil && arguments.has(name) {
            throw UsageError("--\(name) needs a file; name one before the URL")
        }
        let field = arguments.value("field")
        if field?.isEmpty == true { throw UsageError("--field needs the name of the file's field") }
        fileField = file == nil ? nil : field ?? (fields.isEmpty ? nil : Self.usualField)

        switch arguments.value("method")?.uppercased() {
        case nil: method = fields.isEmpty && fileField == nil ? .put : .post
        case "PUT": method = .put
        case "POST": method = .post
        case let other?: throw UsageError("--method needs PUT or POST, not \"\(other)\"")
        }
        type = arguments.value("type")
        if let type, ContentType(type) == nil {
            throw UsageError("--type needs a media type such as image/jpeg, not \"\(type)\"")
        }
        if let text = arguments.value("recipe") {
            if type != nil { throw UsageError("leave out --type: the picture of --recipe has its own type") }
            recipe = try UsageError.naming("--recipe") { try PictureRecipe(text) }
        } else {
            recipe = nil
        }
    }
}

/// The file that `marquee upload` sends: a file, standard input, or a picture made from either. Every call blocks.
struct UploadedFile: Sendable {
    private enum Content {
        case path(String)
        case stream(SpooledStream)
        case bytes([UInt8])
    }

    /// The file name for the server. In a form, standard input has the field's name instead.
    private(set) var name: String?
    private(set) var mediaType: String
    /// Its name in messages.
    private let title: String
    private var content: Content

    /// - Parameters:
    ///   - word: a path; or `-` for standard input, which is read to its end.
    ///   - type: the media type. Default: from the name's ending.
    init(_ word: String, type: String?) throws(ImageLoadingError) {
        let isInput = word == "-"
        title = isInput ? "standard input" : word
        name = isInput ? nil : URL(filePath: word).lastPathComponent
        mediaType = type ?? MediaType.of(Array(word.utf8))
        content = isInput ? .stream(try SpooledStream(STDIN_FILENO)) : .path(word)
    }

    /// Replaces the file by a picture of it. Name and type then follow from the picture's bytes.
    /// - Parameter limit: the most bytes of the file.
    fileprivate mutating func replaceByPicture(by recipe: PictureRecipe, limit: Int) throws(Failure) {
        let body = try Failure.advising(try body.open())
        guard body.count <= limit else {
            throw Failure(
                "\(title): larger than \(ByteCount.text(limit)), the limit for making a picture; "
                    + "allow more with --max-bytes", code: "too-large")
        }
        let bytes = try Failure.advising(try body.bytes(at: 0, limit: limit))
        do throws(PictureError) {
            let picture = try Picture.picture(of: ImageBytes(bytes), recipe)
            content = .bytes(picture.bytes.array)
            mediaType = picture.format.mediaType
            name = name.map {
                URL(filePath: $0).deletingPathExtension().lastPathComponent + "."
                    + picture.format.fileExtension
            }
        } catch {
            throw Failure("\(title): \(error); leave out --recipe to send it as it is", code: "undecodable")
        }
    }

    /// The file as the whole body.
    var body: UploadBody {
        switch content {
        case .path(let path): .file(path, mediaType: mediaType)
        case .stream(let stream): .stream(stream, mediaType: mediaType)
        case .bytes(let bytes): .bytes(bytes, mediaType: mediaType)
        }
    }

    /// The file as a part of a form.
    func part(_ field: String) -> FormPart {
        let name = name ?? field
        return switch content {
        case .path(let path): .file(field, path: path, fileName: name, mediaType: mediaType)
        case .stream(let stream): .file(field, stream: stream, fileName: name, mediaType: mediaType)
        case .bytes(let bytes): .file(field, bytes: bytes, fileName: name, mediaType: mediaType)
        }
    }

    /// The SHA-256 of the file, 64 lower-case hexadecimal digits.
    func checksum() throws(ImageLoadingError) -> String {
        let body = try body.open()
        var hash = SHA256()
        var offset = 0
        while offset < body.count {
            let piece = try body.bytes(at: offset, limit: 1 << 20)
            hash.update(piece.span)
            offset += piece.count
        }
        return hash.finish().hexadecimal
    }

}

extension Failure {
    /// The library's error, with advice for the user.
    init(_ error: ImageLoadingError) { self.init(error.advised, code: error.code) }

    /// Calls `body`. Its error becomes a failure with advice.
    static func advising<Value>(
        _ body: @autoclosure () throws(ImageLoadingError) -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch { throw Failure(error) }
    }
}

/// The result of an upload: the object of `upload --json`. `JSONHelp` lists its members.
struct UploadRecord: Encodable, Sendable {
    /// The address that answered; without an answer, the address of the request.
    private(set) var url: String
    let method: String
    private(set) var outcome = "failed"
    private(set) var status: Int?
    private(set) var sent: Int?
    private(set) var bytes: Int?
    private(set) var type: String?
    private(set) var location: String?
    private(set) var answer: String?
    private(set) var milliseconds: Double?
    private(set) var sha256: String?
    private(set) var error: FetchRecord.ErrorRecord?

    /// An upload that failed.
    init(_ method: RequestMethod, to url: String, _ failure: Failure) {
        self.url = url
        self.method = method.rawValue
        error = FetchRecord.ErrorRecord(failure)
    }

    /// An answer. Only 2xx means success.
    init(
        _ request: UploadRequest, _ response: UploadResponse, sent: Int, time: Duration, checksum: String?
    ) {
        url = response.url.displayText
        method = request.method.rawValue
        status = response.status
        self.sent = sent
        bytes = response.body.count
        type = response.fields["content-type"]
        location = response.fields["location"]
        answer = response.body.isEmpty ? nil : ReadableText.text(of: response.body, type: type)
        milliseconds = time.milliseconds
        sha256 = checksum
        if (200..<300).contains(response.status) {
            outcome = "sent"
        } else {
            error = FetchRecord.ErrorRecord(Failure(.httpStatus(url: url, status: response.status)))
        }
    }

    /// `http://nas/a.jpg: 201 Created, 42250 bytes sent in 12.3 ms`
    var summary: String {
        let reason = status.map { " " + HTTPStatus(rawValue: $0).reason } ?? ""
        return "\(url): \(status ?? 0)\(reason), \(sent ?? 0) bytes sent in "
            + "\((milliseconds ?? 0).formatted(decimals: 1)) ms"
    }
}
