import LazyImages

/// Advice for the program's user about an error. The library does not know the program's options.
extension ImageLoadingError {
    /// The error and the advice, in one line.
    var advised: String { advice.map { "\(self); \($0)" } ?? "\(self)" }

    private var advice: String? {
        switch self {
        case .insecureConnection(_, let host): "use https, or allow it with --insecure-http \(host)"
        case .timedOut(_, .total, _): "try again, or allow more with --max-time"
        case .timedOut: "try again, or allow more with --timeout"
        case .tooLarge: "allow more with --max-bytes"
        case .undecodable(_, .tooLarge(.pixels, _, _)): "allow more with --max-pixels"
        case .undecodable(_, .tooLarge(.memory, _, _)):
            "ask for a smaller size, or allow more with --decode-memory"
        case .undecodable(_, .unsupported(let feature)):
            Self.converters[feature].map { "make a PNG of it with \($0)" }
        case .httpStatus(_, 401): "give credentials with MARQUEE_CREDENTIALS, --credentials-file or --header"
        case .httpStatus(_, 429), .httpStatus(_, 503): "the server is busy; try again later"
        default: nil
        }
    }

    /// Programs that read what Marquee does not, by the format's name in messages.
    private static let converters = [
        "AVIF": "avifdec FILE OUT.png", "HEIC": "heif-convert FILE OUT.png",
        "JPEG XL": "djxl FILE OUT.png", "TIFF": "tifftopnm FILE | pnmtopng",
        "SVG": "rsvg-convert FILE -o OUT.png",
        "JPEG with arithmetic coding": "djpeg FILE | pnmtopng", "hierarchical JPEG": "convert FILE OUT.png",
    ]

    /// Whether the server did not answer, or only answered that it cannot, so that its content is unknown.
    var isSilence: Bool {
        if case .malformedResponse = self { return true }
        return isRetryable
    }

    /// The same as `advised` for any error.
    static func advised(_ error: any Error) -> String { (error as? ImageLoadingError)?.advised ?? "\(error)" }
}
