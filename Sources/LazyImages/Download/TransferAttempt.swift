import FoundationEssentials
import HTTPSemantics

/// One request of a transfer to one host. A redirect leads to another attempt, and so may a failure.
final class TransferAttempt: Sendable {
    /// What may differ from one attempt of a transfer to the next.
    private struct Course {
        /// The redirects that led here.
        var steps: [RedirectStep] = []
        var tries = 1
        var ignoresPart = false
        var ignoresConditions = false
    }

    let order: TransferOrder
    let transfer: SharedTask<LoadedFile>
    let url: URL
    let origin: Origin
    /// The host and port it goes to; empty for a request with a closure.
    let host: String
    private let course: Course

    private init(_ order: TransferOrder, _ transfer: SharedTask<LoadedFile>, _ url: URL, _ course: Course) {
        self.order = order
        self.transfer = transfer
        self.url = url
        self.course = course
        origin = Origin(url)
        host = order.request.data == nil ? origin.hostAndPort : ""
    }

    /// The first one.
    convenience init(_ order: TransferOrder, _ transfer: SharedTask<LoadedFile>) {
        let moved = order.move.flatMap { URL(string: $0.url) }
        self.init(order, transfer, moved ?? order.request.url, Course())
    }

    /// The one that a redirect leads to.
    func following(_ step: RedirectStep) -> TransferAttempt {
        next(at: step.target) { $0.steps.append(step) }
    }

    /// The same once more, after a failure.
    func retried() -> TransferAttempt { next { $0.tries += 1 } }

    /// The same once more, for the whole body.
    func withoutPart() -> TransferAttempt { next { $0.ignoresPart = true } }

    /// The same once more, without conditions.
    func withoutConditions() -> TransferAttempt { next { $0.ignoresConditions = true } }

    private func next(at url: URL? = nil, _ change: (inout Course) -> Void) -> TransferAttempt {
        var course = course
        change(&course)
        return TransferAttempt(order, transfer, url ?? self.url, course)
    }

    /// The redirects that led here.
    var steps: [RedirectStep] { course.steps }
    /// Which try it is, from 1.
    var tries: Int { course.tries }
    /// Whether the whole body is asked for: an earlier part of it was of no use.
    var ignoresPart: Bool { course.ignoresPart }
    /// Whether the order's conditions are left out: the answer to them was about something else.
    var ignoresConditions: Bool { course.ignoresConditions }

    var request: ImageRequest { order.request }

    /// Whether the caller's own fields go along.
    private var isAtOrigin: Bool {
        steps.isEmpty && order.move == nil || origin == Origin(request.url)
    }

    /// Whether a redirect to `target` leads back to where the transfer has been.
    func hasBeen(at target: URL) -> Bool {
        let address = CanonicalURL(target.absoluteString).text
        return CanonicalURL(request.url.absoluteString).text == address
            || steps.contains { CanonicalURL($0.target.absoluteString).text == address }
    }

    /// The fields to send: the library's own; the configuration's and the caller's where the request is at its origin; and
    /// the conditions where the stored answer came from. An id says that it is the same at another address.
    func fields(_ own: HTTPFields, _ defaults: HTTPFields) -> HTTPFields {
        var fields = own
        if isAtOrigin {
            if !defaults.isEmpty { fields.replace(with: defaults) }
            if !request.fields.isEmpty { fields.replace(with: request.fields) }
        }
        let isAboutStored =
            order.stored?.response?.url == url.absoluteString || request.id != nil && steps.isEmpty
        if !order.conditions.isEmpty, !ignoresConditions, isAboutStored {
            fields.replace(with: order.conditions)
        }
        return fields
    }
}
