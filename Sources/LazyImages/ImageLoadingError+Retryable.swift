extension ImageLoadingError {
    /// Whether the same request may well succeed later although nothing is changed: what the network or a busy server
    /// did. Never true for what the request or the image itself is to blame for, nor for a cancellation.
    public var isRetryable: Bool {
        switch self {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut, .truncated, .memoryShort,
            .resourcesShort:
            true
        // RFC 9110 section 15.5.9, RFC 8470 section 5.2, RFC 6585 section 4, RFC 9110 section 15.6.
        case .httpStatus(_, let status): [408, 425, 429].contains(status) || (500...599).contains(status)
        case .cancelled, .invalidURL, .unsupportedScheme, .insecureConnection, .secureConnectionFailed,
            .malformedResponse, .tooManyRedirects, .redirectLoop, .redirectRefused, .encodedContent, .empty,
            .tooLarge,
            .notAnImage, .undecodable, .checksumMismatch, .notCached, .storageFailed, .transportUnavailable,
            .unreadableFile, .dataFailed:
            false
        }
    }
}
