import FoundationEssentials
import ImageCodecs

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
        /// The largest body taken, in bytes. Default 32 MiB.
        public var maximumBytes = 32 * 1024 * 1024
        /// Bytes of bodies in memory at once, over all transfers; what exceeds them goes to a file without a name in
        /// `temporaryFolder`. Default 64 MiB.
        public var memoryForBodies = 64 * 1024 * 1024
        /// A folder for bodies that memory has no room for. Default: the system's.
        public var temporaryFolder = FileManager.default.temporaryDirectory.path
        /// Redirects followed for one request. Default 10.
        public var maximumRedirects = 10
        /// How long each phase of a transfer may take; waiting for a place does not count.
        public var timeouts = Timeouts()
        /// Which servers are spoken to.
        public var security = SecurityPolicy()
        /// Whether what is not an image is taken too. Default false.
        public var acceptsAnyContent = false
        /// Sent as `User-Agent`.
        public var userAgent = "Marquee"

        /// The defaults.
        public init() {}
    }

    /// What a flight does next: one request to one place. A redirect makes another of it.
    private struct Hop {
        let request: ImageRequest
        let url: URL
        let redirects: Int
        let flight: Flight
        /// The host and port it goes to.
        let place: String

        init(request: ImageRequest, url: URL, redirects: Int, flight: Flight) {
            self.request = request
            self.url = url
            self.redirects = redirects
            self.flight = flight
            place = SecurityPolicy.place(of: url)
        }

        /// What its flight is found by.
        var key: CacheKey { request.transferKey }

        /// Whether the caller's own fields go along.
        var isAtOrigin: Bool { redirects == 0 || SecurityPolicy.haveSameOrigin(url, request.url) }
    }

    var flights = FlightTable<CacheKey, DownloadedImage>()
    private var queue: DownloadQueue
    /// The hops that wait for a place, by flight.
    private var waiting: [Int: Hop] = [:]
    private let transport: any Transport
    private let configuration: Configuration
    private let budget: BodyBudget
    /// Sent with every request, unless the caller's own replace them.
    private let ownFields: HTTPFields

    /// A downloader over `transport`.
    public init(transport: any Transport = CurlTransport(), configuration: Configuration = Configuration()) {
        self.transport = transport
        self.configuration = configuration
        queue = DownloadQueue(perHost: configuration.transfersPerHost, total: configuration.transfers)
        budget = BodyBudget(limit: configuration.memoryForBodies)
        ownFields = [
            "Accept": configuration.acceptsAnyContent
                ? "*/*" : "image/jpeg, image/png, image/*;q=0.5, */*;q=0.1",
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
        ]
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
        try await download(request, ticket: ticket, listener: progress.map(ProgressListener.init))
    }

    func download(
        _ request: ImageRequest, ticket: LoadTicket, listener: ProgressListener?
    ) async throws(ImageLoadingError) -> DownloadedImage {
        try await share(request.transferKey, of: request, ticket: ticket, progress: listener) { flight in
            begin(Hop(request: request, url: request.url, redirects: 0, flight: flight))
        }
    }

    /// Gives the caller behind `ticket` another priority, while its transfer waits for a place too. Does nothing once
    /// the caller has its answer.
    public func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) {
        ticket.priority = priority
        heedPriority(of: ticket)
    }

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
        waiting[number] = hop
        queue.append(number, host: hop.place, priority: flights.priority(ofFlight: hop.key) ?? .veryLow)
        startWaiting()
    }

    /// Starts every transfer that may start now.
    private func startWaiting() {
        while let number = queue.next() {
            guard let hop = waiting.removeValue(forKey: number) else { continue }
            let task = Task { @concurrent in await fly(hop) }
            flights.setTask(task, of: hop.key, hop.flight)
        }
    }

    func wasAbandoned(_ flight: Flight) {
        if queue.remove(flight.number) { waiting[flight.number] = nil }
    }

    /// A transfer has ended: its place is free, and its outcome goes to whoever waits, or its redirect is followed.
    private func finish(_ hop: Hop, _ outcome: Result<Arrival, ImageLoadingError>) {
        queue.release(host: hop.place)
        switch outcome {
        case .success(.image(let image)): land(hop.key, hop.flight, .success(image))
        case .failure(let error): land(hop.key, hop.flight, .failure(error))
        case .success(.redirect(let target)) where flights.isUnderWay(hop.key, hop.flight):
            follow(target, from: hop)
        case .success(.redirect): break
        }
        startWaiting()
    }

    private func follow(_ target: URL, from hop: Hop) {
        guard hop.redirects < configuration.maximumRedirects else {
            let url = hop.request.url.displayText
            land(
                hop.key, hop.flight,
                .failure(.tooManyRedirects(url: url, limit: configuration.maximumRedirects)))
            return
        }
        begin(Hop(request: hop.request, url: target, redirects: hop.redirects + 1, flight: hop.flight))
    }

    // MARK: One transfer

    /// Where a hop led.
    private enum Arrival {
        case image(DownloadedImage)
        case redirect(URL)
    }

    private nonisolated func fly(_ hop: Hop) async {
        let outcome: Result<Arrival, ImageLoadingError>
        do {
            outcome = .success(try await fetch(hop))
        } catch {
            outcome = .failure(error)
        }
        await finish(hop, outcome)
    }

    private nonisolated func fetch(_ hop: Hop) async throws(ImageLoadingError) -> Arrival {
        let body = BodyBuffer(
            url: hop.url, maximumBytes: configuration.maximumBytes, budget: budget,
            spillFolder: configuration.temporaryFolder, progress: hop.flight.progress)
        let request = TransportRequest(
            url: hop.url, fields: fields(for: hop), timeouts: configuration.timeouts)
        let head = try await transport.perform(request, into: body)
        if let target = try configuration.security.redirect(head, from: hop.url) { return .redirect(target) }
        guard head.status == 200 else { throw .httpStatus(url: hop.url.displayText, status: head.status) }
        return .image(
            try DownloadedImage(
                checking: body.finish(), head: head, url: hop.url,
                acceptsAnyContent: configuration.acceptsAnyContent))
    }

    /// The library's own fields, and the caller's where the request is still at its origin.
    private nonisolated func fields(for hop: Hop) -> HTTPFields {
        var fields = ownFields
        guard hop.isAtOrigin, !hop.request.fields.isEmpty else { return fields }
        for field in hop.request.fields.fields { fields[field.name] = nil }
        for field in hop.request.fields.fields { fields.append(field) }
        return fields
    }
}
