import FoundationEssentials
public import ImageCodecs
package import SystemSupport

/// Fetches images: one transfer per URL (and per differing fields of the request) however many callers wait for it.
/// Each caller has its own progress and may leave without harming the others; the last to leave cancels the transfer,
/// whose priority is the highest among its callers.
///
/// Waiting transfers are served by priority, then first come; so many run at once, in all and for one host, as the
/// configuration says. What is not an image, is empty, shorter than promised or larger than the limit is an error that
/// names URL and reason.
public actor ImageDownloader: SingleFlight {
    typealias Key = CacheKey
    typealias Value = DownloadedImage

    /// Limits, and what is sent with every request.
    public struct Configuration: Sendable {
        /// Transfers at once to one host and port. Default 6.
        public var transfersPerHost = 6
        /// Transfers at once in all. Default 32.
        public var transfers = 32
        /// The largest body taken, from the network or of a loader's tiers, in bytes. Default 32 MiB.
        public var maximumBytes = 32 * 1024 * 1024
        /// Bytes of bodies in memory at once, over all transfers; what exceeds them goes to a file without a name in
        /// `temporaryFolder`. Default 64 MiB.
        public var memoryForBodies = 64 * 1024 * 1024
        /// A folder for bodies that memory has no room for; nil if nothing may touch the disk. Default: the system's.
        public var temporaryFolder: String? = FileManager.default.temporaryDirectory.path
        /// A folder for what there is of bodies whose transfers broke, so that the next try, in a later process too,
        /// goes on where they stopped; nil, the default, to begin anew. A loader with a disk tier sets it to one there.
        public var partialFolder: String?
        /// The most bytes that folder may have, 512 MiB by default.
        public var partialLimit = 512 * 1024 * 1024
        /// Redirects followed for one request. Default 10.
        public var maximumRedirects = 10
        /// How long each phase of a transfer may take; waiting for a place does not count.
        public var timeouts = Timeouts()
        /// Which servers are spoken to.
        public var security = SecurityPolicy()
        /// Answers what servers ask of whom they let in; nil, the default, answers nothing. A caller's own `Authorization`
        /// goes before it.
        public var authenticator: (any Authenticator)?
        /// The formats that are asked for and recognised, and what decodes them. Formats that `ImageFormat` names are taken for
        /// images even if nothing here decodes them. Default: JPEG and PNG.
        public var decoders = ImageDecoders.standard
        /// Whether what is not an image is taken too. Default false.
        public var acceptsAnyContent = false
        /// Whether an answer of any status, empty or not, is taken as it is and not as an error: for a program that shows
        /// HTTP and not pictures. Default false.
        public var acceptsAnyStatus = false
        /// When a transfer that failed is tried again.
        public var retry = RetryPolicy()
        /// What retries go by.
        package var timing = RetryTiming.system
        /// The calls of the system for the files of bodies.
        package var fileCalls = FileCalls()
        /// Sent as `User-Agent`.
        public var userAgent = "Marquee"

        /// The defaults.
        public init() {}
    }

    /// What the downloader is doing on the network.
    public nonisolated let activity = NetworkActivity()

    /// How often one request is answered 401 and tried again: a stale nonce, a wrong password, a right one.
    private static let challengesAnswered = 3

    var flights = FlightTable<CacheKey, DownloadedImage>()
    private var queue: DownloadQueue
    /// The hops that wait for a place, by flight.
    private var waiting: [Int: Hop] = [:]
    private let transport: any Transport
    private let configuration: Configuration
    private let budget: BodyBudget
    private let partials: PartialStore?
    /// Where bodies wait for the disk.
    private let threads = BlockingThreads(count: 2, name: "LazyImages.body")
    private let broker: AuthenticationBroker?
    private var hosts: HostBudget
    /// Sent with every request, unless the caller's own replace them.
    private let ownFields: HTTPFields

    /// A downloader over `transport`.
    public init(transport: any Transport = CurlTransport(), configuration: Configuration = Configuration()) {
        self.transport = transport
        self.configuration = configuration
        queue = DownloadQueue(perHost: configuration.transfersPerHost, total: configuration.transfers)
        budget = BodyBudget(limit: configuration.memoryForBodies)
        hosts = HostBudget(configuration.retry)
        broker = configuration.authenticator.map { AuthenticationBroker($0) }
        partials = configuration.partialFolder.map {
            PartialStore(path: $0, limit: configuration.partialLimit, calls: configuration.fileCalls)
        }
        ownFields = [
            "Accept": configuration.acceptsAnyContent ? "*/*" : Self.accept(configuration.decoders),
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
        ]
    }

    /// What is decoded, ahead of other images, ahead of anything (RFC 9110 section 12.5.1).
    private static func accept(_ decoders: ImageDecoders) -> String {
        (decoders.mediaTypes + ["image/*;q=0.5", "*/*;q=0.1"]).joined(separator: ", ")
    }

    /// Fetches what `request` names, or joins the transfer that does so already. Cancelling the calling task makes only
    /// this caller leave.
    /// - Parameters:
    ///   - ticket: stands for this caller in `setPriority`.
    ///   - progress: is told how far the transfer is and finishes with it.
    /// - Throws: whatever stands between the URL and an image; `.cancelled` when the calling task is.
    public func download(
        _ request: ImageRequest, ticket: LoadTicket = LoadTicket(),
        progress: AsyncStream<TransferProgress>.Continuation? = nil
    ) async throws(ImageLoadingError) -> DownloadedImage {
        let image = try await answer(
            TransferOrder(request), ticket: ticket, listener: progress.map(ProgressListener.init))
        guard configuration.acceptsAnyStatus || image.head.status == 200 else {
            throw .httpStatus(url: image.url.displayText, status: image.head.status)
        }
        return image
    }

    /// As above, but gives the answer whatever its status; the body comes only with 200, or where any status is accepted.
    func answer(
        _ order: TransferOrder, ticket: LoadTicket, listener: ProgressListener?
    ) async throws(ImageLoadingError) -> DownloadedImage {
        try await share(order.key, of: order.request, ticket: ticket, progress: listener) { flight in
            begin(Hop(order, flight: flight))
        }
    }

    /// The fields sent for a request at its origin.
    nonisolated func fields(for request: ImageRequest) -> HTTPFields {
        var fields = ownFields
        if !request.fields.isEmpty { fields.replace(with: request.fields) }
        return fields
    }

    /// Gives the caller behind `ticket` another priority, while its transfer waits for a place too. Does nothing once
    /// the caller has its answer.
    public func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        ticket.priority = priority
        heedPriority(of: ticket)
    }

    /// What went wrong with the parts of broken bodies; nothing where none are kept.
    public nonisolated var partialCounters: PartialCounters { partials?.counters ?? PartialCounters() }

    /// How many transfers there are, those that wait for a place included.
    public var transferCount: Int { flights.count }

    func priorityMayHaveChanged(of key: CacheKey, _ flight: Flight) {
        guard let priority = flights.priority(ofFlight: key) else { return }
        queue.setPriority(priority, of: flight.number)
    }

    // MARK: Places

    /// Lines a hop up for its place, unless the policy forbids it.
    private func begin(_ hop: Hop) {
        do {
            try configuration.security.check(hop.url)
        } catch {
            land(hop.key, hop.flight, .failure(error))
            return
        }
        let number = hop.flight.number
        note(hop) { .waiting }
        waiting[number] = hop
        queue.append(number, host: hop.place, priority: flights.priority(ofFlight: hop.key) ?? .veryLow)
        startWaiting()
    }

    /// Starts every transfer that may start now.
    private func startWaiting() {
        while let number = queue.next() {
            guard let hop = waiting.removeValue(forKey: number) else { continue }
            let admission = hosts.admit(
                hop.place, now: configuration.timing.now(), insists: hop.request.insists)
            if case .refused(let until) = admission {
                queue.release(host: hop.place)
                land(hop.key, hop.flight, .failure(rest(of: hop, until: until)))
                continue
            }
            activity.begin(at: hop.place)
            let wait = hop.made.duration(to: .now)
            note(hop) { .started(queueWait: wait) }
            hop.flight.progress.begin(after: wait)
            activity.beginBody(of: number, at: hop.flight.progress)
            let task = Task { @concurrent in await fly(hop) }
            flights.setTask(task, of: hop.key, hop.flight)
        }
    }

    private func rest(of hop: Hop, until: Duration) -> ImageLoadingError {
        let seconds = max(1, Int((until - configuration.timing.now()).seconds.rounded(.up)))
        return .connectionFailed(
            url: hop.url.displayText,
            reason: "\(hop.place) has failed again and again; it is tried again in \(seconds) s")
    }

    func wasAbandoned(_ flight: Flight) {
        if queue.remove(flight.number) { waiting[flight.number] = nil }
    }

    /// A transfer has ended: its place is free, and its outcome goes to whoever waits, or its redirect is followed, or it
    /// is made once more.
    private func finish(
        _ hop: Hop, _ outcome: Result<Arrival, ImageLoadingError>, _ metrics: TransferMetrics?
    ) {
        queue.release(host: hop.place)
        note(outcome, at: hop.place)
        activity.endBody(of: hop.flight.number)
        activity.end(at: hop.place, didSucceed: outcome.isSuccess, metrics)
        note(hop) { event(outcome, metrics) }
        if flights.isUnderWay(hop.key, hop.flight), !retries(hop, outcome) {
            switch outcome {
            case .success(.answer(let answer)): land(hop.key, hop.flight, .success(answer))
            case .failure(let error): land(hop.key, hop.flight, .failure(error))
            case .success(.redirect(let step)): follow(step, from: hop)
            case .success(.uselessPart): begin(hop.anew())
            }
        }
        startWaiting()
    }

    /// Only what says that nobody is there counts against a host: one that answers badly is at work.
    private func note(_ outcome: Result<Arrival, ImageLoadingError>, at host: String) {
        switch outcome {
        case .failure(.connectionFailed), .failure(.timedOut(_, .connect, _)):
            hosts.failed(host, now: configuration.timing.now())
        // Neither says anything of the host.
        case .failure(.cancelled), .failure(.resourcesShort): hosts.gaveUp(host)
        default: hosts.succeeded(host)
        }
    }

    /// Tells those who listen what happened to a hop.
    private func note(_ hop: Hop, _ kind: () -> TransferEvent.Kind) {
        activity.note {
            TransferEvent(transfer: hop.flight.number, url: hop.url.displayText, kind: kind())
        }
    }

    private func event(
        _ outcome: Result<Arrival, ImageLoadingError>, _ metrics: TransferMetrics?
    ) -> TransferEvent.Kind {
        switch outcome {
        case .success(.answer(let answer)):
            .finished(status: answer.head.status, metrics: metrics ?? TransferMetrics())
        case .success(.redirect(let step)): .redirected(to: step.target.displayText)
        case .success(.uselessPart): .finished(status: 416, metrics: metrics ?? TransferMetrics())
        case .failure(let error): .failed(error, metrics: metrics)
        }
    }

    private func follow(_ step: RedirectStep, from hop: Hop) {
        let url = hop.request.url.displayText
        if hop.hasBeen(at: step.target) {
            let error = ImageLoadingError.redirectLoop(url: url, location: step.target.displayText)
            land(hop.key, hop.flight, .failure(error))
        } else if hop.steps.count >= configuration.maximumRedirects {
            let error = ImageLoadingError.tooManyRedirects(url: url, limit: configuration.maximumRedirects)
            land(hop.key, hop.flight, .failure(error))
        } else {
            begin(hop.followed(by: step))
        }
    }

    /// Makes a hop once more after a pause, if that may help. The flight's task waits, so that whoever leaves ends it.
    private func retries(_ hop: Hop, _ outcome: Result<Arrival, ImageLoadingError>) -> Bool {
        var retryAfter: Int?
        switch outcome {
        case .failure(let error) where RetryPolicy.isRetryable(error): break
        case .success(.answer(let answer)) where RetryPolicy.isRetryable(status: answer.head.status):
            retryAfter = RetryAfter.seconds(answer.head.fields, now: answer.received)
        default: return false
        }
        guard hop.spent < configuration.timeouts.total else { return false }
        let timing = configuration.timing
        let pause = configuration.retry.pause(
            afterTries: hop.tries, retryAfter: retryAfter, random: timing.random())
        guard let pause else { return false }
        note(hop) { .retrying(after: pause) }
        let task = Task {
            // Losing the error is right: who was cancelled has been answered already.
            guard (try? await timing.sleep(pause)) != nil else { return }
            if flights.isUnderWay(hop.key, hop.flight) { begin(hop.again()) }
        }
        flights.setTask(task, of: hop.key, hop.flight)
        return true
    }

    // MARK: One transfer

    /// Where a hop led.
    private enum Arrival {
        case answer(DownloadedImage)
        case redirect(RedirectStep)
        /// What was to be gone on with is of no use.
        case uselessPart
    }

    private nonisolated func fly(_ hop: Hop) async {
        let outcome: Result<Arrival, ImageLoadingError>
        var metrics: TransferMetrics?
        let start = configuration.timing.now()
        do {
            outcome = .success(try await answerChallenges(hop, &metrics))
        } catch {
            outcome = .failure(error)
        }
        await finish(hop.spending(configuration.timing.now() - start), outcome, metrics)
    }

    /// Fetches, and says who asks where the server wants to know: what its origin took before at once, and otherwise what
    /// the program's authenticator knows.
    private nonisolated func answerChallenges(
        _ hop: Hop, _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> Arrival {
        guard let broker, hop.request.fields["authorization"] == nil else {
            return try await fetch(hop, nil, &metrics)
        }
        var authorization = await broker.authorization(for: hop.url)
        var arrival = try await fetch(hop, authorization, &metrics)
        for _ in 0..<Self.challengesAnswered {
            guard case .answer(let answer) = arrival, answer.head.status == 401 else { break }
            let next = await broker.authorization(
                for: hop.url, asked: answer.head.fields, refused: authorization)
            guard let next else { break }
            authorization = next
            arrival = try await fetch(hop, authorization, &metrics)
        }
        return arrival
    }

    /// What an earlier transfer left that this one can go on with.
    private nonisolated func earlierPart(_ parts: BodyBuffer.Parts?, from url: URL) async -> PartialFile? {
        guard let parts, parts.store.mayHavePart(of: parts.key) else { return nil }
        // Losing the error is right: without a thread to look with, the transfer begins anew.
        return (try? await threads.run { parts.store.part(of: parts.key, from: url) }) ?? nil
    }

    /// All the time for a download has run out, over one transfer or several.
    private nonisolated func tookTooLong(_ hop: Hop) -> ImageLoadingError {
        .timedOut(url: hop.url.displayText, phase: .total, seconds: configuration.timeouts.total.seconds)
    }

    private nonisolated func fetch(
        _ hop: Hop, _ authorization: Authorization?, _ metrics: inout TransferMetrics?
    ) async throws(ImageLoadingError) -> Arrival {
        let parts = partials.flatMap { store in
            hop.order.isPlain && !hop.asksForAll ? BodyBuffer.Parts(store: store, key: hop.key) : nil
        }
        let body = BodyBuffer(
            url: hop.url, maximumBytes: configuration.maximumBytes, budget: budget,
            spillFolder: configuration.temporaryFolder, progress: hop.flight.progress,
            parts: parts,
            earlier: await earlierPart(parts, from: hop.url), calls: configuration.fileCalls,
            keepsAnyStatus: configuration.acceptsAnyStatus)
        var fields = hop.fields(ownFields)
        if let conditions = body.conditions { fields.replace(with: conditions) }
        if let authorization { fields["Authorization"] = authorization.field }
        defer { metrics = body.metrics }
        var request = TransportRequest(url: hop.url, fields: fields, timeouts: configuration.timeouts)
        request.timeouts.total -= hop.spent
        guard request.timeouts.total > .zero else { throw tookTooLong(hop) }
        request.security = configuration.security.transportSecurity(for: hop.url)
        let start = FileTime.coarseNow
        let head: ResponseHead
        do {
            head = try await transport.perform(request, into: body)
        } catch {
            // Who leaves may be scrolling past a thousand pictures.
            if case .cancelled = error {
                await body.breakOff(keepsSmall: false, on: threads)
            } else {
                await body.breakOff(keepsSmall: true, on: threads)
            }
            if case .timedOut(_, .total, _) = error { throw tookTooLong(hop) }
            throw error
        }
        if body.mustAskAnew { return .uselessPart }
        let received = body.headTime
        let delay = max(0, received.seconds(since: start))
        if let target = try configuration.security.redirect(head, from: hop.url) {
            return .redirect(
                RedirectStep(head: head, target: target, received: received.seconds, delay: delay))
        }
        var answer = DownloadedImage(head: body.head ?? head, url: hop.url)
        if answer.head.status == 200 || configuration.acceptsAnyStatus {
            // Only a 200 claims to be the picture.
            try answer.take(
                await body.finish(on: threads), checkedBy: configuration.decoders,
                acceptsAnyContent: configuration.acceptsAnyContent || answer.head.status != 200)
        }
        answer.offset = body.offset
        answer.received = received.seconds
        answer.delay = delay
        answer.steps = hop.steps
        return .answer(answer)
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { return true }
        return false
    }
}
