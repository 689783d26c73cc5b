import Coalescing
import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// Fetches until there is an answer: follows redirects, answers challenges, and retries failures with backoff.
///
///     slot -> another process's claim? -> attempt -> slot is left
///                                            |-- redirect         -> the target
///                                            |-- challenge        -> the authenticator's credential
///                                            |-- again            -> the same without a condition or a range
///                                            |-- temporary failure-> a pause
///                                            `-- answer, error    -> the end
///
/// A slot is held only during an attempt: not while another process fetches, while credentials are asked for, or during
/// a pause. Work that comes back keeps its number, and so its place before later work.
///
/// The deadline frees callers and slot when a transport, or a request's closure, does not end by the total timeout.
///
/// What does not wait is not inlined, here and in `Download`: the variables of an async function lie in the task's memory
/// and not on the stack. Inlined, a fetch needs 16 KB of it instead of 4, in blocks too large for the allocator's cache
/// of a thread.
struct Fetch<Exchange: FetchExchange> {
    let context: FetchContext
    /// The number of the work, from `SlotQueue.makeNumber`.
    let number: Int
    let exchange: Exchange
    /// Reads the present priority.
    let priority: @Sendable () -> Int
    /// Receives the time that all attempts have waited for slots, when an attempt has its slot.
    let started: (Duration) -> Void
    /// Ends the flight while an attempt still runs.
    let giveUp: @Sendable (ImageLoadingError) -> Void

    /// The most attempts after a 401: for a stale nonce, a wrong password, and the right one.
    private static var mostChallenges: Int { 3 }
    /// The transport ends a transfer at the time limit, and keeps what has arrived. It must come before the deadline.
    private static var grace: Duration { .seconds(1) }

    private var configuration: ImageDownloader.Configuration { context.configuration }
    private var timeout: Duration { configuration.timeouts.total }

    /// - Throws: the final error; `.cancelled` once the task is cancelled.
    func run() async throws(ImageLoadingError) -> Exchange.Value {
        let broker = exchange.mayAuthenticate ? context.broker : nil
        var (tries, challenges) = (1, 0)
        var (spent, queued) = (Duration.zero, Duration.zero)
        var authorization: Authorization?
        var visited = [exchange.url]
        while true {
            try checkAddress()
            if challenges == 0 { authorization = await broker?.authorization(for: exchange.url) }
            let since = ContinuousClock.now
            record { .waiting }
            var slot = try await enter()
            if await !exchange.mayStart() {
                slot.leave(.inconclusive)
                if let value = try await exchange.settle() { return value }
                slot = try await enter()
            }
            start(since, &queued)
            let (step, duration) = await attempt(authorization, limit: timeout - spent)
            slot.leave(report(step))
            spent += duration

            let isAbandoned = Task.isCancelled
            let retryPause: Duration
            switch step {
            case .success(.redirect(let redirect)) where !isAbandoned:
                try add(redirect, to: &visited)
                try await exchange.follow(redirect)
                challenges = 0
                continue
            case .success(.again) where !isAbandoned:
                challenges = 0
                continue
            case .success(.answer(let answer)):
                if answer.head.status == 401, let broker, challenges < Self.mostChallenges, !isAbandoned,
                    let next = await broker.authorization(
                        for: exchange.url, asked: answer.head.fields, refused: authorization)
                {
                    (authorization, challenges) = (next, challenges + 1)
                    continue
                }
                guard !isAbandoned, let pause = await pause(tries, spent, after: answer) else {
                    return await exchange.value(of: answer)
                }
                retryPause = pause
            case .failure(let error):
                guard !isAbandoned, let pause = await pause(tries, spent, after: .error(error)) else {
                    throw error
                }
                retryPause = pause
            default: throw cancelled
            }
            try await sleep(retryPause)
            (tries, challenges) = (tries + 1, 0)
        }
    }

    /// Reports that an attempt has its slot.
    @inline(never)
    private func start(_ since: ContinuousClock.Instant, _ queued: inout Duration) {
        let wait = since.duration(to: .now)
        queued += wait
        record { .started(queueWait: wait) }
        started(queued)
    }

    private func enter() async throws(ImageLoadingError) -> Slot {
        do {
            return try await context.slots.enter(
                number, host: exchange.host, overrides: exchange.overridesCircuitBreaker, priority: priority)
        } catch {
            throw self.error(for: error)
        }
    }

    @inline(never)
    private func error(for refusal: SlotQueue.Refusal) -> ImageLoadingError {
        let url = exchange.url.displayText
        switch refusal {
        case .cancelled: return .cancelled(url: url)
        case .hostFails(let pause):
            let seconds = max(1, Int(pause.seconds.rounded(.up)))
            return .connectionFailed(
                url: url, reason: "\(exchange.host) has failed repeatedly; the next try is in \(seconds) s")
        }
    }

    /// One attempt, which has its slot.
    private func attempt(
        _ authorization: Authorization?, limit: Duration
    ) async -> (step: Result<FetchStep<Exchange.Answer>, ImageLoadingError>, Duration) {
        guard limit > .zero else {
            let step = Result<FetchStep<Exchange.Answer>, _>.failure(context.tookTooLong(exchange.url))
            record { event(step, nil) }
            return (step, .zero)
        }
        context.activity.start(host: exchange.host)
        let deadline = context.deadlines.add(after: limit + Self.grace) {
            [number, context, giveUp, url = exchange.url] in
            context.activity.recordAbandoned()
            giveUp(context.tookTooLong(url))
            context.slots.revoke(number)
        }
        let start = configuration.timing.now()
        var step: Result<FetchStep<Exchange.Answer>, ImageLoadingError>
        do {
            step = .success(try await exchange.attempt(authorization, limit: limit))
        } catch {
            step = .failure(error)
            if case .timedOut(_, .total, _) = error { step = .failure(context.tookTooLong(exchange.url)) }
        }
        context.deadlines.remove(deadline)
        let duration = configuration.timing.now() - start
        end(step)
        return (step, duration)
    }

    /// Counts and reports the end of an attempt.
    @inline(never)
    private func end(_ step: Result<FetchStep<Exchange.Answer>, ImageLoadingError>) {
        let metrics = exchange.metrics
        context.activity.end(number, host: exchange.host, didSucceed: step.isSuccess, metrics)
        record { event(step, metrics) }
    }

    /// How long to wait before a retry; nil if the answer is final.
    @inline(never)
    private func pause(
        _ tries: Int, _ spent: Duration, after answer: Exchange.Answer
    ) async -> Duration? {
        guard answer.head.status >= 400 else { return nil }
        return await pause(
            tries, spent, after: .status(answer.head.status),
            retryAfter: RetryAfter.seconds(answer.head.fields, now: answer.received))
    }

    /// How long to wait before a retry; nil for no retry.
    @inline(never)
    private func pause(
        _ tries: Int, _ spent: Duration, after reason: FailedAttempt.Reason, retryAfter: Int? = nil
    ) async -> Duration? {
        guard spent < timeout, exchange.retries(after: reason) else { return nil }
        if let strategy = configuration.retryStrategy {
            return await strategy.pause(
                after: FailedAttempt(
                    url: exchange.url.displayText, reason: reason, attempts: tries, elapsed: spent,
                    retryAfter: retryAfter))
        }
        return configuration.retry.pause(
            afterTries: tries, retryAfter: retryAfter, random: configuration.timing.random())
    }

    private func sleep(_ pause: Duration) async throws(ImageLoadingError) {
        record { .retrying(after: pause) }
        do { try await configuration.timing.sleep(pause) } catch { throw cancelled }
    }

    private var cancelled: ImageLoadingError {
        @inline(never) get { .cancelled(url: exchange.url.displayText) }
    }

    @inline(never)
    private func checkAddress() throws(ImageLoadingError) {
        if !exchange.host.isEmpty { try configuration.security.check(exchange.url) }
    }

    /// Adds the target to the visited URLs.
    /// - Throws: `.redirectLoop`, `.tooManyRedirects`.
    @inline(never)
    private func add(_ redirect: RedirectStep, to visited: inout [URL]) throws(ImageLoadingError) {
        let url = visited[0].displayText
        let address = CanonicalURL.text(of: redirect.target.absoluteString)
        if !exchange.changesMethod(redirect),
            visited.contains(where: { CanonicalURL.text(of: $0.absoluteString) == address })
        {
            throw .redirectLoop(url: url, location: redirect.target.displayText)
        }
        if visited.count > configuration.maximumRedirects {
            throw .tooManyRedirects(url: url, limit: configuration.maximumRedirects)
        }
        visited.append(redirect.target)
    }

    /// What an attempt says about its host. Only a host that does not answer has failed: one that answers with an error
    /// works.
    @inline(never)
    private func report(_ step: Result<FetchStep<Exchange.Answer>, ImageLoadingError>) -> HostReport {
        if exchange.host.isEmpty { return .inconclusive }
        return switch step {
        case .failure(.connectionFailed), .failure(.timedOut(_, .connect, _)): .failed
        case .failure(.cancelled), .failure(.resourcesShort), .failure(.addressRefused),
            .failure(.fileChanged), .failure(.unreadableFile), .failure(.invalidField):
            .inconclusive
        default: .answered
        }
    }

    @inline(never)
    private func event(
        _ step: Result<FetchStep<Exchange.Answer>, ImageLoadingError>, _ metrics: TransferMetrics?
    ) -> TransferEvent.Kind {
        switch step {
        case .success(.answer(let answer)):
            .finished(status: answer.head.status, metrics: metrics ?? TransferMetrics())
        case .success(.redirect(let redirect)): .redirected(to: redirect.target.displayText)
        case .success(.again(let status)): .finished(status: status, metrics: metrics ?? TransferMetrics())
        case .failure(let error): .failed(error, metrics: metrics)
        }
    }

    @inline(never)
    private func record(_ kind: () -> TransferEvent.Kind) {
        context.activity.record {
            TransferEvent(transfer: number, url: exchange.url.displayText, kind: kind())
        }
    }
}

/// What the fetches of a downloader or an uploader share. A class, since it is large and every fetch has it.
final class FetchContext: Sendable {
    let configuration: ImageDownloader.Configuration
    let transport: any Transport
    let broker: AuthenticationBroker?
    let slots: SlotQueue
    /// On the system's clock, whatever the configuration's is: they end what really does not end.
    let deadlines = Deadlines(now: RetryTiming.system.now, sleep: RetryTiming.system.sleep)
    let activity: NetworkActivity

    convenience init(_ configuration: ImageDownloader.Configuration, _ transport: any Transport) {
        self.init(
            configuration, transport, configuration.authenticator.map { AuthenticationBroker($0) },
            configuration.slots ?? configuration.makeSlots())
    }

    private init(
        _ configuration: ImageDownloader.Configuration, _ transport: any Transport,
        _ broker: AuthenticationBroker?, _ slots: SlotQueue
    ) {
        self.configuration = configuration
        self.transport = transport
        self.broker = broker
        self.slots = slots
        activity = NetworkActivity(observer: configuration.onTransferEvent)
    }

    /// A context with the same slots and credentials, but its own activity.
    var sibling: FetchContext { FetchContext(configuration, transport, broker, slots) }

    /// The error of a fetch that has used up its time. A transport knows only what was left for its attempt.
    fileprivate func tookTooLong(_ url: URL) -> ImageLoadingError {
        .timedOut(url: url.displayText, phase: .total, seconds: configuration.timeouts.total.seconds)
    }

    /// Makes a caller leave its flight after a time.
    func limit<Value>(
        _ caller: Flight<Value, ImageLoadingError, LoadEvent>.Caller, to limit: Duration,
        _ request: ImageRequest
    ) {
        let phase = Lock(Timeouts.Phase.total)
        let number = deadlines.add(after: limit) {
            caller.leave(
                because: .timedOut(
                    url: request.url.displayText, phase: phase.withLock(\.self), seconds: limit.seconds))
        }
        caller.listen(
            LoadListener { [deadlines] event in
                switch event {
                case .file: phase.withLock { $0 = .decoding }
                case nil: deadlines.remove(number)
                default: break
                }
            })
    }

    /// Lets the program change a request, last of all.
    /// - Throws: `.cancelled`, `.redirectRefused` for another origin, `.dataFailed`.
    func prepare(_ request: inout TransportRequest) async throws(ImageLoadingError) {
        guard let change = configuration.beforeSending else { return }
        let url = request.url
        do { try await change(&request) } catch { throw ImageLoadingError(error, of: "beforeSending", url) }
        if request.url != url { request.messageURL = url.displayText }
        guard SecurityPolicy.haveSameOrigin(request.url, url) else {
            throw .redirectRefused(
                url: url.displayText, location: WebOrigin(request.url).hostAndPort,
                reason: "beforeSending may not change the origin")
        }
    }

    /// A request with the limits of the configuration.
    /// - Parameter origin: that of the URL.
    func request(
        to url: URL, _ origin: WebOrigin, _ fields: HeaderFields, limit: Duration
    ) -> TransportRequest {
        var request = TransportRequest(
            url: url, fields: fields, timeouts: configuration.timeouts,
            security: configuration.security.transportSecurity(for: origin),
            addresses: configuration.security.fetchGuard?.addresses)
        request.timeouts.total = limit
        return request
    }
}

/// What a fetch sends, and what the answers mean: a download or an upload. Used by one task.
protocol FetchExchange: AnyObject {
    associatedtype Answer: FetchAnswer
    associatedtype Value: Sendable

    /// The present URL.
    var url: URL { get }
    /// The host and port; empty for work without a host.
    var host: String { get }
    /// Whether challenges are answered: not if the request has its own `Authorization`.
    var mayAuthenticate: Bool { get }
    var overridesCircuitBreaker: Bool { get }
    /// The metrics of the last attempt; nil for one without a transfer.
    var metrics: TransferMetrics? { get }

    /// Whether the fetch may begin, now that it has a slot. If not, `settle` follows, without the slot.
    func mayStart() async -> Bool
    /// Waits until the fetch may begin; a value if another process has fetched meanwhile.
    func settle() async throws(ImageLoadingError) -> Value?
    /// Sends the request once.
    func attempt(
        _ authorization: Authorization?, limit: Duration
    ) async throws(ImageLoadingError) -> FetchStep<Answer>
    func retries(after failure: FailedAttempt.Reason) -> Bool
    /// Whether following the redirect changes the method, so that the target may have been visited before.
    func changesMethod(_ redirect: RedirectStep) -> Bool
    /// Goes on at the redirect's target.
    func follow(_ redirect: RedirectStep) async throws(ImageLoadingError)
    /// The value of the final answer.
    func value(of answer: Answer) async -> Value
}

/// The result of one attempt.
enum FetchStep<Answer: Sendable>: Sendable {
    case answer(Answer)
    /// Indirect, since it is large, and rare.
    indirect case redirect(RedirectStep)
    /// The request must be sent again in another form. `status` is that of the answer.
    case again(status: Int)
}

/// The answer to a fetch.
protocol FetchAnswer: Sendable {
    var head: ResponseHead { get }
    /// When the head arrived, in seconds since 1970.
    var received: Int { get }
}
