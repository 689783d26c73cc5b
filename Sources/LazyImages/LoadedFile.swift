public import FoundationEssentials
public import ImageCodecs

/// An image's file as the tiers keep it: its bytes and what is known of them. Shared, never copied.
public final class CachedFile: Sendable {
    /// The file's bytes.
    public let bytes: ImageBytes
    /// Format and size; nil only for what is no image, where any content is accepted.
    public let header: ImageHeader?
    /// The status of the answer that brought it, 200; nil for `file:` and `data:`.
    public let status: Int?
    /// Where it came from, after redirects.
    public let url: URL

    init(bytes: ImageBytes, header: ImageHeader?, status: Int?, url: URL) {
        self.bytes = bytes
        self.header = header
        self.status = status
        self.url = url
    }
}

/// An image's file as one load brings it.
public struct LoadedFile: Sendable {
    /// Where a load found its file.
    public enum Source: String, Sendable, Hashable {
        /// The memory tier; the disk tier; the network; a `file:` or `data:` URL.
        case memory, disk, network, local
    }

    /// What the load brought.
    public let file: CachedFile
    /// Where it found it.
    public let source: Source

    /// The file's bytes.
    public var bytes: ImageBytes { file.bytes }
    /// Format and size; nil only for what is no image, where any content is accepted.
    public var header: ImageHeader? { file.header }
    /// The status of the answer that brought it, 200; nil for `file:` and `data:`.
    public var status: Int? { file.status }
    /// Where it came from, after redirects.
    public var url: URL { file.url }
}
