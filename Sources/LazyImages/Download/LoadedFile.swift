public import FoundationEssentials
public import HTTPSemantics
public import ImageCodecs
import Synchronization

/// An image's file: its bytes and their origin. Shared, never copied.
public final class LoadedFile: Sendable, CachedAddress, CustomStringConvertible {
    /// Where a load found its file.
    public enum Source: Sendable, Hashable {
        /// `local` is a `file:` or `data:` URL, or the request's closure.
        case memory, disk, network, local
        /// The shared tier.
        case shared
        /// A tier, and the server has confirmed the file (304).
        case revalidated
        /// A tier, and the file is stale: the server fails, or the revalidation is still running, or the request allows
        /// it.
        case stale
        /// The network, except for a partial body of an earlier transfer.
        case resumed
        /// Only for images: decoded from a file in memory, for another size or to verify a checksum.
        case decoded
    }

    /// The file's bytes.
    public let bytes: ImageBytes
    /// Format and size; nil only for a file that is not an image, if the loader accepts any content.
    public let header: ImageHeader?
    /// What the file lacks: its end, or a part of its structure; nil for a complete one. Decoding may find more: see
    /// ``LoadedImage/damage``.
    public let damage: ImageDecodingError?
    /// The status of the answer, 200; nil for `file:` and `data:`.
    public let status: Int?
    /// The URL after redirects.
    public let url: URL
    /// The URL of the request, before redirects.
    package let requestedURL: URL
    /// Where the load found the file.
    public let source: Source
    /// Status and fields with an Age, for a loader that accepts any status; else nil. Nil for `file:` and `data:`.
    public let head: ResponseHead?
    /// The stored form of the answer; nil for `file:` and `data:`, which are always fresh.
    let response: StoredResponse?
    /// The server's `Content-Type`, such as `text/html; charset=utf-8`; nil if it sent none.
    package var contentType: String? { response?.fields["Content-Type"] }
    /// Whether a cache of the loader's kind may store the answer.
    package let mayBeKept: Bool
    /// Whether a second transfer has brought the same bytes: damage in them is the server's own.
    let isRepeated: Bool
    /// Whether it is a stored result in place of the file.
    let isResult: Bool
    /// Of a file that could be on disk, and is not, since the caller that began its transfer does not want that: whether
    /// another caller has stored it there. Nil for other files.
    let storedLater: StoredLater?

    init(
        bytes: ImageBytes, header: ImageHeader?, damage: ImageDecodingError? = nil, status: Int?, url: URL,
        requestedURL: URL, source: Source, head: ResponseHead? = nil, response: StoredResponse? = nil,
        mayBeKept: Bool = true,
        isRepeated: Bool = false, isResult: Bool = false, storedLater: StoredLater? = nil
    ) {
        self.bytes = bytes
        self.header = header
        self.damage = damage
        self.status = status
        self.url = url
        self.requestedURL = requestedURL
        self.source = source
        self.head = head
        self.response = response
        self.mayBeKept = mayBeKept
        self.isRepeated = isRepeated
        self.isResult = isResult
        self.storedLater = storedLater
    }

    /// A file for loaders of other programs.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - header: format and size; nil for a file that is not an image.
    ///   - damage: what the image lacks. Default: nil, nothing.
    ///   - url: the file's URL.
    ///   - source: where the file was found. Default: `local`.
    public convenience init(
        bytes: ImageBytes, header: ImageHeader?, damage: ImageDecodingError? = nil, url: URL,
        source: Source = .local
    ) {
        self.init(
            bytes: bytes, header: header, damage: damage, status: nil, url: url, requestedURL: url,
            source: source)
    }

    /// `71034 bytes, network, https://example.org/posters/1.jpg`.
    public var description: String { "\(bytes.count) bytes, \(source), \(url.displayText)" }

    /// The same file with another source.
    func from(_ source: Source, head: ResponseHead? = nil) -> LoadedFile {
        if self.source == source, head == nil, self.head == nil { return self }
        return copy(source: source, head: head, response, isRepeated: isRepeated)
    }

    /// The same answer with these changes.
    /// - Parameters:
    ///   - file: has the bytes. Default: nil, this one.
    ///   - source: where the file was found. Default: nil, as here.
    ///   - isResult: whether the bytes are a result. Default: nil, as those of the file.
    private func copy(
        _ file: LoadedFile? = nil, source: Source? = nil, head: ResponseHead?, _ response: StoredResponse?,
        isRepeated: Bool = false, isResult: Bool? = nil, storedLater: StoredLater? = nil
    ) -> LoadedFile {
        let file = file ?? self
        return LoadedFile(
            bytes: file.bytes, header: file.header, damage: file.damage, status: status, url: url,
            requestedURL: requestedURL, source: source ?? self.source, head: head, response: response,
            mayBeKept: mayBeKept, isRepeated: isRepeated, isResult: isResult ?? file.isResult,
            storedLater: storedLater)
    }

    /// Whether damage that decoding finds may be the transfer's: the file came just now, for the first time, and is not
    /// in doubt for its structure.
    package var mayBeDoubted: Bool {
        damage == nil && !isRepeated && [.network, .resumed].contains(source)
    }

    /// The same file, to be stored as one in doubt: fresh for at most a minute, and then requested whole.
    package var doubted: LoadedFile { copy(head: head, response?.doubted) }

    /// The fields of the answer that a cache keeps; nil for `file:` and `data:`.
    package var fields: HeaderFields? { response?.fields }

    /// When the answer arrived or was confirmed, in seconds since 1970; its age at that time, and its freshness
    /// lifetime, in seconds. Nil for a file that is always fresh.
    package var freshness: (received: Int, initialAge: Int, lifetime: Int)? {
        response.map { ($0.received, $0.initialAge, $0.lifetime) }
    }

    /// The SHA-256 of the file, also if this is its result or its record. Computed, unless it is known.
    package var content: String { response?.content ?? bytes.checksum }

    /// The same with its `content`.
    func identified() -> LoadedFile {
        guard var response, response.content == nil, isPresent else { return self }
        response.content = content
        return copy(head: head, response, isRepeated: isRepeated, storedLater: storedLater)
    }

    /// Whether a caller has stored the file on disk after its transfer.
    final class StoredLater: Sendable {
        let value = Atomic(false)
    }

    /// The same, not stored on disk.
    var unstored: LoadedFile {
        copy(head: head, response, isRepeated: isRepeated, storedLater: StoredLater())
    }

    /// What freshness and content say of the file, without its bytes.
    package func record(damage: ImageDecodingError?) -> LoadedFile {
        var response = response?.shortened
        // The record has no bytes to compute it from.
        response?.content = content
        return LoadedFile(
            bytes: ImageBytes([]), header: header, damage: damage, status: status, url: url,
            requestedURL: requestedURL, source: source, response: response, mayBeKept: mayBeKept)
    }

    /// How a cache of a kind may use the file now (RFC 9111 section 4), whatever its client wants.
    package func use(in kind: CacheKind, now: Int) -> CacheUse {
        response?.use(for: CacheControl(HeaderFields()), as: kind, now: now) ?? .fresh
    }

    /// Whether a cache of a kind may use the file stale now, because its server fails (RFC 5861 section 4).
    /// - Parameter directives: those of the request. Default: none.
    package func allowsStaleOnError(
        in kind: CacheKind, now: Int, _ directives: CacheControl = CacheControl(HeaderFields())
    ) -> Bool {
        response.map { response in
            CacheUse.allowsStaleOnError(
                age: response.age(at: now), lifetime: response.lifetime,
                control: kind.control(response.fields), directives: directives)
        } ?? false
    }

    /// How many seconds the file is still fresh; negative for a stale one. Nil for one that is always fresh.
    package func secondsLeft(now: Int) -> Int? { response.map { $0.lifetime - $0.age(at: now) } }

    /// The answer with other bytes: a stored file that it confirms as well, or the results of a file.
    /// - Parameter content: of the file whose results these are; nil for a file.
    func with(_ stored: LoadedFile, resultOf content: String?) -> LoadedFile {
        var response = response
        response?.content = content
        return copy(stored, head: head, response, isResult: content != nil)
    }

    /// Whether it is the image itself, and not a remembered 404 or 410.
    var isPresent: Bool { status == nil || status == 200 }
}
