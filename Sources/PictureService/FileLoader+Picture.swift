internal import FoundationEssentials
internal import ImageCodecs
public import LazyImages
package import SystemSupport

extension FileLoader {
    /// The picture of an image by a recipe: the same bytes that `marquee picture` writes and the picture service sends.
    ///
    ///     let request: ImageRequest = "https://example.org/a.jpg"
    ///     let small = try await loader.picture(for: request, PictureRecipe("342x513.fill.q80"))
    ///
    /// The image is loaded and cached like any other file. The picture is made anew at each call, on threads that may
    /// block. The recipe's expiry and tag are for services alone.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - recipe: size, steps and encoding.
    /// - Returns: a JPEG, or a PNG if the picture has transparency, with its format and size. It is never larger than
    ///   the image.
    /// - Throws: the errors of `file(for:)`; `.undecodable` for a file that is not a whole image; `.processingFailed`
    ///   if a step does not fit the image, or no encoder takes the result.
    public func picture(
        for request: ImageRequest, _ recipe: PictureRecipe
    ) async throws(ImageLoadingError) -> LoadedFile {
        let file = try await file(for: request)
        let picture = try await file.picture(recipe, on: pictureThreads)
        return LoadedFile(
            bytes: picture.bytes, header: picture.header, url: file.url, source: file.source)
    }
}

extension LoadedFile {
    /// Makes the picture of a file by a recipe, on these threads.
    package func picture(
        _ recipe: PictureRecipe, on threads: BlockingThreads
    ) async throws(ImageLoadingError) -> Picture {
        let outcome: Result<Picture, PictureError>
        do {
            outcome = try await threads.run { [bytes] in
                Result { () throws(PictureError) in try Picture.picture(of: bytes, recipe) }
            }
        } catch {
            throw .resourcesShort(url: requestedURL.displayText, reason: "\(error)")
        }
        do {
            return try outcome.get()
        } catch {
            throw ImageLoadingError(error, of: requestedURL.displayText)
        }
    }
}

extension ImageLoadingError {
    /// The error of a load whose picture is not made.
    fileprivate init(_ error: PictureError, of url: String) {
        switch error {
        case .notDecodable(let reason): self = .undecodable(url: url, reason: reason)
        case .notProcessable(let reason): self = .processingFailed(url: url, reason: reason)
        case .malformedRecipe, .notEncodable:
            self = .processingFailed(url: url, reason: .failed(processor: "encode", reason: "\(error)"))
        }
    }
}

/// Threads that decode. Decoding uses a processor and the memory of a picture, so there is one thread for each
/// processor.
private let pictureThreads = BlockingThreads(
    count: ProcessInfo.processInfo.activeProcessorCount, name: "marquee-picture")
