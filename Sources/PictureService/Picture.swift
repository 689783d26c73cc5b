package import ImageCodecs
package import LazyImages

/// A picture at a size: the bytes of a file, and what is known of them. The same source and recipe give the same bytes,
/// whatever else is made with them and on whatever machine.
package struct Picture: Sendable {
    package let bytes: ImageBytes
    package let format: ImageFormat
    package let size: ImageSize

    /// Format and size as a loader tells them.
    package var header: ImageHeader { ImageHeader(format: format, size: size) }

    /// Counts up whenever other bytes come out for the same source and recipe.
    package static let encoderVersion = 3

    /// What a picture is kept under: it names the source by its content, so that a changed source never has an old size,
    /// and instances agree. 64 hexadecimal digits.
    /// - Parameter content: the SHA-256 of the source's bytes, as `ImageBytes.checksum` has it.
    package static func key(_ recipe: PictureRecipe, ofContent content: String) -> SHA256.Digest {
        SHA256.hash(of: "\(content)\n\(recipe.derivation)\nencoder \(encoderVersion)")
    }

    /// The picture of a source by a recipe. Runs for milliseconds on the caller's thread.
    package static func picture(
        of source: ImageBytes, _ recipe: PictureRecipe, decoders: ImageDecoders = .standard,
        limits: DecodingLimits = .standard
    ) throws(PictureError) -> Picture {
        var maker = try PictureMaker(source, decoders: decoders, limits: limits)
        return try maker.picture(recipe)
    }

    /// The pictures of a source by several recipes, in their order, each as `picture` makes it alone. The source is decoded
    /// once; again only where there are small and large pictures of a large JPEG.
    package static func pictures(
        of source: ImageBytes, _ recipes: [PictureRecipe], decoders: ImageDecoders = .standard,
        limits: DecodingLimits = .standard
    ) throws(PictureError) -> [Picture] {
        var maker = try PictureMaker(source, decoders: decoders, limits: limits)
        var pictures: [Picture] = []
        for recipe in recipes { pictures.append(try maker.picture(recipe)) }
        return pictures
    }
}
