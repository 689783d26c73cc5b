import LazyImages

/// Why a film has no poster.
struct PosterFailure: Equatable {
    /// One line, without the address.
    let reason: String
    /// The failed request, and its error; nil if the catalogue has no usable address.
    private(set) var request: ImageRequest?
    private(set) var error: ImageLoadingError?

    /// Where the poster should have been.
    var address: String? { request?.url.displayText }

    /// The request failed.
    init(_ error: ImageLoadingError, of request: ImageRequest) {
        reason = ImageLoadingError.withoutAddress(error.advised)
        (self.request, self.error) = (request, error)
    }

    /// The catalogue has no address, or an invalid one.
    init(_ error: ImageLoadingError?) {
        reason = error?.advised ?? "the catalogue names none"
    }

    /// The message. Only a failed load can be tried again.
    var line: String { "No poster: " + reason + (request == nil ? "" : "; r asks again, i shows the answer") }
}
