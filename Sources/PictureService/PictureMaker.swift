package import ImageCodecs
package import LazyImages

/// A decoded source, of which pictures are made at sizes.
///
/// A JPEG is decoded at 1/2, 1/4 or 1/8 where that is enough. How far must not depend on which sizes are wanted together, or
/// the bytes of each would: so there are two scales, one that is enough for everything up to `sharedSide`, and the whole.
package struct PictureMaker: Sendable {
    /// Pixels of the shorter side that the smaller scale has at least, but for fewer in the source: enough for the standard
    /// sizes of posters.
    static let sharedSide = 780

    private let source: ImageBytes
    private let format: ImageFormat
    /// Of the source, as it is shown.
    private let size: ImageSize
    /// For small pictures; nil where none is wanted.
    private let reduced: Bitmap?
    /// For large ones; nil where none is wanted.
    private let whole: Bitmap?

    /// Decodes a source for some recipes, of which there is at least one.
    /// - Throws: `.notDecodable` for what is no picture, is too large, or is cut off.
    package init(
        _ source: ImageBytes, for recipes: [PictureRecipe], decoders: ImageDecoders = .standard,
        limits: DecodingLimits = .standard
    ) throws(PictureError) {
        let outcome = source.withBytes { bytes in
            Result { () throws(ImageDecodingError) in
                let header = try decoders.header(of: bytes)
                guard let size = header.size else {
                    throw .unsupported(feature: header.format.displayName)
                }
                let base = Self.base(of: size)
                // The bytes themselves may go out only when all of them have been decoded, at any scale.
                let wantsWhole = recipes.contains { !Self.isSmall($0, of: size) }
                let wantsReduced =
                    !wantsWhole || recipes.contains { Self.isSmall($0, of: size) && $0.size != .original }
                func decoded(_ least: ImageSize?) throws(ImageDecodingError) -> Bitmap {
                    let bitmap = try decoders.decode(bytes, notBelow: least, limits: limits)
                    guard bitmap.isComplete else { throw .truncated(offset: bytes.count) }
                    return bitmap
                }
                let reduced = wantsReduced ? try decoded(base) : nil
                // Where the reduced one is not smaller, it is the whole.
                if wantsWhole, let reduced, reduced.size == size {
                    return (header.format, size, reduced as Bitmap?, reduced as Bitmap?)
                }
                return (header.format, size, reduced, wantsWhole ? try decoded(nil) : nil)
            }
        }
        do {
            (format, size, reduced, whole) = try outcome.get()
        } catch {
            throw .notDecodable(error)
        }
        self.source = source
    }

    /// The picture by one of the recipes that the source was decoded for.
    package func picture(_ recipe: PictureRecipe) throws(PictureError) -> Picture {
        if recipe.size == .original { return Picture(bytes: source, format: format, size: size) }
        guard let bitmap = Self.isSmall(recipe, of: size) ? reduced : whole else {
            preconditionFailure("the source was not decoded for this recipe")
        }
        return try encode(resize(bitmap, by: recipe), by: recipe)
    }

    private func resize(_ bitmap: Bitmap, by recipe: PictureRecipe) -> Bitmap {
        if case .fill(let box) = recipe.size {
            return bitmap.resized(to: ImageSizing(box, mode: .fill(.centre)))
        }
        // By the source's own sides: those of a reduced bitmap are rounded.
        let wanted = Self.scaled(size, by: recipe)
        return wanted == bitmap.size ? bitmap : bitmap.resized(to: wanted)
    }

    private func encode(_ bitmap: Bitmap, by recipe: PictureRecipe) throws(PictureError) -> Picture {
        let isOpaque = bitmap.isOpaque
        let file: [UInt8]
        let format: ImageFormat
        if isOpaque, case .automatic(let quality) = recipe.encoding {
            do {
                file = try JPEGEncoder(quality: quality ?? PictureRecipe.standardQuality).encode(bitmap)
            } catch {
                throw .notEncodable(error)
            }
            format = .jpeg
        } else {
            file = PNGEncoder(colours: isOpaque ? .rgb : .rgba).encode(bitmap)
            format = .png
        }
        return Picture(bytes: ImageBytes(file), format: format, size: bitmap.size)
    }

    // MARK: Sizes

    /// The size that a source is scaled to before anything is cropped off. Never larger than the source.
    private static func scaled(_ source: ImageSize, by recipe: PictureRecipe) -> ImageSize {
        switch recipe.size {
        case .width(let width): source.fitted(into: ImageSize(width: width, height: source.height))
        case .height(let height): source.fitted(into: ImageSize(width: source.width, height: height))
        case .box(let box): source.fitted(into: box)
        case .fill(let box): source.fitted(into: ImageSizing(box, mode: .fill()).box(for: source))
        case .original: source
        }
    }

    /// What the smaller scale is not below.
    private static func base(of source: ImageSize) -> ImageSize {
        source.fitted(
            into: source.width <= source.height
                ? ImageSize(width: sharedSide, height: source.height)
                : ImageSize(width: source.width, height: sharedSide))
    }

    /// Whether the smaller scale is enough.
    private static func isSmall(_ recipe: PictureRecipe, of source: ImageSize) -> Bool {
        guard recipe.size != .original else { return true }
        let (scaled, base) = (scaled(source, by: recipe), base(of: source))
        return scaled.width <= base.width && scaled.height <= base.height
    }
}
