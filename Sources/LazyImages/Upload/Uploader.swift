import Coalescing
import FoundationEssentials
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
    /// - Parameter loader: the image loader.
    public convenience init(_ loader: ImageLoader) {
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
        guard request.method.isToken else {
            throw .invalidURL(
                text: request.url.displayText, reason: "\"\(request.method.rawValue)\" is not a valid method")
        }
        let body = try await open(request.body)
        let fetch = Fetch(
            context: context, number: context.slots.makeNumber(),
            exchange: Upload(request, body, flight, self), priority: { flight.priority }, started: { _ in },
            giveUp: { flight.finish(.failure($0)) })
        return try await fetch.run()
    }

    private func open(_ body: UploadBody?) async throws(ImageLoadingError) -> OpenBody? {
        guard let body else { return nil }
        let opened: Result<OpenBody, ImageLoadingError>
        do {
            opened = try await threads.run {
                Result { () throws(ImageLoadingError) in try body.open() }
            }
        } catch {
            throw ImageLoadingError(error, url: "the body")
        }
        return try opened.get()
    }

    /// Invalidates what a successful write has changed.
    func invalidate(
        after head: ResponseHead, to url: URL, _ method: HTTPMethod, _ fields: HeaderFields
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
