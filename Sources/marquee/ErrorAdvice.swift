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

    /// Whether the server did not answer, or said only that it cannot: what it has is not known.
    var isSilence: Bool {
        if case .malformedResponse = self { return true }
        return isRetryable
    }

    /// What happened, and what to do about it, for a reader who knows the address: without it, where the line begins with it.
    var advisedWithoutAddress: String {
        guard let end = advised.firstRange(of: ": ") else { return advised }
        let start = advised[..<end.lowerBound]
        // An address has no spaces, and a file is named by its whole path.
        let isAddress = !start.contains(" ") && (start.contains("://") || start.hasPrefix("data:"))
        return isAddress || start.hasPrefix("/") ? String(advised[end.upperBound...]) : advised
    }

    /// The same for an error of any kind.
    static func advised(_ error: any Error) -> String { (error as? ImageLoadingError)?.advised ?? "\(error)" }
}
