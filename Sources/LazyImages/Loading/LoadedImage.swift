internal import Coalescing
public import FoundationEssentials
public import ImageCodecs

/// A decoded image. Shared, never copied.
public final class LoadedImage: Sendable, CachedAddress, CustomStringConvertible {
    /// The pixels, at about the wanted size.
    public let bitmap: Bitmap
    /// The size of the bitmap in pixels.
    public var size: ImageSize { bitmap.size }
    /// The file's format and size.
    public let header: ImageHeader
    /// What is missing or wrong, with its place in the file; nil for a whole image. Missing pixels are those that a
    /// decoder of the format leaves: transparent, grey, or as they were in an earlier scan.
    public let damage: ImageDecodingError?
    /// The URL of the file, after redirects.
    public let url: URL
    /// The URL of the request, before redirects.
    package let requestedURL: URL
    /// Where the load found the image. `.memory`: decoded in memory. `.decoded`: decoded again from a file in memory.
    public let source: LoadedFile.Source
    /// The stored form of the answer; nil for `file:` and `data:`, which are always fresh.
    let response: StoredResponse?
    /// The cache key of the file, the same for all sizes; nil for an image of another program's loader.
    let fileKey: CacheKey?

    init(
        bitmap: Bitmap, header: ImageHeader, damage: ImageDecodingError?, url: URL, requestedURL: URL,
        source: LoadedFile.Source, response: StoredResponse?, fileKey: CacheKey?
    ) {
        self.bitmap = bitmap
        self.header = header
        self.damage = damage
        self.url = url
        self.requestedURL = requestedURL
        self.source = source
        self.response = response
        self.fileKey = fileKey
    }

    /// An image for loaders of other programs.
    /// - Parameters:
    ///   - bitmap: the pixels.
    ///   - header: the file's format and size.
    ///   - url: the URL of the image.
    ///   - source: where the image was found. Default: `local`.
    public convenience init(
        bitmap: Bitmap, header: ImageHeader, url: URL, source: LoadedFile.Source = .local
    ) {
        self.init(
            bitmap: bitmap, header: header, damage: bitmap.damage, url: url, requestedURL: url,
            source: source, response: nil, fileKey: nil)
    }

    /// `500 x 750, network, https://example.org/posters/1.jpg`.
    public var description: String { "\(size), \(source), \(url.displayText)" }

    /// The same image with another source.
    func from(_ source: LoadedFile.Source) -> LoadedImage {
        self.source == source ? self : with(source, response)
    }

    /// The same image, kept as one in doubt: see ``LoadedFile/doubted``.
    var doubted: LoadedImage { with(source, response?.doubted) }

    private func with(_ source: LoadedFile.Source, _ response: StoredResponse?) -> LoadedImage {
        LoadedImage(
            bitmap: bitmap, header: header, damage: damage, url: url, requestedURL: requestedURL,
            source: source, response: response, fileKey: fileKey)
    }
}

/// The load of one image at one size, shared by its callers.
typealias ImageFlight = Flight<LoadedImage, ImageLoadingError, LoadEvent>
