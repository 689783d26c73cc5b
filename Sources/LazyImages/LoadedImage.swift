public import FoundationEssentials
public import ImageCodecs

/// An image as the tiers keep it: its bytes and what is known of them. Shared, never copied.
public final class CachedImage: Sendable {
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

/// An image as one load brings it.
public struct LoadedImage: Sendable {
    /// Where a load found its image.
    public enum Source: String, Sendable, Hashable {
        /// The memory tier; the disk tier; the network; a `file:` or `data:` URL.
        case memory, disk, network, local
    }

    /// What the load brought.
    public let image: CachedImage
    /// Where it found it.
    public let source: Source

    /// The file's bytes.
    public var bytes: ImageBytes { image.bytes }
    /// Format and size; nil only for what is no image, where any content is accepted.
    public var header: ImageHeader? { image.header }
    /// The status of the answer that brought it, 200; nil for `file:` and `data:`.
    public var status: Int? { image.status }
    /// Where it came from, after redirects.
    public var url: URL { image.url }
}
