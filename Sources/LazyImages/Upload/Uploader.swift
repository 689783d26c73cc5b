import FoundationEssentials
import HTTPSemantics
import Synchronization
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
    typealias Work = SharedTask<UploadResponse>

    /// The network activity of this uploader.
    public let activity = NetworkActivity()

    let configuration: ImageDownloader.Configuration
    let transport: any Transport
    let broker: AuthenticationBroker?
    private let invalidate: @Sendable (URL, HTTPFields) async -> Void
    private let slots: UploadSlots
    private let lastNumber = Atomic(0)
    /// Open the files of bodies.
    private let threads = BlockingThreads(count: 2, name: "LazyImages.upload")

    /// An uploader without a cache.
    /// - Parameters:
    ///   - configuration: the settings, as for downloads.
    ///   - transport: makes the HTTP requests. Default: libcurl.
    public convenience init(
        configuration: ImageDownloader.Configuration = ImageDownloader.Configuration(),
        transport: any Transport = CurlTransport()
    ) {
        self.init(
            configuration, transport, configuration.authenticator.map { AuthenticationBroker($0) },
            invalidate: { _, _ in })
    }

    /// An uploader with the configuration, transport and credentials of a loader, whose caches it invalidates.
    /// - Parameter loader: the image loader.
    public convenience init(_ loader: ImageLoader) {
        self.init(loader.files) { await loader.invalidate($0, fields: $1) }
    }

    /// As above, for a file loader.
    /// - Parameter files: the file loader.
    public convenience init(_ files: FileLoader) {
        self.init(files) { await files.invalidate($0, fields: $1) }
    }

    private convenience init(
        _ files: FileLoader, invalidate: @escaping @Sendable (URL, HTTPFields) async -> Void
    ) {
        let downloader = files.downloader
        self.init(
            downloader.configuration, downloader.transport, downloader.broker, invalidate: invalidate)
    }

    private init(
        _ configuration: ImageDownloader.Configuration, _ transport: any Transport,
        _ broker: AuthenticationBroker?, invalidate: @escaping @Sendable (URL, HTTPFields) async -> Void
    ) {
        self.configuration = configuration
        self.transport = transport
        self.broker = broker
        self.invalidate = invalidate
        slots = UploadSlots(configuration)
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
        let work = Work(number: lastNumber.add(1, ordering: .relaxed).newValue, url: request.url)
        // Joining new work never fails.
        let caller = work.join(.normal) ?? 0
        work.run({ [self] () throws(ImageLoadingError) in try await run(request, work) }, finish: work.finish)
        return UploadTask(request, work, caller: caller)
    }

    // MARK: One upload

    /// Makes attempts until one has an answer or a final error.
    private func run(_ request: UploadRequest, _ work: Work) async throws(ImageLoadingError) -> UploadResponse
    {
        guard request.method.isToken else {
            throw .invalidURL(
                text: request.url.displayText, reason: "\"\(request.method.rawValue)\" is not a valid method")
        }
        var attempt = UploadAttempt(request, try await open(request.body))
        var spent = Duration.zero
        while true {
            let start = configuration.timing.now()
            let outcome = await perform(attempt, work, spent: spent)
            spent += configuration.timing.now() - start
            if let pause = pause(after: outcome, of: attempt, spent: spent) {
                note(work, attempt) { .retrying(after: pause) }
                do { try await configuration.timing.sleep(pause) } catch {
                    throw .cancelled(url: attempt.url.displayText)
                }
                attempt.retry()
                continue
            }
            let answer = try outcome.get()
            await invalidate(after: answer.head, to: attempt)
            guard try follow(answer.head, from: &attempt) else {
                return UploadResponse(
                    head: answer.head, body: answer.body, isWhole: answer.isWhole, url: attempt.url,
                    isRepeated: attempt.tries > 1)
            }
            note(work, attempt) { .redirected(to: attempt.url.displayText) }
        }
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

    /// One attempt, from its slot to its answer.
    private func perform(
        _ attempt: UploadAttempt, _ work: Work, spent: Duration
    ) async -> Result<UploadAnswer, ImageLoadingError> {
        let url = attempt.url.displayText
        do throws(ImageLoadingError) { try configuration.security.check(attempt.url) } catch {
            return .failure(error)
        }
        note(work, attempt) { .waiting }
        let since = ContinuousClock.now
        switch await slots.take(work.number, host: attempt.host) {
        case .allowed: break
        case .cancelled: return .failure(.cancelled(url: url))
        case .refused(let pause):
            let seconds = max(1, Int(pause.seconds.rounded(.up)))
            let reason = "\(attempt.host) has failed repeatedly; the next try is in \(seconds) s"
            return .failure(.connectionFailed(url: url, reason: reason))
        }
        let wait = since.duration(to: .now)
        note(work, attempt) { .started(queueWait: wait) }
        activity.begin(work, host: attempt.host)
        var metrics: TransferMetrics?
        let outcome: Result<UploadAnswer, ImageLoadingError>
        do throws(ImageLoadingError) {
            outcome = .success(try await exchange(attempt, work, spent: spent, &metrics))
        } catch {
            outcome = .failure(error)
        }
        await end(attempt, work, outcome, metrics)
        return outcome
    }

    private func end(
        _ attempt: UploadAttempt, _ work: Work, _ outcome: Result<UploadAnswer, ImageLoadingError>,
        _ metrics: TransferMetrics?
    ) async {
        var isUp: Bool? = true
        switch outcome {
        case .success(let answer):
            note(work, attempt) {
                .finished(status: answer.head.status, metrics: metrics ?? TransferMetrics())
            }
        case .failure(let error):
            switch error {
            case .connectionFailed, .timedOut(_, .connect, _): isUp = false
            // These say nothing about the host.
            case .cancelled, .resourcesShort, .addressRefused, .fileChanged, .unreadableFile: isUp = nil
            default: break
            }
            note(work, attempt) { .failed(error, metrics: metrics) }
        }
        activity.end(work, host: attempt.host, didSucceed: outcome.isSuccess, metrics)
        await slots.giveBack(host: attempt.host, isUp: isUp)
    }

    // MARK: What follows

    /// How long to wait before a retry; nil for no retry.
    private func pause(
        after outcome: Result<UploadAnswer, ImageLoadingError>, of attempt: UploadAttempt, spent: Duration
    ) -> Duration? {
        var retryAfter: Int?
        switch outcome {
        case .failure(let error):
            guard UploadRules.retries(after: error, mayBeRepeated: attempt.mayBeRepeated) else { return nil }
        case .success(let answer):
            guard answer.head.status != 500 || !attempt.request.isAnsweredBy500,
                UploadRules.retries(
                    afterStatus: answer.head.status, mayBeRepeated: attempt.mayBeRepeated)
            else { return nil }
            retryAfter = RetryAfter.seconds(answer.head.fields, now: answer.received)
        }
        guard spent < configuration.timeouts.total else { return nil }
        return configuration.retry.pause(
            afterTries: attempt.tries, retryAfter: retryAfter, random: configuration.timing.random())
    }

    /// Follows a redirect; false if the answer is not one.
    private func follow(
        _ head: ResponseHead, from attempt: inout UploadAttempt
    ) throws(ImageLoadingError) -> Bool {
        guard [301, 302, 303, 307, 308].contains(head.status),
            let target = try configuration.security.redirect(head, from: attempt.url)
        else { return false }
        let rule = UploadRules.redirect(
            status: head.status, method: attempt.method,
            staysAtOrigin: SecurityPolicy.haveSameOrigin(target, attempt.url))
        let url = attempt.request.url.displayText
        switch rule {
        case .none: return false
        case .refused:
            throw .redirectRefused(
                url: url, location: target.displayText, reason: "a body must not be sent to another origin")
        case .get, .again:
            if attempt.hasBeen(at: target, asGet: rule == .get) {
                throw .redirectLoop(url: url, location: target.displayText)
            }
            if attempt.steps.count >= configuration.maximumRedirects {
                throw .tooManyRedirects(url: url, limit: configuration.maximumRedirects)
            }
            attempt.follow(to: target, asGet: rule == .get)
            return true
        }
    }

    private func invalidate(after head: ResponseHead, to attempt: UploadAttempt) async {
        guard UploadRules.invalidates(attempt.method, status: head.status) else { return }
        await invalidate(attempt.url, attempt.request.fields)
        for name in ["location", "content-location"] {
            // Losing the error is right: text that is not a URL names no cached file.
            guard let value = head.fields[name], let url = try? URL(typed: value, relativeTo: attempt.url),
                SecurityPolicy.haveSameOrigin(url, attempt.url)
            else { continue }
            await invalidate(url, attempt.request.fields)
        }
    }

    private func note(_ work: Work, _ attempt: UploadAttempt, _ kind: () -> TransferEvent.Kind) {
        activity.note {
            TransferEvent(transfer: work.number, url: attempt.url.displayText, kind: kind())
        }
    }
}
