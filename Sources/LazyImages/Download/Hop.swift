import FoundationEssentials

/// What a flight of the downloader does next: one request to one place. A redirect makes another of it, and a failure may.
struct Hop {
    let order: TransferOrder
    let url: URL
    let flight: Flight
    /// What led here, and nothing if the hop is the first.
    private(set) var steps: [RedirectStep] = []
    /// Which try it is, from 1.
    private(set) var tries = 1
    /// Whether nothing is to be gone on with: it was tried, and all is to be asked for.
    private(set) var asksForAll = false
    /// How long the transfers before it took together, those of the same and those that led here.
    private(set) var spent = Duration.zero
    /// The host and port it goes to.
    let place: String
    /// When it lined up for its place.
    private(set) var made = ContinuousClock.now

    private init(_ order: TransferOrder, _ url: URL, _ flight: Flight) {
        self.order = order
        self.url = url
        self.flight = flight
        place = SecurityPolicy.place(of: url)
    }

    /// The first one.
    init(_ order: TransferOrder, flight: Flight) {
        let moved = order.move.flatMap { URL(string: $0.url) }
        self.init(order, moved ?? order.request.url, flight)
    }

    /// The one a redirect leads to.
    func followed(by step: RedirectStep) -> Hop {
        var next = Hop(order, step.target, flight)
        next.steps = steps + [step]
        next.tries = tries
        next.spent = spent
        return next
    }

    /// The same once more, after a failure.
    func again() -> Hop {
        var next = self
        next.tries += 1
        next.made = .now
        return next
    }

    /// The same after a transfer that took so long.
    func spending(_ duration: Duration) -> Hop {
        var next = self
        next.spent += duration
        return next
    }

    /// The same once more, for all.
    func anew() -> Hop {
        var next = self
        next.asksForAll = true
        return next
    }

    var request: ImageRequest { order.request }
    /// What its flight is found by.
    var key: CacheKey { order.key }

    /// Whether the caller's own fields go along.
    var isAtOrigin: Bool {
        steps.isEmpty && order.move == nil || SecurityPolicy.haveSameOrigin(url, request.url)
    }

    /// Whether a redirect to `target` leads back to where the flight has been.
    func hasBeen(at target: URL) -> Bool {
        let place = CanonicalURL(target.absoluteString).text
        return CanonicalURL(request.url.absoluteString).text == place
            || steps.contains { CanonicalURL($0.target.absoluteString).text == place }
    }

    /// The fields to send: the library's own, the caller's where the request is at its origin, and the conditions where
    /// what they are about came from. An id says that it is the same at another address.
    func fields(_ own: HTTPFields) -> HTTPFields {
        var fields = own
        if !request.fields.isEmpty, isAtOrigin { fields.replace(with: request.fields) }
        let isAboutStored = order.stored?.url == url.absoluteString || request.id != nil && steps.isEmpty
        if !order.conditions.isEmpty, isAboutStored {
            fields.replace(with: order.conditions)
        }
        return fields
    }
}
