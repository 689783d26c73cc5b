public import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs

/// An image's file: its bytes and what is known of them. Shared, never copied.
public final class LoadedFile: Sendable, CachedAddress {
    /// Where a load found its file.
    public enum Source: String, Sendable, Hashable {
        /// The memory tier; the disk tier; the network; a `file:` or `data:` URL, or the request's own closure.
        case memory, disk, network, local
        /// A tier, after the server has said that it still holds.
        case revalidated
        /// A tier, although it is no longer fresh: the server fails, or is asked meanwhile, or the request allows it.
        case stale
        /// The network, but for the part that an earlier transfer had brought.
        case resumed
        /// For images only: a file that memory keeps was decoded anew, because another size was wanted or a checksum asked
        /// for.
        case decoded
    }

    /// The file's bytes.
    public let bytes: ImageBytes
    /// Format and size; nil only for what is no image, where any content is accepted.
    public let header: ImageHeader?
    /// The status of the answer that brought it, 200; nil for `file:` and `data:`.
    public let status: Int?
    /// Where it came from, after redirects.
    public let url: URL
    /// What was asked for, before redirects.
    public let requestedURL: URL
    /// Where the load found it.
    public let source: Source
    /// Status and header as a cache gives them, with their age; nil for `file:` and `data:`. Only for a loader that accepts
    /// any status.
    public let head: ResponseHead?
    /// What is known of the answer that brought it; nil for `file:` and `data:`, which do not grow old.
    let response: StoredResponse?
    /// What the server called its content, as in `text/html; charset=utf-8`; nil where it said nothing.
    public var contentType: String? { response?.fields["Content-Type"] }
    /// Whether the answer that brought it may be kept, by the rules of the loader's kind of cache.
    package let mayBeKept: Bool

    init(
        bytes: ImageBytes, header: ImageHeader?, status: Int?, url: URL, requestedURL: URL,
        source: Source, head: ResponseHead? = nil, response: StoredResponse? = nil, mayBeKept: Bool = true
    ) {
        self.bytes = bytes
        self.header = header
        self.status = status
        self.url = url
        self.requestedURL = requestedURL
        self.source = source
        self.head = head
        self.response = response
        self.mayBeKept = mayBeKept
    }

    /// A file of the caller's own, such as a loader of another program gives.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - header: format and size; nil for what is no image.
    ///   - url: where it is from.
    ///   - source: where it was found. Default: `local`.
    public convenience init(
        bytes: ImageBytes, header: ImageHeader?, url: URL, source: Source = .local
    ) {
        self.init(bytes: bytes, header: header, status: nil, url: url, requestedURL: url, source: source)
    }

    /// The same, found elsewhere.
    func from(_ source: Source, head: ResponseHead? = nil) -> LoadedFile {
        if self.source == source, head == nil, self.head == nil { return self }
        return LoadedFile(
            bytes: bytes, header: header, status: status, url: url, requestedURL: requestedURL,
            source: source, head: head, response: response, mayBeKept: mayBeKept)
    }

    /// The header of the answer that brought it, as far as a cache keeps it; nil for `file:` and `data:`.
    package var fields: HTTPFields? { response?.fields }

    /// When the answer that brought it came, or was confirmed, in seconds since 1970; how old it was then, and how long it is
    /// fresh from when it was made, in seconds. Nil for what does not grow old.
    package var freshness: (received: Int, initialAge: Int, lifetime: Int)? {
        response.map { ($0.received, $0.initialAge, $0.lifetime) }
    }

    /// Whether it is the picture itself, and not word that there is none.
    var isPresent: Bool { status == nil || status == 200 }
}
