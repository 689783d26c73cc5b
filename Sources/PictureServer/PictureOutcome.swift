package import HTTPSemantics
import LazyImages
package import PictureService

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

/// Why there is no picture: the address is refused, or the source gives none.
package struct PictureFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// 400 for a malformed address or a recipe that does not fit the picture, 403 if a rule refuses it, 422 if the source is
    /// not a picture.
    package let status: HTTPStatus
    /// One line: what is wrong and what to do.
    let detail: String
    package var description: String { detail }
    /// The refusing rule's name in metrics and logs; nil if no rule refused. It contains nothing of the address.
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

    /// A recipe that is malformed, or a picture that cannot be made.
    init(_ error: PictureError) {
        let (status, rule): (HTTPStatus, String) =
            switch error {
            case .malformedRecipe, .notProcessable: (.badRequest, "recipe")
            case .notDecodable: (.unprocessableContent, "decoding")
            case .notEncodable: (.internalServerError, "encoding")
            }
        self.init(status, "\(error)", rule: rule)
    }

    /// The recipe of a text.
    /// - Throws: the failure of a malformed one.
    package static func recipe(_ text: String) throws(PictureFailure) -> PictureRecipe {
        try making { () throws(PictureError) in try PictureRecipe(text) }
    }

    /// The result of a step of making a picture; its error becomes a failure.
    static func making<Value>(_ step: () throws(PictureError) -> Value) throws(PictureFailure) -> Value {
        do throws(PictureError) { return try step() } catch { throw PictureFailure(error) }
    }

    // MARK: Rules

    /// The address lacks one of its four parts, or its source is not an address.
    package static let malformedAddress = PictureFailure(
        .badRequest,
        "not a picture address; write /image/SIGNATURE/RECIPE/SOURCE, the source in base64url without padding",
        rule: "address")

    /// No key made this signature, or it belongs to another recipe or source.
    static let wrongSignature = PictureFailure(
        .forbidden, "the signature does not match; sign this recipe and source with a key of the service",
        rule: "signature")

    /// The recipe expired at this moment, in seconds since 1970.
    static func expired(_ time: Int) -> PictureFailure {
        PictureFailure(
            .forbidden, "the address expired at \(HTTPDate.format(time)); ask for a new one", rule: "expiry")
    }

    /// The recipe is not listed, and the address is not signed.
    static func unlistedSize(_ recipe: PictureRecipe) -> PictureFailure {
        PictureFailure(
            .forbidden, "\(recipe) is not a listed size; ask for a listed one, or sign the address",
            rule: "size")
    }

    /// The recipe asks for more pixels than the limit.
    static func tooLarge(_ recipe: PictureRecipe) -> PictureFailure {
        PictureFailure(.forbidden, "\(recipe) exceeds the size limit; ask for a smaller size", rule: "size")
    }

    /// The source's scheme, host or port is not allowed.
    static func forbiddenSource(_ rule: FetchRule, _ reason: String) -> PictureFailure {
        PictureFailure(.forbidden, reason, rule: rule == .scheme ? "scheme" : "source")
    }

    // MARK: Sources

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
