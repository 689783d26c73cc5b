public import FoundationEssentials
public import ImageCodecs

/// A decoded image. Shared, never copied.
public final class LoadedImage: Sendable, CachedAddress {
    /// The pixels, at about the size that was wanted.
    public let bitmap: Bitmap
    /// What the file's header says: its format, and its own size.
    public let header: ImageHeader
    /// Where its file came from, after redirects.
    public let url: URL
    /// What was asked for, before redirects.
    public let requestedURL: URL
    /// Where the load found it. `.memory` means that it was there decoded; what was decoded anew from a file in memory is
    /// `.decoded`.
    public let source: LoadedFile.Source
    /// What is known of the answer that brought its file; nil for `file:` and `data:`, which do not grow old.
    let response: StoredResponse?
    /// What its file is cached under, which is the same for all sizes; nil for an image of the caller's own.
    let fileKey: CacheKey?

    init(
        bitmap: Bitmap, header: ImageHeader, url: URL, requestedURL: URL, source: LoadedFile.Source,
        response: StoredResponse?, fileKey: CacheKey?
    ) {
        self.bitmap = bitmap
        self.header = header
        self.url = url
        self.requestedURL = requestedURL
        self.source = source
        self.response = response
        self.fileKey = fileKey
    }

    /// An image of the caller's own, such as a loader of another program gives.
    /// - Parameters:
    ///   - bitmap: the pixels.
    ///   - header: what the file's header says.
    ///   - url: where it is from.
    ///   - source: where it was found. Default: `local`.
    public convenience init(
        bitmap: Bitmap, header: ImageHeader, url: URL, source: LoadedFile.Source = .local
    ) {
        self.init(
            bitmap: bitmap, header: header, url: url, requestedURL: url, source: source, response: nil,
            fileKey: nil)
    }

    /// The same, found elsewhere.
    func from(_ source: LoadedFile.Source) -> LoadedImage {
        if self.source == source { return self }
        return LoadedImage(
            bitmap: bitmap, header: header, url: url, requestedURL: requestedURL, source: source,
            response: response, fileKey: fileKey)
    }
}
