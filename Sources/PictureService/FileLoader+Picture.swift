import FoundationEssentials
public import LazyImages
package import SystemSupport

extension FileLoader {
    /// The picture of an image at a size: byte for byte what `marquee picture` writes and the picture service sends.
    ///
    ///     let small = try await loader.picture(for: ImageRequest("https://example.org/a.jpg"), "342x513.fill.q80")
    ///
    /// The image is loaded like any other file, and its bytes are cached; the picture is made anew at each call, on threads
    /// that may take their time.
    /// - Parameters:
    ///   - request: what to load.
    ///   - recipe: a size (`w342`, `x513`, `342x513`, `342x513.fill` or `original`), then what else matters: `.q60` for
    ///     the quality of a JPEG, 80 unless told, or `.png`.
    /// - Returns: a JPEG, or a PNG where there is transparency, with its format and size; never larger than the image.
    /// - Throws: what `file(for:)` throws; `.undecodable` for what is no whole picture; and an error that describes itself in
    ///   one line for a text that is no recipe.
    public func picture(for request: ImageRequest, _ recipe: String) async throws -> LoadedFile {
        let recipe = try PictureRecipe(recipe)
        let file = try await file(for: request)
        let picture = try await file.picture(recipe, on: pictureThreads)
        return LoadedFile(
            bytes: picture.bytes, header: picture.header, url: file.url, source: file.source)
    }
}

extension LoadedFile {
    /// The picture of a file by a recipe, made on these threads.
    /// - Throws: `ImageLoadingError.undecodable`, `PictureError`, or that the system gives no thread.
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

/// Decoding takes the processor and a picture's memory: no more at once than there are processors.
private let pictureThreads = BlockingThreads(
    count: ProcessInfo.processInfo.activeProcessorCount, name: "marquee-picture")
