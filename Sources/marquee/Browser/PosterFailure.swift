import LazyImages

/// Why a film has no poster.
struct PosterFailure: Equatable {
    /// One line, without the address.
    let reason: String
    /// The request that failed, and how; nil where the catalogue has no usable address.
    private(set) var request: ImageRequest?
    private(set) var error: ImageLoadingError?

    /// Where the poster should have been.
    var address: String? { request?.url.displayText }

    /// The load of a request failed.
    init(_ error: ImageLoadingError, of request: ImageRequest) {
        reason = ImageLoadingError.withoutAddress(error.advised)
        (self.request, self.error) = (request, error)
    }

    /// The catalogue has no address, or one that is none.
    init(_ error: ImageLoadingError?) {
        reason = error?.advised ?? "the catalogue names none"
    }

    /// The line that says so. Only a load can be tried again.
    var line: String { "No poster: " + reason + (request == nil ? "" : "; r asks again, i shows the answer") }
}
