import LazyImages

/// Why a film has no poster.
struct PosterFailure: Equatable {
    /// One line, without the address.
    let reason: String
    /// Where the poster should have been; nil where the catalogue has no usable address.
    var address: String?

    /// The load of a request failed.
    init(_ error: ImageLoadingError, of request: ImageRequest) {
        reason = ImageLoadingError.withoutAddress(error.advised)
        address = request.url.displayText
    }

    /// The catalogue has no address, or one that is none.
    init(_ error: ImageLoadingError?) {
        reason = error?.advised ?? "the catalogue names none"
    }

    /// The line that says so. Only a load can be tried again.
    var line: String { "No poster: " + reason + (address == nil ? "" : "; r asks again") }
}
