package import ImageCodecs
package import LazyImages

/// A picture at a size: the bytes of a file, their format and their size. The same source and recipe give the same
/// bytes on every machine.
package struct Picture: Sendable {
    package let bytes: ImageBytes
    package let format: ImageFormat
    package let size: ImageSize

    package init(bytes: ImageBytes, format: ImageFormat, size: ImageSize) {
        (self.bytes, self.format, self.size) = (bytes, format, size)
    }

    /// Format and size in the loader's form.
    package var header: ImageHeader { ImageHeader(format: format, size: size) }

    /// The version of the encoder. It grows whenever the same source and recipe give other bytes.
    package static let encoderVersion = 3

    /// The key that a picture is stored under. It names the source by its content, so a changed source never gives an
    /// old picture, and all instances agree. 64 hexadecimal digits.
    /// - Parameter content: the SHA-256 of the source's bytes, as `ImageBytes.checksum` has it.
    package static func key(_ recipe: PictureRecipe, ofContent content: String) -> SHA256.Digest {
        SHA256.hash(of: "\(content)\n\(recipe.derivation)\nencoder \(encoderVersion)")
    }

    /// Makes the picture of a source by a recipe. Runs for milliseconds on the caller's thread.
    package static func picture(
        of source: ImageBytes, _ recipe: PictureRecipe, decoders: ImageDecoders = .standard,
        limits: DecodingLimits = .standard
    ) throws(PictureError) -> Picture {
        var maker = try PictureMaker(source, decoders: decoders, limits: limits)
        return try maker.picture(recipe)
    }

    /// Makes the pictures of a source by several recipes, in their order. Each has the same bytes as `picture` gives.
    /// The source is decoded once; a large JPEG may be decoded again for small pictures.
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
