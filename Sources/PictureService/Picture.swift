public import FoundationEssentials
package import Hashing
public import ImageCodecs
public import LazyImages
package import SystemSupport

/// A picture at a size: the bytes of a file, their format and their size. The same source and recipe give the same
/// bytes on every machine.
package struct Picture: Sendable {
    package let bytes: ImageBytes
    package let format: ImageFormat
    package let size: ImageSize
    /// The damage to the source; nil for a whole one.
    package let damage: ImageDecodingError?

    package init(
        bytes: ImageBytes, format: ImageFormat, size: ImageSize, damage: ImageDecodingError? = nil
    ) {
        (self.bytes, self.format, self.size, self.damage) = (bytes, format, size, damage)
    }

    /// Format and size in the loader's form.
    package var header: ImageHeader { ImageHeader(format: format, size: size) }

    /// The version of the encoder. It grows whenever the same source and recipe give other bytes.
    package static let encoderVersion = 4

    /// The key that a picture is stored under. It names the source by its content, so a changed source never gives an
    /// old picture, and all instances agree. 64 hexadecimal digits.
    /// - Parameter content: the SHA-256 of the source's bytes, as `ImageBytes.checksum` has it.
    package static func key(_ recipe: PictureRecipe, ofContent content: String) -> SHA256.Digest {
        SHA256.hash(of: "\(content)\n\(recipe.derivation)\nencoder \(encoderVersion)")
    }

    /// Makes the picture of a source by a recipe. Runs for milliseconds on the caller's thread.
    package static func picture(
        of source: ImageBytes, _ recipe: PictureRecipe, limits: DecodingLimits = .standard
    ) throws(PictureError) -> Picture {
        var maker = try PictureMaker(source, limits: limits)
        let memory = try maker.memory(for: recipe)
        do throws(ImageDecodingError) { try limits.check(memory: memory) } catch {
            throw .notDecodable(error)
        }
        return try maker.picture(recipe)
    }
}

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
    ///   A damaged image gives one with its ``LoadedFile/damage``.
    /// - Throws: the errors of `file(for:)`; `.undecodable` for a file that cannot be decoded; `.processingFailed`
    ///   if a step does not fit the image, or no encoder takes the result.
    public func picture(
        for request: ImageRequest, _ recipe: PictureRecipe
    ) async throws(ImageLoadingError) -> LoadedFile {
        let file = try await file(for: request)
        let picture = try await file.picture(recipe, on: pictureThreads)
        if let damage = picture.damage {
            if !request.options.acceptsDamage {
                throw .undecodable(url: request.url.displayText, reason: damage)
            }
            if file.mayBeDoubted { await doubt(file, for: request) }
        }
        return LoadedFile(
            bytes: picture.bytes, header: picture.header, damage: picture.damage, url: file.url,
            source: file.source)
    }
}

extension LoadedFile {
    /// Makes the picture of a file by a recipe, on these threads.
    package func picture(
        _ recipe: PictureRecipe, limits: DecodingLimits = .standard, on threads: BlockingThreads
    ) async throws(ImageLoadingError) -> Picture {
        let url = requestedURL.displayText
        return try await threads.run({ .resourcesShort(url: url, reason: "\($0)") }) {
            [bytes] () throws(ImageLoadingError) in
            do throws(PictureError) {
                return try Picture.picture(of: bytes, recipe, limits: limits)
            } catch {
                throw ImageLoadingError(error, of: url)
            }
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

/// Why a picture is not made.
public enum PictureError: Error, Hashable, Sendable {
    /// The text is not a recipe, because of one of its parts.
    case malformedRecipe(String, part: String)
    /// The source is not a picture that can be decoded within the limits.
    case notDecodable(ImageDecodingError)
    /// A step of the recipe does not fit this picture. Another recipe may.
    case notProcessable(ImageProcessingError)
    /// The picture cannot be encoded.
    case notEncodable(ImageEncodingError)
}

extension PictureError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// One line that says what is wrong and what to do.
    public var description: String {
        switch self {
        case .malformedRecipe(let text, let part):
            "\"\(text)\" is not a recipe because of \"\(part)\"; write a size such as w342, 342x513, x513 or original, then .fill, steps such as .round12, .q80 or .png, .e and .v"
        case .notDecodable(let error): "\(error)"
        case .notProcessable(let error): "the recipe does not fit the picture: \(error)"
        case .notEncodable(let error): "\(error)"
        }
    }
}
