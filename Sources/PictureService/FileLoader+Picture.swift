import FoundationEssentials
public import LazyImages
package import SystemSupport

extension FileLoader {
    /// The picture of an image at a size: the same bytes that `marquee picture` writes and the picture service sends.
    ///
    ///     let small = try await loader.picture(for: ImageRequest("https://example.org/a.jpg"), "342x513.fill.q80")
    ///
    /// The image is loaded and cached like any other file. The picture is made anew at each call, on threads that may
    /// block.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - recipe: a size (`w342`, `x513`, `342x513`, `342x513.fill` or `original`), then an encoding if needed: `.q60`
    ///     for the quality of a JPEG, default 80, or `.png`.
    /// - Returns: a JPEG, or a PNG if the picture has transparency, with its format and size. It is never larger than
    ///   the image.
    /// - Throws: the errors of `file(for:)`; `.undecodable` for a file that is not a whole image; for an invalid
    ///   recipe, an error with a one-line description.
    public func picture(for request: ImageRequest, _ recipe: String) async throws -> LoadedFile {
        let recipe = try PictureRecipe(recipe)
        let file = try await file(for: request)
        let picture = try await file.picture(recipe, on: pictureThreads)
        return LoadedFile(
            bytes: picture.bytes, header: picture.header, url: file.url, source: file.source)
    }
}

extension LoadedFile {
    /// Makes the picture of a file by a recipe, on these threads.
    /// - Throws: `ImageLoadingError.undecodable`, `PictureError`, or an error when the system gives no thread.
    package func picture(_ recipe: PictureRecipe, on threads: BlockingThreads) async throws -> Picture {
        let outcome = try await threads.run { [bytes] () -> Result<Picture, PictureError> in
            Result { () throws(PictureError) in try Picture.picture(of: bytes, recipe) }
        }
        do {
            return try outcome.get()
        } catch .notDecodable(let error) {
            throw ImageLoadingError.undecodable(url: requestedURL.displayText, reason: error)
        }
    }
}

/// Threads that decode. Decoding uses a processor and the memory of a picture, so there is one thread for each
/// processor.
private let pictureThreads = BlockingThreads(
    count: ProcessInfo.processInfo.activeProcessorCount, name: "marquee-picture")
