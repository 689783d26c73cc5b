public import FoundationEssentials
public import ImageCodecs

/// A decoded image as the memory tier keeps it. Shared, never copied.
public final class CachedImage: Sendable {
    /// The pixels, at about the size that was wanted.
    public let bitmap: Bitmap
    /// What the file's header says: its format, and its own size.
    public let header: ImageHeader
    /// Where its file came from, after redirects.
    public let url: URL
    /// What was asked for, before redirects.
    public let requestedURL: URL
    /// What is known of the answer that brought its file; nil for `file:` and `data:`, which do not grow old.
    let response: StoredResponse?

    init(
        bitmap: Bitmap, header: ImageHeader, url: URL, requestedURL: URL? = nil,
        response: StoredResponse? = nil
    ) {
        self.bitmap = bitmap
        self.header = header
        self.url = url
        self.requestedURL = requestedURL ?? url
        self.response = response
    }
}

/// An image as one load brings it.
public struct LoadedImage: Sendable {
    /// What the load brought.
    public let image: CachedImage
    /// Where it was found. `.memory` means that it was there decoded; what was decoded anew from a file in memory is
    /// `.decoded`.
    public let source: LoadedFile.Source

    /// The pixels, at about the size that was wanted.
    public var bitmap: Bitmap { image.bitmap }
    /// What the file's header says: its format, and its own size.
    public var header: ImageHeader { image.header }
    /// Where its file came from, after redirects.
    public var url: URL { image.url }
}
