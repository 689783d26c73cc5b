extension ImageLoadingError {
    /// Whether the same request may well succeed later although nothing is changed: what the network or a busy server
    /// did. Never true for what the request or the image itself is to blame for, nor for a cancellation.
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
            .notAnImage, .undecodable, .checksumMismatch, .notCached, .storageFailed, .transportUnavailable,
            .unreadableFile, .fileChanged, .dataFailed:
            false
        }
    }
}
