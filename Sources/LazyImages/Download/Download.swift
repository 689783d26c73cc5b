import Coalescing
import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import SystemSupport

/// What a download must get: the file that the request names, or the confirmation of the stored one.
final class DownloadRequest: Sendable {
    let request: ImageRequest
    /// The stored file; nil if there is none.
    let stored: LoadedFile?
    /// The key by which downloads are shared.
    let key: CacheKey
    /// Sent only to the URL of the stored answer, or to the first URL of a request with an id.
    let conditions: HeaderFields
    /// Whether the download revalidates the stored file.
    let revalidates: Bool
    /// A stored permanent redirect, to start at its target instead of at the request's URL.
    let move: StoredResponse.PermanentMove?

    /// Gets the whole file.
    /// - Parameter stored: the file that the answer replaces.
    init(_ request: ImageRequest, replacing stored: LoadedFile?) {
        self.request = request
        self.stored = stored
        key = request.transferKey
        conditions = HeaderFields()
        revalidates = false
        move = nil
    }

    /// Revalidates the stored file.
    init(_ request: ImageRequest, revalidating stored: LoadedFile, _ response: StoredResponse, now: Int) {
        self.request = request
        self.stored = stored
        revalidates = true
        conditions = Validators(response.fields)?.conditions ?? HeaderFields()
        // A stored redirect belongs to the old URL: a request with an id may have another URL by now.
        move = request.id == nil ? response.moved.flatMap { now < $0.until ? $0 : nil } : nil
        var about = conditions.fields.map { "\($0.name): \($0.value)" }
        if let move { about.append(move.url) }
        key =
            about.isEmpty
            ? request.transferKey : request.transferKey.variant("if " + about.joined(separator: ", "))
    }

    /// Whether the request has no conditions and no range: only then a partial body can be resumed.
    fileprivate var mayResume: Bool {
        conditions.isEmpty
            && (request.fields.isEmpty
                || (Validators.conditional + ["range"]).allSatisfy { request.fields[$0] == nil })
    }

    /// The stored file, if the answer is a 304 to the download's own conditions and confirms it (RFC 9111 section
    /// 4.3.4).
    func confirmed(by head: ResponseHead) -> (file: LoadedFile, response: StoredResponse)? {
        guard head.status == 304, !conditions.isEmpty, let stored, let response = stored.response,
            Validators(response.fields)?.areConfirmed(by: head.fields) == true
        else { return nil }
        return (stored, response)
    }
}

/// A download as a fetch: what it sends, and what the answers mean.
final class Download: FetchExchange {
    private let wanted: DownloadRequest
    private let flight: DownloadFlight
    private let downloader: ImageDownloader
    private let number: Int
    /// The download's claim on its key; nil if it waits for no other process.
    private let claim: TransferClaim?
    private(set) var url: URL
    private(set) var host = ""
    private(set) var metrics: TransferMetrics?
    private var origin: WebOrigin
    /// The redirects so far.
    private var steps: [RedirectStep] = []
    /// Whether the whole body is requested, because a partial body could not be resumed.
    private var ignoresPartial = false
    /// Whether the conditions are left out, because the 304 confirmed another file.
    private var ignoresConditions = false

    init(
        _ wanted: DownloadRequest, _ flight: DownloadFlight, _ downloader: ImageDownloader, number: Int,
        _ claim: TransferClaim?
    ) {
        self.wanted = wanted
        self.flight = flight
        self.downloader = downloader
        self.number = number
        self.claim = claim
        url = wanted.move.flatMap { URL(string: $0.url) } ?? wanted.request.url
        origin = WebOrigin(url)
        // The URL of a request with a closure is only a name.
        if wanted.request.data == nil { host = origin.hostAndPort }
    }

    private var request: ImageRequest { wanted.request }
    private var context: FetchContext { downloader.context }
    private var configuration: ImageDownloader.Configuration { downloader.context.configuration }

    var mayAuthenticate: Bool { request.data == nil && request.fields["authorization"] == nil }
    var overridesCircuitBreaker: Bool { request.overridesCircuitBreaker }

    func mayStart() async -> Bool { await claim?.mayFetch() ?? true }

    func settle() async throws(ImageLoadingError) -> LoadedFile? {
        do {
            return try await claim?.settle(within: configuration.timeouts.stall, configuration.timing) {
                [downloader, wanted, flight] in
                await downloader.tiers.storedMeanwhile(for: wanted, by: flight)
            }
        } catch {
            throw .cancelled(url: request.url.displayText)
        }
    }

    func retries(after failure: FailedAttempt.Reason) -> Bool {
        configuration.retryStrategy != nil || RetryPolicy.covers(failure)
    }

    func changesMethod(_ redirect: RedirectStep) -> Bool { false }

    func follow(_ redirect: RedirectStep) {
        steps.append(redirect)
        url = redirect.target
        origin = WebOrigin(url)
        host = origin.hostAndPort
    }

    func value(of answer: DownloadedImage) async -> LoadedFile {
        await downloader.tiers.keep(answer, wanted, from: flight)
    }

    // MARK: One attempt

    func attempt(
        _ authorization: Authorization?, limit: Duration
    ) async throws(ImageLoadingError) -> FetchStep<DownloadedImage> {
        if let data = request.data { return .answer(try await answer(of: data)) }
        let body = await makeBody()
        defer { record(body) }
        let start = FileTime.coarseNow
        let sent: (head: ResponseHead, isAuthorised: Bool)
        do {
            sent = try await send(authorization, limit: limit, into: body)
        } catch {
            // A cancelled caller may be scrolling fast: a small partial body is not worth a file.
            await body.interrupt(keepsSmall: !error.isCancelled)
            flight.emit(.interrupted)
            throw error
        }
        // The next attempt may resume the partial body that this one could not.
        await body.written()
        let head = body.head ?? sent.head
        if let step = try step(after: sent.head, whole: head, body, since: start) { return step }
        let isKept = head.status == 200 || configuration.acceptsAnyStatus
        let bytes = isKept ? try await body.finish() : nil
        let image = try image(head, bytes, body, since: start, isAuthorised: sent.isAuthorised)
        if image.offset > 0, image.damage != nil {
            // The parts may not belong together.
            ignoresPartial = true
            return .again(status: sent.head.status)
        }
        return .answer(image)
    }

    /// The bytes of the request's closure.
    /// - Throws: `.dataFailed`, and any `ImageLoadingError` that the closure throws.
    private func answer(of data: ImageRequest.DataClosure) async throws(ImageLoadingError) -> DownloadedImage
    {
        let bytes: [UInt8]
        do {
            bytes = try await data.bytes()
        } catch {
            throw ImageLoadingError(error, of: "the request's closure", url)
        }
        return try DownloadedImage(bytes: bytes, of: url, configuration, acceptsDamage: true)
    }

    /// Sends the request.
    /// - Returns: the answer's head, and whether the request had an Authorization field.
    private func send(
        _ authorization: Authorization?, limit: Duration, into body: BodyBuffer
    ) async throws(ImageLoadingError) -> (head: ResponseHead, isAuthorised: Bool) {
        var request = transportRequest(authorization, limit: limit, conditions: body.conditions)
        try await context.prepare(&request)
        let isAuthorised = request.fields["authorization"] != nil
        do {
            return (try await context.transport.send(request, into: body), isAuthorised)
        } catch {
            // The whole body may have arrived before a cancellation.
            guard error.isCancelled, body.isWhole, let whole = body.head else { throw error }
            return (whole, isAuthorised)
        }
    }

    @inline(never)
    private func record(_ body: BodyBuffer) { metrics = body.metrics }

    @inline(never)
    private func transportRequest(
        _ authorization: Authorization?, limit: Duration, conditions: HeaderFields?
    ) -> TransportRequest {
        var fields = fields
        if let conditions { fields.replace(with: conditions) }
        if let authorization { fields["Authorization"] = authorization.field }
        return context.request(to: url, origin, fields, limit: limit)
    }

    /// The next step after an answer whose body is not wanted; nil for any other.
    /// - Parameter whole: the head as if the whole body had arrived in one answer.
    @inline(never)
    private func step(
        after head: ResponseHead, whole: ResponseHead, _ body: BodyBuffer, since start: FileTime
    ) throws(ImageLoadingError) -> FetchStep<DownloadedImage>? {
        if body.mustRestart {
            ignoresPartial = true
            return .again(status: head.status)
        }
        if let target = try configuration.security.redirect(head, from: url) {
            return .redirect(
                RedirectStep(
                    head: head, target: target, received: body.headTime.seconds,
                    delay: body.delay(since: start), kind: configuration.cacheKind))
        }
        if whole.status == 304, !wanted.conditions.isEmpty, !ignoresConditions,
            wanted.confirmed(by: whole) == nil
        {
            ignoresConditions = true
            return .again(status: 304)
        }
        return nil
    }

    @inline(never)
    private func image(
        _ head: ResponseHead, _ bytes: ImageBytes?, _ body: BodyBuffer, since start: FileTime,
        isAuthorised: Bool
    ) throws(ImageLoadingError) -> DownloadedImage {
        try DownloadedImage(
            // A resumed body that proves damaged is fetched whole.
            head, from: url, body: bytes, isWhole: body.isFramed || body.offset > 0, configuration,
            offset: body.offset,
            received: body.headTime.seconds, delay: body.delay(since: start), isAuthorised: isAuthorised,
            steps: steps)
    }

    /// The receiver of the body, with the partial body of an earlier transfer.
    private func makeBody() async -> BodyBuffer {
        // The body of an outdated load must not outlive it.
        let location = downloader.partials.flatMap { store in
            wanted.mayResume && !ignoresPartial && flight.isCurrent
                ? BodyStorage.PartialLocation(store: store, key: wanted.key) : nil
        }
        var earlier: PartialFile?
        if let location, location.store.mayHavePartial(of: location.key) {
            // Ignored: without a thread the transfer starts from the first byte.
            earlier =
                (try? await downloader.threads.run { [url] in
                    location.store.partial(of: location.key, from: url)
                }) ?? nil
        }
        let body = BodyBuffer(
            url: url, maximumBytes: configuration.maximumBytes, budget: downloader.budget,
            spillFolder: configuration.temporaryFolder, flight: flight, partials: location,
            earlier: earlier, threads: downloader.threads, calls: configuration.fileCalls,
            keepsAnyStatus: configuration.acceptsAnyStatus)
        context.activity.read(body, for: number)
        return body
    }

    /// The fields to send: the library's own; the configuration's and the caller's, at the request's origin; and the
    /// conditions, at the URL of the stored answer or for a request with an id, whose first URL may change.
    private var fields: HeaderFields {
        let isMoved = !steps.isEmpty || wanted.move != nil
        let isAtOrigin = !isMoved || SecurityPolicy.haveSameOrigin(url, request.url)
        var fields = isAtOrigin ? downloader.tiers.fields(for: request) : downloader.tiers.ownFields
        let isAboutStored =
            wanted.stored?.response?.url == url.absoluteString || request.id != nil && steps.isEmpty
        if !wanted.conditions.isEmpty, !ignoresConditions, isAboutStored {
            fields.replace(with: wanted.conditions)
        }
        return fields
    }
}

/// The answer of a transfer. Its body is checked to be an image, and a complete one unless HTTP says that all of the body
/// has come.
final class DownloadedImage: FetchAnswer {
    /// The status and header of the answer.
    let head: ResponseHead
    /// The URL after redirects.
    let url: URL
    /// The body; empty for an answer whose body is not kept.
    let bytes: ImageBytes
    /// Format and size; nil only for a body that is not an image, if any content is accepted.
    let header: ImageHeader?
    /// What the image lacks; nil for a complete one.
    let damage: ImageDecodingError?
    /// The bytes of the resumed partial body.
    let offset: Int
    /// When the head arrived, in seconds since 1970, and how many seconds after the request was sent.
    let received: Int
    let delay: Int
    /// Whether the request had an Authorization field.
    let isAuthorised: Bool
    /// The redirects that led to it.
    let steps: [RedirectStep]

    /// - Parameters:
    ///   - body: checked by its bytes, not by its Content-Type; nil if it is not kept.
    ///   - isWhole: whether all of the body is known to have come.
    /// - Throws: `.notAnImage`, `.truncated`.
    init(
        _ head: ResponseHead, from url: URL, body: ImageBytes?, isWhole: Bool,
        _ configuration: ImageDownloader.Configuration,
        offset: Int = 0, received: Int = 0, delay: Int = 0, isAuthorised: Bool = false,
        steps: [RedirectStep] = []
    ) throws(ImageLoadingError) {
        // Only an answer with 200 must be an image.
        let acceptsAnyContent = configuration.acceptsAnyContent || head.status != 200
        let structure = try body?.structure(
            by: configuration.decoders, url: url, isWhole: isWhole, acceptsAnyContent: acceptsAnyContent)
        header = structure?.header
        damage = structure?.damage
        bytes = body ?? ImageBytes([])
        self.head = head
        self.url = url
        self.offset = offset
        self.received = received
        self.delay = delay
        self.isAuthorised = isAuthorised
        self.steps = steps
    }
}

extension ImageBytes {
    /// The header of an image in a known format, and the damage to its structure; both nil for other content, if any is
    /// accepted.
    /// - Parameter isWhole: whether all bytes are here that there are. If not, the image's own end must be among them.
    /// - Throws: `.notAnImage`, `.truncated`.
    func structure(
        by decoders: ImageDecoders, url: URL, isWhole: Bool, acceptsAnyContent: Bool
    ) throws(ImageLoadingError) -> (header: ImageHeader?, damage: ImageDecodingError?) {
        do throws(ImageDecodingError) {
            let structure = try structure(by: decoders).get()
            if let damage = structure.damage, !isWhole { throw damage }
            return structure
        } catch {
            if acceptsAnyContent { return (nil, nil) }
            switch error {
            case .truncated: throw .truncated(url: url.displayText, received: count, expected: nil)
            case .unrecognized:
                let beginning = withBytes { ImageLoadingError.description(ofBeginning: $0) }
                throw .notAnImage(url: url.displayText, reason: beginning)
            default: throw .notAnImage(url: url.displayText, reason: error.description)
            }
        }
    }

    /// The header of an image in a known format, and the damage to its structure.
    func structure(
        by decoders: ImageDecoders
    ) -> Result<(header: ImageHeader?, damage: ImageDecodingError?), ImageDecodingError> {
        withBytes { bytes in
            Result { () throws(ImageDecodingError) in try decoders.structure(of: bytes) }
        }
    }
}

extension ImageLoadingError {
    /// A short description of bytes that are not an image.
    static func description(ofBeginning bytes: Span<UInt8>) -> String {
        var text = ""
        for index in 0..<min(bytes.count, 24) {
            let byte = bytes[index]
            guard byte < 0x7F, byte >= 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                return "its first bytes match no known format"
            }
            text.unicodeScalars.append(byte >= 0x20 ? Unicode.Scalar(byte) : " ")
        }
        if text.lowercased().contains("<html") || text.lowercased().hasPrefix("<!doctype") {
            return "it is a web page"
        }
        return "it is text: \"\(text)\""
    }
}

extension ImageLoadingError {
    /// The error of a load whose program's closure, of this name, has failed. An `ImageLoadingError` passes through. But
    /// `.cancelled`, from another load inside the closure, is a failure of this one.
    init(_ error: any Error, of closure: String, _ url: URL) {
        if Task.isCancelled {
            self = .cancelled(url: url.displayText)
        } else if let error = error as? ImageLoadingError, !error.isCancelled {
            self = error
        } else {
            self = .dataFailed(url: url.displayText, reason: "\(closure) failed: \(error)")
        }
    }
}

extension DownloadedImage {
    /// A program's own bytes, as an answer that stays fresh: the tiers treat it like other answers.
    /// - Parameter acceptsDamage: whether the image may be incomplete.
    /// - Throws: `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`.
    convenience init(
        bytes: [UInt8], of url: URL, _ configuration: ImageDownloader.Configuration, acceptsDamage: Bool
    ) throws(ImageLoadingError) {
        if bytes.isEmpty { throw .empty(url: url.displayText) }
        guard bytes.count <= configuration.maximumBytes else {
            throw .tooLarge(url: url.displayText, limit: configuration.maximumBytes)
        }
        let fields: HeaderFields = ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"]
        try self.init(
            ResponseHead(status: 200, fields: fields), from: url, body: ImageBytes(bytes),
            isWhole: acceptsDamage, configuration)
    }
}
