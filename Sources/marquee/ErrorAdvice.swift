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

    /// A line about an error, for a reader who knows the address: without it, where the line begins with it.
    static func withoutAddress(_ line: String) -> String {
        guard let end = line.firstRange(of: ": ") else { return line }
        let start = line[..<end.lowerBound]
        // An address has no spaces, and a file is named by its whole path.
        let isAddress = !start.contains(" ") && (start.contains("://") || start.hasPrefix("data:"))
        return isAddress || start.hasPrefix("/") ? String(line[end.upperBound...]) : line
    }

    /// The same for an error of any kind.
    static func advised(_ error: any Error) -> String { (error as? ImageLoadingError)?.advised ?? "\(error)" }
}
