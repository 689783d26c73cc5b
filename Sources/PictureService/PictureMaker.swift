package import ImageCodecs
package import LazyImages

/// A source of which pictures are made at sizes. Not safe for concurrent use.
///
/// A JPEG is decoded at 1/2, 1/4 or 1/8 where that is enough. How far must not depend on which sizes are wanted together, or
/// the bytes of each would: so there are two scales, one that is enough for everything up to `sharedSide`, and the whole.
package struct PictureMaker: Sendable {
    /// Pixels of the shorter side that the smaller scale has at least, but for fewer in the source: enough for the standard
    /// sizes of posters.
    static let sharedSide = 780

    private let source: ImageBytes
    private let decoders: ImageDecoders
    private let limits: DecodingLimits
    /// Format and size of the source, as it is shown.
    let format: ImageFormat
    let size: ImageSize
    /// For small pictures, and for large ones. One and the same where the smaller would not be smaller.
    private var reduced: Scale
    private var whole: Scale
    private var hasOneScale: Bool { reduced.plan.size == size }

    /// The source at one of its two scales.
    private struct Scale {
        /// What the scale is not below; nil for the whole.
        let least: ImageSize?
        let plan: DecodingPlan
        /// Once it has been decoded.
        var bitmap: Bitmap?
    }

    /// Reads the source's header. Nothing is decoded until a picture is made.
    /// - Throws: `.notDecodable` for what is no picture or is too large.
    package init(
        _ source: ImageBytes, decoders: ImageDecoders = .standard, limits: DecodingLimits = .standard
    ) throws(PictureError) {
        (self.source, self.decoders, self.limits) = (source, decoders, limits)
        (format, size, reduced, whole) = try Self.reading(source) { bytes throws(ImageDecodingError) in
            try limits.check(inputBytes: bytes.count)
            let header = try decoders.header(of: bytes)
            guard let size = header.size else { throw .unsupported(feature: header.format.displayName) }
            try limits.check(size)
            func scale(_ least: ImageSize?) throws(ImageDecodingError) -> Scale {
                Scale(least: least, plan: try decoders.plan(for: bytes, notBelow: least))
            }
            return (header.format, size, try scale(Self.base(of: size)), try scale(nil))
        }
    }

    /// The picture by a recipe. The source is decoded at most once for all small pictures, `original` among them, and once for
    /// all large ones; no other picture changes the bytes of this one. Runs for milliseconds on the caller's thread.
    ///
    /// - Throws: `.notDecodable` for a source that is not right or is cut off, whatever the recipe; `.notEncodable`.
    package mutating func picture(_ recipe: PictureRecipe) throws(PictureError) -> Picture {
        let bitmap = try bitmap(for: recipe)
        if recipe.size == .original { return Picture(bytes: source, format: format, size: size) }
        return try encode(resize(bitmap, by: recipe), by: recipe)
    }

    /// Bytes in use at most while `picture` makes a picture by this recipe: those of bitmaps that are kept from other recipes,
    /// of the decoder, the resizer and the encoder; without the source's own. An upper bound: most pictures take half of it.
    package func memory(for recipe: PictureRecipe) -> Int {
        let isSmall = hasOneScale || isSmall(recipe)
        let (scale, other) = isSmall ? (reduced, whole) : (whole, reduced)
        let kept = other.bitmap?.cost ?? 0
        let result = Self.scaled(size, by: recipe)
        let making =
            recipe.size == .original
            ? 0 : Bitmap.memoryToResample(from: scale.plan.size, to: result) + Self.memoryToEncode(result)
        let decoding = scale.bitmap == nil ? scale.plan.memory : 0
        return kept + max(decoding, scale.plan.size.bitmapBytes + making)
    }

    /// The source at the scale that a recipe wants, decoded now if it was not yet.
    private mutating func bitmap(for recipe: PictureRecipe) throws(PictureError) -> Bitmap {
        let isSmall = hasOneScale || isSmall(recipe)
        // Its own bytes may go out once all of them have been decoded, at any scale.
        if recipe.size == .original, let bitmap = whole.bitmap { return bitmap }
        if let bitmap = isSmall ? reduced.bitmap : whole.bitmap { return bitmap }
        let (decoders, limits, least) = (decoders, limits, isSmall ? reduced.least : nil)
        let bitmap = try Self.reading(source) { bytes throws(ImageDecodingError) in
            let bitmap = try decoders.decode(bytes, notBelow: least, limits: limits)
            guard bitmap.isComplete else { throw .truncated(offset: bytes.count) }
            return bitmap
        }
        if isSmall { reduced.bitmap = bitmap } else { whole.bitmap = bitmap }
        return bitmap
    }

    private static func reading<Value>(
        _ source: ImageBytes, _ read: (Span<UInt8>) throws(ImageDecodingError) -> Value
    ) throws(PictureError) -> Value {
        let outcome = source.withBytes { bytes in
            Result { () throws(ImageDecodingError) in try read(bytes) }
        }
        do {
            return try outcome.get()
        } catch {
            throw .notDecodable(error)
        }
    }

    private func resize(_ bitmap: Bitmap, by recipe: PictureRecipe) -> Bitmap {
        if case .fill(let box) = recipe.size {
            return bitmap.resampled(to: ImageSizing(box, mode: .fill(.centre)))
        }
        // By the source's own sides: those of a reduced bitmap are rounded.
        let wanted = Self.scaled(size, by: recipe)
        return wanted == bitmap.size ? bitmap : bitmap.resampled(to: wanted)
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

    private static func memoryToEncode(_ size: ImageSize) -> Int {
        max(JPEGEncoder.memory(toEncode: size), PNGEncoder.memory(toEncode: size))
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
    private func isSmall(_ recipe: PictureRecipe) -> Bool {
        guard recipe.size != .original else { return true }
        let (scaled, base) = (Self.scaled(size, by: recipe), Self.base(of: size))
        return scaled.width <= base.width && scaled.height <= base.height
    }
}
