extension ImageLoadingError {
    /// Whether the same request may succeed later: the network or a busy server failed. False if the request or the
    /// image is at fault, and for a cancellation.
    public var isRetryable: Bool {
        switch self {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut, .truncated, .memoryShort,
            .resourcesShort:
            true
        case .httpStatus(_, let status): HTTPStatus(rawValue: status).isTemporary
        case .cancelled, .invalidURL, .unsupportedScheme, .insecureConnection, .addressRefused,
            .secureConnectionFailed,
            .malformedResponse, .tooManyRedirects, .redirectLoop, .redirectRefused, .encodedContent, .empty,
            .tooLarge,
            .notAnImage, .undecodable, .processingFailed, .checksumMismatch, .notCached, .storageFailed,
            .transportUnavailable, .unreadableFile, .fileChanged, .dataFailed:
            false
        }
    }
}
