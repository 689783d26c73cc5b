import Coalescing
public import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// Sends requests that write, with the configuration of an ``ImageDownloader``: the same transport security,
/// authentication, limits, timeouts and retries.
///
///     let uploader = Uploader(loader)
///     let film = try UploadRequest("http://localhost:8080/films", .post, .bytes(json, mediaType: "application/json"))
///     let response = try await uploader.upload(film)
///
/// Equal requests are never shared. A request is sent again, with its whole body, only if that is safe: after a
/// failure, if it may be repeated (GET, PUT, DELETE) or did not reach the server; after a 401 for which the
/// authenticator has a credential; and after a 307 or 308 to the same origin. A 307 or 308 to another origin is
/// `.redirectRefused`. A 303, and a 301 or 302 of a POST, is followed by a GET.
///
/// A successful write (2xx or 3xx) invalidates its URL in the loader's caches, and the URLs in `Location` and
/// `Content-Location` at the same origin (RFC 9111 section 4.4).
///
/// Safe for concurrent use from any thread or actor.
public final class Uploader: Sendable {
    /// The network activity of this uploader.
    package let activity: NetworkActivity

    let context: FetchContext
    private let invalidate: @Sendable (URL, HeaderFields) async -> Void
    /// Open the files of bodies.
    private let threads = BlockingThreads(count: 2, name: "LazyImages.upload")

    /// An uploader with the configuration, transport, slots and credentials of a loader, whose caches it invalidates.
    /// - Parameter loader: the image loader. Default: the shared one.
    public convenience init(_ loader: ImageLoader = .shared) {
        self.init(loader.files.downloader.context.sibling) { await loader.invalidate($0, fields: $1) }
    }

    /// As above, for a file loader.
    /// - Parameter files: the file loader.
    public convenience init(_ files: FileLoader) {
        self.init(files.downloader.context.sibling) { await files.invalidate($0, fields: $1) }
    }

    private init(
        _ context: FetchContext, invalidate: @escaping @Sendable (URL, HeaderFields) async -> Void
    ) {
        self.context = context
        activity = context.activity
        self.invalidate = invalidate
    }

    /// Sends a request, and returns the answer, whatever its status. Cancelling the calling task cancels the upload.
    /// - Parameter request: the request to send.
    /// - Throws: the reason why there is no answer.
    public func upload(_ request: UploadRequest) async throws(ImageLoadingError) -> UploadResponse {
        try await task(for: request).value
    }

    /// Begins to send a request. Returns at once.
    /// - Parameter request: the request to send.
    public func task(for request: UploadRequest) -> UploadTask {
        let flight = UploadFlight { .cancelled(url: request.url.displayText) }
        let caller = flight.firstCaller(ImageRequest.Priority.normal.rank)
        flight.run { [self] () throws(ImageLoadingError) in try await run(request, flight) }
        return UploadTask(request, caller)
    }

    private func run(
        _ request: UploadRequest, _ flight: UploadFlight
    ) async throws(ImageLoadingError) -> UploadResponse {
        let body = try await open(request.body)
        let fetch = Fetch(
            context: context, number: context.slots.makeNumber(),
            exchange: Upload(request, body, flight, self), priority: { flight.priority }, started: { _ in },
            giveUp: { flight.finish(.failure($0)) })
        return try await fetch.run()
    }

    private func open(_ body: UploadBody?) async throws(ImageLoadingError) -> OpenBody? {
        guard let body else { return nil }
        return try await threads.run({ ImageLoadingError($0, url: "the body") }) {
            () throws(ImageLoadingError) in try body.open()
        }
    }

    /// Invalidates what a successful write has changed.
    func invalidate(
        after head: ResponseHead, to url: URL, _ method: RequestMethod, _ fields: HeaderFields
    ) async {
        guard UploadRules.invalidates(method, status: head.status) else { return }
        await invalidate(url, fields)
        for name in ["location", "content-location"] {
            // Ignored: text that is not a URL names no cached file.
            guard let value = head.fields[name], let target = try? URL(typed: value, relativeTo: url),
                SecurityPolicy.haveSameOrigin(target, url)
            else { continue }
            await invalidate(target, fields)
        }
    }
}

/// One upload. It begins with the task.
///
///     let task = uploader.task(for: request)
///     for await progress in task.progress { show(progress.sent, of: progress.total) }
///     let response = try await task.value
///
/// Safe for concurrent use from any thread or actor. Releasing a task does not cancel it; ``cancel()`` does.
public final class UploadTask: Sendable {
    /// The request of the upload.
    public let request: UploadRequest

    private let caller: UploadFlight.Caller

    init(_ request: UploadRequest, _ caller: UploadFlight.Caller) {
        self.request = request
        self.caller = caller
    }

    /// The server's answer. Cancelling a task that waits for it cancels this upload.
    /// - Throws: the reason why there is no answer; `.cancelled` after ``cancel()``. The server may have performed the
    ///   write all the same.
    public var value: UploadResponse {
        get async throws(ImageLoadingError) { try await caller.value }
    }

    /// The progress of the upload. A slow reader gets only the newest value. Ends with the upload. Each use makes a new
    /// sequence.
    public var progress: AsyncStream<UploadProgress> {
        caller.stream(.bufferingNewest(1)) { event in
            if case .sent(let progress) = event { progress } else { nil }
        }
    }

    /// Cancels the upload. Does nothing once it has finished.
    public func cancel() { caller.leave() }
}

/// A request that writes: method, URL, header fields and body.
///
///     try UploadRequest("http://localhost:8080/films", .post, .bytes(json, mediaType: "application/json"))
///     UploadRequest(url: film, .put, .file("poster.jpg", mediaType: "image/jpeg"), fields: ["If-Match": tag])
public struct UploadRequest: Sendable {
    /// The default of ``answerLimit``: 16 MiB.
    private static let standardAnswerLimit = 16 * 1024 * 1024

    /// The https or http URL. A user name and password in it have moved to ``fields``.
    public let url: URL
    /// The method.
    public let method: RequestMethod
    /// The body; nil for none.
    public let body: UploadBody?
    /// The caller's header fields, such as `If-Match`. A redirect to another origin does not send them.
    /// `Content-Length`, `Transfer-Encoding` and `Expect` are ignored.
    public var fields: HeaderFields
    /// The most bytes to keep of the answer's body. Default: 16 MiB.
    public var answerLimit = standardAnswerLimit
    /// Whether the request may reach the server twice, and so is sent again after its answer is lost. Default: whether
    /// its method is idempotent. Set it for a POST that names the resource it creates, or a PATCH with `If-Match`.
    public var mayBeRepeated: Bool
    /// Whether 500 is a normal answer and not a temporary failure, as in SOAP, whose faults all have it (SOAP 1.1
    /// section 6.2). Default: false.
    package var isAnsweredBy500 = false

    /// A request with these parts.
    /// - Parameters:
    ///   - url: an https or http URL.
    ///   - method: the method.
    ///   - body: the body. Default: nil, none.
    ///   - fields: the caller's header fields. Default: none.
    public init(
        url: URL, _ method: RequestMethod, _ body: UploadBody? = nil, fields: HeaderFields = HeaderFields()
    ) {
        var fields = fields
        self.url = ImageRequest.movingCredentials(of: url, into: &fields)
        self.method = method
        mayBeRepeated = method.isIdempotent
        self.body = body
        self.fields = fields
    }

    /// A request for a URL as a person types it, read by `URL(typed:relativeTo:)`.
    /// - Parameters:
    ///   - text: the URL, as a person types it.
    ///   - method: the method.
    ///   - body: the body. Default: nil, none.
    ///   - fields: the caller's header fields. Default: none.
    /// - Throws: `.invalidURL`, `.unsupportedScheme`.
    public init(
        _ text: String, _ method: RequestMethod, _ body: UploadBody? = nil,
        fields: HeaderFields = HeaderFields()
    ) throws(ImageLoadingError) {
        self.init(url: try URL(typed: text), method, body, fields: fields)
    }
}

/// The answer to an upload, with any status.
public struct UploadResponse: Sendable {
    /// Status and header.
    package let head: ResponseHead
    /// The body of the answer, up to the request's limit.
    public let body: [UInt8]
    /// Whether the body is complete: false if it exceeds the limit, or if the connection was lost after the header.
    public let isWhole: Bool
    /// The URL after redirects.
    public let url: URL
    /// Whether an earlier attempt may have taken effect already, because its answer was lost or asked for another.
    package let isRepeated: Bool
    /// When the header arrived, in seconds since 1970.
    let received: Int

    /// The answer's status.
    public var status: Int { head.status }
    /// The answer's header.
    public var fields: HeaderFields { head.fields }
}
