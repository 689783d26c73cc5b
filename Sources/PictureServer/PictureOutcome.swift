import HTTPSemantics
import LazyImages

/// A picture, and how it was found or made.
struct ServedPicture: Sendable {
    let picture: LoadedFile
    /// How it is stored and tagged.
    let name: KnownAddress.Name
    /// What is known of its source.
    let record: LoadedFile
    var status: CacheStatus

    /// The same picture for a request that joined another's work.
    var collapsed: ServedPicture {
        var served = self
        served.status.isCollapsed = status.forward != nil
        return served
    }
}

/// The result of a request for a picture.
typealias PictureOutcome = Result<ServedPicture, PictureFailure>

/// Why there is no picture.
struct PictureFailure: Error, Hashable, Sendable {
    let status: HTTPStatus
    /// One line: what is wrong and what to do.
    let detail: String
    /// The refusing rule's name in metrics; nil if no rule refused.
    var rule: String?
    /// When to try again, in seconds; nil if there is no good time to name.
    var retryAfter: Int?

    init(_ status: HTTPStatus, _ detail: String, rule: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.rule = rule
        self.retryAfter = retryAfter
    }

    /// A limit of the work in progress that refuses a source. Its text is the rule's name in metrics.
    enum Shortage: String, Sendable, CaseIterable {
        /// Too many sources wait.
        case queue
        /// The source has waited too long.
        case queueTime = "queue-time"
        /// The fetched sources take too much memory.
        case sourceMemory = "source-memory"
    }

    /// The service is at a limit.
    /// - Parameter wait: when to try again, at least a second. Default: zero, as soon as any source ends.
    static func busy(_ shortage: Shortage, wait: Duration = .zero) -> PictureFailure {
        let seconds = Int(min(max(1, wait.seconds.rounded(.up)), longestRetryAfter))
        return PictureFailure(
            .serviceUnavailable, "the service is busy; try again in \(seconds) s", rule: shortage.rawValue,
            retryAfter: seconds)
    }

    private static let longestRetryAfter = 3600.0

    /// All clients have left. Nobody gets this failure.
    static let cancelled = PictureFailure(.serviceUnavailable, "the request was cancelled", retryAfter: 1)

    /// Not a failure of the source: a smaller picture of it may need less memory.
    static let needsMemory = PictureFailure(
        .unprocessableContent,
        "this picture of the source needs more memory than the service has for one; ask for a smaller one")

    /// Whether a stale picture may be sent instead: the origin or the service failed, and the failure may pass.
    var mayPass: Bool { status.rawValue >= 500 }

    init(_ error: PictureRefusal) {
        self.init(error.status, "\(error)", rule: error.rule)
    }

    /// The failure to fetch a source. It contains no address: the client knows it, and others must not see it.
    init(_ error: ImageLoadingError) {
        switch error {
        case .httpStatus(_, 404): self.init(.notFound, "the source has no such picture")
        case .httpStatus(_, 410): self.init(.gone, "the source no longer has this picture")
        case .httpStatus(_, let status):
            self.init(.badGateway, "the source answered \(status); try again later")
        // The reason is the address of the name, which says something about the network behind the service.
        case .addressRefused(_, .address, _):
            self.init(.forbidden, "this source is not allowed", rule: "\(FetchRule.address)")
        case .addressRefused(_, let rule, let reason):
            self.init(.forbidden, "this source is not allowed: \(reason)", rule: "\(rule)")
        case .redirectRefused(_, _, let reason):
            self.init(.forbidden, "the source redirects to a forbidden address: \(reason)", rule: "redirect")
        case .unsupportedScheme, .insecureConnection:
            self.init(.forbidden, "this source allows only https", rule: "scheme")
        case .invalidURL: self.init(.badRequest, "the source is not an address that can be fetched")
        case .timedOut: self.init(.gatewayTimeout, "the source took too long; try again later")
        case .notAnImage(_, let reason):
            self.init(.unprocessableContent, "the source is not a picture: \(reason)")
        case .undecodable(_, let reason): self.init(.unprocessableContent, "\(reason)")
        case .empty: self.init(.unprocessableContent, "the source is not a picture: it is empty")
        case .truncated(_, _, nil):
            self.init(.unprocessableContent, "the source is not a whole picture")
        case .tooLarge(_, let limit):
            self.init(.unprocessableContent, "the source has more than \(limit) bytes")
        case .dataFailed: self.init(.internalServerError, "the poster cannot be read")
        case .resourcesShort, .memoryShort, .storageFailed, .transportUnavailable, .cancelled:
            self.init(.serviceUnavailable, "the system is short of a resource; try again", retryAfter: 1)
        default: self.init(.badGateway, "the source cannot be reached, or its answer cannot be used")
        }
    }
}
