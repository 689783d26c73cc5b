import FoundationEssentials
import HTTPSemantics

/// One request of a transfer to one host. A redirect leads to another attempt, and so may a failure.
struct TransferAttempt: Sendable {
    let order: TransferOrder
    let transfer: SharedTask<LoadedFile>
    let url: URL
    /// The redirects that led here.
    private(set) var steps: [RedirectStep] = []
    /// Which try it is, from 1.
    private(set) var tries = 1
    /// Whether the whole body is asked for: an earlier part of it was of no use.
    private(set) var ignoresPart = false
    /// Whether the order's conditions are left out: the answer to them was about something else.
    private(set) var ignoresConditions = false
    /// How long the attempts before this one took together.
    var spent = Duration.zero
    /// The host and port it goes to.
    let host: String
    /// How long the attempts before this one waited for their slots together.
    var queued = Duration.zero
    /// When it lined up for its slot.
    private(set) var lineUpTime = ContinuousClock.now

    private init(_ order: TransferOrder, _ transfer: SharedTask<LoadedFile>, _ url: URL) {
        self.order = order
        self.transfer = transfer
        self.url = url
        host = SecurityPolicy.hostAndPort(of: url)
    }

    /// The first one.
    init(_ order: TransferOrder, _ transfer: SharedTask<LoadedFile>) {
        let moved = order.move.flatMap { URL(string: $0.url) }
        self.init(order, transfer, moved ?? order.request.url)
    }

    /// The one that a redirect leads to.
    func following(_ step: RedirectStep) -> TransferAttempt {
        var next = TransferAttempt(order, transfer, step.target)
        next.steps = steps + [step]
        next.tries = tries
        (next.spent, next.queued) = (spent, queued)
        (next.ignoresPart, next.ignoresConditions) = (ignoresPart, ignoresConditions)
        return next
    }

    /// The same once more, after a failure.
    func retried() -> TransferAttempt {
        var next = self
        next.tries += 1
        return next
    }

    /// The same once more, for the whole body.
    func withoutPart() -> TransferAttempt {
        var next = self
        next.ignoresPart = true
        return next
    }

    /// The same once more, without conditions.
    func withoutConditions() -> TransferAttempt {
        var next = self
        next.ignoresConditions = true
        return next
    }

    /// The same, which lines up now.
    func linedUp() -> TransferAttempt {
        var next = self
        next.lineUpTime = .now
        return next
    }

    var request: ImageRequest { order.request }

    /// Whether the caller's own fields go along.
    private var isAtOrigin: Bool {
        steps.isEmpty && order.move == nil || SecurityPolicy.haveSameOrigin(url, request.url)
    }

    /// Whether a redirect to `target` leads back to where the transfer has been.
    func hasBeen(at target: URL) -> Bool {
        let place = CanonicalURL(target.absoluteString).text
        return CanonicalURL(request.url.absoluteString).text == place
            || steps.contains { CanonicalURL($0.target.absoluteString).text == place }
    }

    /// The fields to send: the library's own; the configuration's and the caller's where the request is at its origin; and
    /// the conditions where the stored answer came from.
    func fields(_ own: HTTPFields, _ defaults: HTTPFields) -> HTTPFields {
        var fields = own
        if isAtOrigin {
            if !defaults.isEmpty { fields.replace(with: defaults) }
            if !request.fields.isEmpty { fields.replace(with: request.fields) }
        }
        // An id says that the image is the same at another address.
        let isAboutStored =
            order.stored?.response?.url == url.absoluteString || request.id != nil && steps.isEmpty
        if !order.conditions.isEmpty, !ignoresConditions, isAboutStored {
            fields.replace(with: order.conditions)
        }
        return fields
    }
}
