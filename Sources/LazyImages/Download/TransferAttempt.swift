import FoundationEssentials
import HTTPSemantics

/// One request of a transfer to one host. A redirect or a retry is another attempt.
final class TransferAttempt: Sendable {
    /// The values that differ between the attempts of a transfer.
    private struct Course {
        /// The redirects before this attempt.
        var steps: [RedirectStep] = []
        var tries = 1
        var ignoresPartial = false
        var ignoresConditions = false
    }

    let order: TransferOrder
    let transfer: SharedTask<LoadedFile>
    /// The transfer's claim on what it fetches; nil for one that waits for no other process.
    let claim: TransferClaim?
    let url: URL
    let origin: Origin
    /// The host and port; empty for a request with a closure.
    let host: String
    private let course: Course

    private init(
        _ order: TransferOrder, _ transfer: SharedTask<LoadedFile>, _ claim: TransferClaim?, _ url: URL,
        _ course: Course
    ) {
        self.order = order
        self.transfer = transfer
        self.claim = claim
        self.url = url
        self.course = course
        origin = Origin(url)
        host = order.request.data == nil ? origin.hostAndPort : ""
    }

    /// The first attempt.
    convenience init(
        _ order: TransferOrder, _ transfer: SharedTask<LoadedFile>, claim: TransferClaim? = nil
    ) {
        let moved = order.move.flatMap { URL(string: $0.url) }
        self.init(order, transfer, claim, moved ?? order.request.url, Course())
    }

    /// The attempt after a redirect.
    func following(_ step: RedirectStep) -> TransferAttempt {
        next(at: step.target) { $0.steps.append(step) }
    }

    /// The same attempt again, after a failure.
    func retried() -> TransferAttempt { next { $0.tries += 1 } }

    /// The same attempt again, for the whole body.
    func withoutPartial() -> TransferAttempt { next { $0.ignoresPartial = true } }

    /// The same attempt again, without conditions.
    func withoutConditions() -> TransferAttempt { next { $0.ignoresConditions = true } }

    private func next(at url: URL? = nil, _ change: (inout Course) -> Void) -> TransferAttempt {
        var course = course
        change(&course)
        return TransferAttempt(order, transfer, claim, url ?? self.url, course)
    }

    /// The redirects before this attempt.
    var steps: [RedirectStep] { course.steps }
    /// The number of the attempt, without redirects, from 1.
    var tries: Int { course.tries }
    /// Whether the whole body is requested, because a partial body could not be resumed.
    var ignoresPartial: Bool { course.ignoresPartial }
    /// Whether the order's conditions are left out, because the 304 confirmed another file.
    var ignoresConditions: Bool { course.ignoresConditions }

    var request: ImageRequest { order.request }

    /// Whether the caller's fields may be sent.
    private var isAtOrigin: Bool {
        steps.isEmpty && order.move == nil || origin == Origin(request.url)
    }

    /// Whether the transfer has already visited `target`.
    func hasBeen(at target: URL) -> Bool {
        let address = CanonicalURL(target.absoluteString).text
        return CanonicalURL(request.url.absoluteString).text == address
            || steps.contains { CanonicalURL($0.target.absoluteString).text == address }
    }

    /// The fields to send: the library's own; the configuration's and the caller's, at the request's origin; and the
    /// conditions, at the URL of the stored answer or for a request with an id, whose first URL may change.
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
