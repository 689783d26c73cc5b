import HTTPSemantics
package import LazyImages

/// The result of a request for a picture.
package enum PictureOutcome: Sendable {
    case picture(KeptPicture, SourceRecord, CacheStatus)
    case failure(PictureFailure)

    /// The same result for requests that joined another's work.
    var collapsed: PictureOutcome {
        guard case .picture(let picture, let record, var status) = self, status.forward != nil else {
            return self
        }
        status.isCollapsed = true
        return .picture(picture, record, status)
    }
}

/// Why there is no picture.
package struct PictureFailure: Error, Hashable, Sendable {
    package let status: HTTPStatus
    /// One line: what is wrong and what to do.
    package let detail: String
    /// The refusing rule's name in metrics; nil if no rule refused.
    package var rule: String?
    /// When to try again, in seconds; nil if there is no good time to name.
    package var retryAfter: Int?

    package init(_ status: HTTPStatus, _ detail: String, rule: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.rule = rule
        self.retryAfter = retryAfter
    }

    /// The service is at its limit.
    static let busy = PictureFailure(
        .serviceUnavailable, "the service is busy; try again in a moment", rule: "queue", retryAfter: 1)

    /// Whether a stale picture may be sent instead: the origin or the service failed, and the failure may pass.
    var mayPass: Bool { status.rawValue >= 500 }

    package init(_ error: PictureError) {
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
        case .resourcesShort, .memoryShort, .storageFailed, .transportUnavailable, .cancelled:
            self.init(.serviceUnavailable, "the system is short of a resource; try again", retryAfter: 1)
        default: self.init(.badGateway, "the source cannot be reached, or its answer cannot be used")
        }
    }
}
