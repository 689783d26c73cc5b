public import FoundationEssentials
public import ImageCodecs
internal import SystemSupport

/// Everything that can go wrong between a request and its image. Each case has the URL (without credentials) and the
/// facts that a user needs to act. ``code`` is stable for programs, ``description`` is one line for people.
///
/// Indirect: functions that throw it return it in one word, and every result with it is small.
public indirect enum ImageLoadingError: Error, Sendable, Hashable {
    /// The caller's task was cancelled. Never retry or fall back after it.
    case cancelled(url: String)
    /// `text` is not a valid URL.
    case invalidURL(text: String, reason: String)
    /// The request's field `name`, or its `method`, would add something to the request: its text has a line end or another
    /// control character, its name is not a token, or only the transport may set it. The error never has the value.
    case invalidField(url: String, name: String)
    /// Only https, http, file and data are read.
    case unsupportedScheme(url: String, scheme: String)
    /// Plain http to a host that is neither this machine nor allowed by ``SecurityPolicy/init(insecureHosts:)``.
    case insecureConnection(url: String, host: String)
    /// A ``FetchGuard`` forbids the URL. Another try does not help.
    case addressRefused(url: String, rule: FetchRule, reason: String)
    /// The name service knows no such host.
    case hostNotFound(url: String, host: String)
    /// No connection could be opened.
    case connectionFailed(url: String, reason: String)
    /// The connection was lost during the answer, after `received` bytes of the body.
    case connectionLost(url: String, received: Int, reason: String)
    /// TLS failed: certificate, protocol version or cipher.
    case secureConnectionFailed(url: String, reason: String)
    /// A timeout of ``Timeouts`` ran out.
    case timedOut(url: String, phase: Timeouts.Phase, seconds: Double)
    /// The server's answer is not HTTP, or its header is larger than 256 KiB.
    case malformedResponse(url: String, reason: String)
    /// The server answered with a status other than 200. For 401, set ``ImageDownloader/Configuration/authenticator``.
    case httpStatus(url: String, status: Int)
    /// More redirects than ``ImageDownloader/Configuration/maximumRedirects``.
    case tooManyRedirects(url: String, limit: Int)
    /// A redirect leads back to a URL that the transfer has already visited.
    case redirectLoop(url: String, location: String)
    /// The security policy forbids the redirect.
    case redirectRefused(url: String, location: String, reason: String)
    /// The server compressed the body although it was asked not to.
    case encodedContent(url: String, encoding: String)
    /// The answer has no body.
    case empty(url: String)
    /// The body is shorter than the server announced (`expected` bytes), or than the image's structure requires
    /// (`expected` is nil).
    case truncated(url: String, received: Int, expected: Int?)
    /// The body is larger than ``ImageDownloader/Configuration/maximumBytes``, here `limit`.
    case tooLarge(url: String, limit: Int)
    /// The bytes are not an image in a known format; `reason` says what they look like.
    /// ``ImageDownloader/Configuration/acceptsAnyContent`` accepts them.
    case notAnImage(url: String, reason: String)
    /// The image's format or size is not supported, or the file is damaged.
    case undecodable(url: String, reason: ImageDecodingError)
    /// A processor of ``ImageRequest/processors`` gives no image.
    case processingFailed(url: String, reason: ImageProcessingError)
    /// The SHA-256 of the bytes is not the expected one.
    case checksumMismatch(url: String, expected: String, found: String)
    /// The ``ImageRequest/cachePolicy`` allows only the cache, which does not have the image.
    case notCached(url: String)
    /// There is no room for the body in memory or in the temporary folder.
    case storageFailed(url: String, reason: String)
    /// The network cannot be used: libcurl is missing, for example.
    case transportUnavailable(reason: String)
    /// The system has no more threads, file descriptors or memory for the load. It may have some later.
    case resourcesShort(url: String, reason: String)
    /// Memory is about to run out. Until that has passed, nothing is decoded, and downloads below priority `.normal`
    /// end.
    case memoryShort(url: String)
    /// A local file cannot be read.
    case unreadableFile(path: String, reason: String)
    /// A local file changed while it was uploaded.
    case fileChanged(path: String)
    /// A closure of the program threw an error: the request's, or `beforeSending`. `reason` names it and describes the
    /// error.
    case dataFailed(url: String, reason: String)

    /// A short, stable name for programs: `timed-out`, `http-status`, …
    public var code: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidURL: "invalid-url"
        case .invalidField: "invalid-field"
        case .unsupportedScheme: "unsupported-scheme"
        case .insecureConnection: "insecure-connection"
        case .addressRefused: "address-refused"
        case .hostNotFound: "host-not-found"
        case .connectionFailed: "connection-failed"
        case .connectionLost: "connection-lost"
        case .secureConnectionFailed: "secure-connection-failed"
        case .timedOut: "timed-out"
        case .malformedResponse: "malformed-response"
        case .httpStatus: "http-status"
        case .tooManyRedirects: "too-many-redirects"
        case .redirectLoop: "redirect-loop"
        case .redirectRefused: "redirect-refused"
        case .encodedContent: "encoded-content"
        case .empty: "empty"
        case .truncated: "truncated"
        case .tooLarge: "too-large"
        case .notAnImage: "not-an-image"
        case .undecodable: "undecodable"
        case .processingFailed: "processing-failed"
        case .checksumMismatch: "checksum-mismatch"
        case .notCached: "not-cached"
        case .storageFailed: "storage-failed"
        case .transportUnavailable: "transport-unavailable"
        case .resourcesShort: "resources-short"
        case .memoryShort: "memory-short"
        case .unreadableFile: "unreadable-file"
        case .fileChanged: "file-changed"
        case .dataFailed: "data-failed"
        }
    }
}

extension ImageLoadingError {
    /// Whether the caller's task was cancelled. Never retry or fall back after it.
    public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// The URL, without credentials, or the path; nil if the error has none.
    public var url: String? {
        switch self {
        case .cancelled(let url), .invalidURL(let url, _), .invalidField(let url, _),
            .unsupportedScheme(let url, _), .insecureConnection(let url, _), .addressRefused(let url, _, _),
            .hostNotFound(let url, _), .connectionFailed(let url, _), .connectionLost(let url, _, _),
            .secureConnectionFailed(let url, _), .timedOut(let url, _, _), .malformedResponse(let url, _),
            .httpStatus(let url, _), .tooManyRedirects(let url, _), .redirectLoop(let url, _),
            .redirectRefused(let url, _, _), .encodedContent(let url, _), .empty(let url),
            .truncated(let url, _, _), .tooLarge(let url, _), .notAnImage(let url, _),
            .undecodable(let url, _), .processingFailed(let url, _), .checksumMismatch(let url, _, _),
            .notCached(let url), .storageFailed(let url, _), .resourcesShort(let url, _),
            .memoryShort(let url), .unreadableFile(let url, _), .fileChanged(let url),
            .dataFailed(let url, _):
            url
        case .transportUnavailable: nil
        }
    }
}

extension ImageLoadingError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// The URL and what happened: one line, lower case, no full stop. A program adds which of its options helps. The
    /// line may contain text from outside (a URL, a Location): escape control characters before you show it on a
    /// terminal.
    public var description: String {
        switch self {
        case .cancelled(let url): "\(url): cancelled"
        case .invalidURL(let text, let reason): "\(text): not a URL that can be fetched: \(reason)"
        case .invalidField(let url, let name):
            "\(url): the request's \(name) cannot be sent: remove line ends and control characters, or leave it out"
        case .unsupportedScheme(let url, let scheme):
            "\(url): the scheme \(scheme) is not read; use https, http, file or data"
        case .insecureConnection(let url, let host):
            "\(url): plain http to \(host) is refused"
        case .addressRefused(let url, _, let reason): "\(url): may not be fetched: \(reason)"
        case .hostNotFound(let url, let host):
            "\(url): no host is named \(host); check the address and the network"
        case .connectionFailed(let url, let reason): "\(url): no connection: \(reason)"
        case .connectionLost(let url, let received, let reason):
            "\(url): the connection was lost after \(received) bytes: \(reason); try again"
        case .secureConnectionFailed(let url, let reason): "\(url): no secure connection: \(reason)"
        case .timedOut(let url, let phase, let seconds):
            "\(url): \(phase.explanation) within \(Self.text(seconds)) s"
        case .malformedResponse(let url, let reason): "\(url): the server's answer is not usable: \(reason)"
        case .httpStatus(let url, let status):
            "\(url): the server answered \(status)\(Self.meaning(ofStatus: status))"
        case .tooManyRedirects(let url, let limit): "\(url): more than \(limit) redirects"
        case .redirectLoop(let url, let location):
            "\(url): redirect loop: back to \(location)"
        case .redirectRefused(let url, let location, let reason):
            "\(url): the redirect to \(location) is refused: \(reason)"
        case .encodedContent(let url, let encoding):
            "\(url): the server sent the body encoded as \(encoding), although the request forbids that"
        case .empty(let url): "\(url): the \(url.hasPrefix("file:") ? "file" : "answer") is empty"
        case .truncated(let url, let received, let expected?):
            "\(url): cut short: \(received) of \(expected) bytes arrived"
        case .truncated(let url, let received, nil):
            "\(url): cut short: the image does not end within its \(received) bytes"
        case .tooLarge(let url, let limit): "\(url): larger than \(limit) bytes"
        case .notAnImage(let url, let reason): "\(url): not an image: \(reason)"
        case .undecodable(let url, let reason): "\(url): cannot be decoded: \(reason)"
        case .processingFailed(let url, let reason): "\(url): cannot be processed: \(reason)"
        case .checksumMismatch(let url, let expected, let found):
            "\(url): the SHA-256 is \(found), not \(expected)"
        case .notCached(let url): "\(url): offline: not in the cache"
        case .storageFailed(let url, let reason): "\(url): no room for the download: \(reason)"
        case .transportUnavailable(let reason): reason
        case .resourcesShort(let url, let reason): "\(url): \(reason); try again later"
        case .memoryShort(let url): "\(url): memory is about to run out; try again later"
        case .unreadableFile(let path, let reason): "\(path): cannot be read: \(reason)"
        case .fileChanged(let path): "\(path): changed while it was sent; try again"
        case .dataFailed(let url, let reason): "\(url): \(reason)"
        }
    }

    private static func text(_ seconds: Double) -> String {
        guard seconds == seconds.rounded(), let whole = Int(exactly: seconds) else { return "\(seconds)" }
        return "\(whole)"
    }

    private static func meaning(ofStatus status: Int) -> String {
        switch status {
        case 401: " (credentials required)"
        case 403: " (forbidden)"
        case 404: " (not found)"
        case 410: " (gone)"
        case 429: " (too many requests)"
        case 500...599: " (the server failed)"
        default: ""
        }
    }

    /// An error's line for a reader who knows the address: an address at the beginning is left out.
    package static func withoutAddress(_ line: String) -> String {
        guard let end = line.firstRange(of: ": ") else { return line }
        let start = line[..<end.lowerBound]
        // An address has no spaces, and a file is named by its whole path.
        let isAddress = !start.contains(" ") && (start.contains("://") || start.hasPrefix("data:"))
        return isAddress || start.hasPrefix("/") ? String(line[end.upperBound...]) : line
    }
}

/// The rules of a ``FetchGuard``, in the order in which they apply. A refusal names the rule.
public enum FetchRule: Sendable, Hashable, CaseIterable {
    /// Only https, and plain http where it is allowed.
    case scheme
    /// Only listed hosts, and no credentials in the URL.
    case host
    /// Only the ports 80 and 443, or the port that is listed.
    case port
    /// Only public addresses, and those of allowed networks.
    case address
}

extension ImageLoadingError {
    /// The error of a load that failed because of a shortage.
    init(_ shortage: ResourceShortage, url: String) {
        self = .resourcesShort(url: url, reason: shortage.description)
    }
}

extension ImageLoadingError {
    /// Whether the same request may succeed later: the network or a busy server failed. False if the request or the
    /// image is at fault, and for a cancellation.
    public var isRetryable: Bool {
        switch self {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut, .truncated, .memoryShort,
            .resourcesShort:
            true
        case .httpStatus(_, let status): HTTPStatus(rawValue: status).isTemporary
        case .cancelled, .invalidURL, .invalidField, .unsupportedScheme, .insecureConnection, .addressRefused,
            .secureConnectionFailed,
            .malformedResponse, .tooManyRedirects, .redirectLoop, .redirectRefused, .encodedContent, .empty,
            .tooLarge,
            .notAnImage, .undecodable, .processingFailed, .checksumMismatch, .notCached, .storageFailed,
            .transportUnavailable, .unreadableFile, .fileChanged, .dataFailed:
            false
        }
    }
}
