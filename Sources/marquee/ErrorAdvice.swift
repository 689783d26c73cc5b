import LazyImages

/// What a user of the program can do about an error: the library does not know the program's options.
extension ImageLoadingError {
    /// What happened, and what to do about it: one line.
    var advised: String { advice.map { "\(self); \($0)" } ?? "\(self)" }

    private var advice: String? {
        switch self {
        case .insecureConnection(_, let host): "use https, or allow it with --insecure-http \(host)"
        case .timedOut(_, .total, _): "try again, or allow more with --max-time"
        case .timedOut: "try again, or allow more with --timeout"
        case .tooLarge: "allow more with --max-bytes"
        case .httpStatus(_, 401): "give credentials with MARQUEE_CREDENTIALS, --credentials-file or --header"
        default: nil
        }
    }

    /// The same for an error of any kind.
    static func advised(_ error: any Error) -> String { (error as? ImageLoadingError)?.advised ?? "\(error)" }
}
