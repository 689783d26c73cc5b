package import ImageCodecs
package import LazyImages

/// Makes pictures of one source. Not safe for concurrent use.
///
/// A JPEG is decoded at 1/2, 1/4 or 1/8 if the result is still twice the wanted size each way. The loss is then
/// invisible: against a resampling of the whole picture in floating point, SSIM is 0.9993 (libvips 0.9992); at 1.3
/// times the size it would be 0.996. The scale depends on the source and the recipe alone, never on other recipes,
/// because the bytes depend on the scale. No scale is below `sharedSide`, so that small pictures share one.
///
/// Levels are resized as they are stored, in gamma space, as browsers and libvips do. Against such a reference, SSIM is
/// 0.9996 for 500 x 750 to 342 x 513 (libvips 0.9994; its linear mode 0.9942), and the mean of a channel stays. Linear
/// light moves the mean by more than 2 levels at 92 pixels.
///
/// A JPEG that becomes a JPEG is resized in YCbCr, as it is stored; its chroma goes straight to the size of 4:2:0. All
/// others are resized in RGB: PNG, JPEGs of other colour spaces, those that Exif rotates, and pictures with steps.
package struct PictureMaker: Sendable {
    /// The fewest pixels of the shorter side at the smallest scale.
    private let sharedSide: Int
    private let source: ImageBytes
    private let decoders: ImageDecoders
    private let limits: DecodingLimits
    /// Format and size of the source, as it is displayed.
    package let format: ImageFormat
    package let size: ImageSize
    /// The scales that the source can be decoded at, the smallest first and the whole last.
    private let scales: [DecodingPlan]
    private let whole: DecodingPlan
    /// The damage to the source, as far as it is known: to its structure from the beginning, to its pixels once they are
    /// decoded.
    private(set) var damage: ImageDecodingError?
    /// The decoded pictures by their sizes, for PNG and for JPEG.
    private var bitmaps: [ImageSize: Bitmap] = [:]
    private var planes: [ImageSize: PlanarPicture] = [:]

    /// Reads the source's header. Decoding waits until a picture is made.
    /// - Parameter sharedSide: the fewest pixels of the shorter side at the smallest scale. Default: twice a poster of
    ///   342.
    /// - Throws: `.notDecodable` if the source is not a picture or is too large.
    package init(
        _ source: ImageBytes, decoders: ImageDecoders = .standard, limits: DecodingLimits = .standard,
        sharedSide: Int = 684
    ) throws(PictureError) {
        (self.source, self.decoders, self.limits) = (source, decoders, limits)
        self.sharedSide = sharedSide
        (format, size, damage, scales, whole) = try Self.reading(source) { bytes throws(ImageDecodingError) in
            try limits.check(inputBytes: bytes.count)
            let (header, damage) = try decoders.structure(of: bytes)
            guard let size = header.size else { throw .unsupported(feature: header.format.displayName) }
            try limits.check(size)
            var scales: [DecodingPlan] = []
            for part in [8, 4, 2] {
                let least = ImageSize(
                    width: (size.width + part - 1) / part, height: (size.height + part - 1) / part)
                scales.append(try decoders.plan(for: bytes, notBelow: least))
            }
            return (header.format, size, damage, scales, try decoders.plan(for: bytes, notBelow: nil))
        }
    }

    /// Makes the picture by a recipe. The source is decoded at most once at each scale. Other pictures do not change
    /// the bytes of this one. Runs for milliseconds on the caller's thread.
    ///
    /// A damaged source gives a picture of what there is of it, and its `damage`; its own bytes are never sent.
    ///
    /// - Throws: `.notDecodable` if nothing of the source can be shown; `.notProcessable`, `.notEncodable`.
    package mutating func picture(_ recipe: PictureRecipe) throws(PictureError) -> Picture {
        if recipe.size == .original {
            // The source's own bytes may be sent after all of them have been decoded once, at any scale.
            if bitmaps.isEmpty, planes.isEmpty {
                let scale = scale(for: recipe)
                if scale.planes == nil { _ = try bitmap(at: scale) } else { _ = try planes(at: scale) }
            }
            if damage == nil { return Picture(bytes: source, format: format, size: size) }
        }
        let scale = recipe.size == .original ? whole : scale(for: recipe)
        if scale.planes != nil, recipe.steps.isEmpty, case .automatic(let quality) = recipe.encoding {
            // First: decoding may find damage.
            let planes = try planes(at: scale)
            return try encode(resize(planes, by: recipe), quality: quality)
        }
        let resized = resize(try bitmap(at: scale), by: recipe)
        return try encode(process(resized, by: recipe), by: recipe)
    }

    /// The most bytes in use while `picture` makes this picture: bitmaps kept from other recipes, the decoder, the
    /// resizer and the encoder, without the source's own bytes. An upper bound: most pictures take half of it.
    /// - Throws: `.notProcessable` if a step's result exceeds the limits.
    package func memory(for recipe: PictureRecipe) throws(PictureError) -> Int {
        let isOwnFile = recipe.size == .original && damage == nil
        let scale = recipe.size == .original && !isOwnFile ? whole : scale(for: recipe)
        let kept = bitmaps.values.reduce(0) { $0 + $1.cost } + planes.values.reduce(0) { $0 + $1.cost }
        guard !isOwnFile else {
            return kept + (bitmaps.isEmpty && planes.isEmpty ? scale.planes?.memory ?? scale.memory : 0)
        }
        let result = Self.scaled(size, by: recipe)
        if let plan = scale.planes, recipe.encoding != .png, recipe.steps.isEmpty {
            let making =
                PlanarPicture.memoryToResample(from: scale.size, to: result)
                + JPEGEncoder.memory(toEncode: result)
            return kept + (planes[scale.size] != nil ? making : max(plan.memory, plan.cost + making))
        }
        let making =
            try Bitmap.memoryToResample(from: scale.size, to: result) + memory(of: recipe.steps, result)
        let isDecoded = bitmaps[scale.size] != nil
        return kept + (isDecoded ? making : max(scale.memory, scale.size.bitmapBytes + making))
    }

    /// The source at a scale, decoded if it was not yet.
    private mutating func bitmap(at scale: DecodingPlan) throws(PictureError) -> Bitmap {
        if let bitmap = bitmaps[scale.size] { return bitmap }
        let bitmap = try Self.reading(source) { bytes throws(ImageDecodingError) in
            try decoders.decode(bytes, notBelow: scale.size, limits: limits)
        }
        damage = damage ?? bitmap.damage
        bitmaps[scale.size] = bitmap
        return bitmap
    }

    /// As `bitmap(at:)`, in planes.
    private mutating func planes(at scale: DecodingPlan) throws(PictureError) -> PlanarPicture {
        if let picture = planes[scale.size] { return picture }
        let picture = try Self.reading(source) { bytes throws(ImageDecodingError) in
            try decoders.decodePlanes(bytes, notBelow: scale.size, limits: limits)
        }
        damage = damage ?? picture.damage
        planes[scale.size] = picture
        return picture
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
            return bitmap.resampled(to: ImageSizing(box, mode: .fill(.center)))
        }
        // Uses the source's own sides: those of a reduced bitmap are rounded.
        let wanted = Self.scaled(size, by: recipe)
        return wanted == bitmap.size ? bitmap : bitmap.resampled(to: wanted)
    }

    private func resize(_ picture: PlanarPicture, by recipe: PictureRecipe) -> PlanarPicture {
        if case .fill(let box) = recipe.size {
            return picture.resampled(to: ImageSizing(box, mode: .fill(.center)))
        }
        return picture.resampled(to: Self.scaled(size, by: recipe))
    }

    private func process(_ bitmap: Bitmap, by recipe: PictureRecipe) throws(PictureError) -> Bitmap {
        do {
            return try bitmap.processed(by: recipe.steps, limits: limits)
        } catch {
            throw .notProcessable(error)
        }
    }

    private func encode(_ picture: PlanarPicture, quality: Int?) throws(PictureError) -> Picture {
        do {
            let file = try JPEGEncoder(quality: quality ?? PictureRecipe.standardQuality).encode(picture)
            return Picture(bytes: ImageBytes(file), format: .jpeg, size: picture.size, damage: damage)
        } catch {
            throw .notEncodable(error)
        }
    }

    private func encode(_ bitmap: Bitmap, by recipe: PictureRecipe) throws(PictureError) -> Picture {
        let quality: Int? =
            switch recipe.encoding {
            case .automatic(let quality): quality ?? PictureRecipe.standardQuality
            case .png: nil
            }
        do {
            let (file, format) = try bitmap.encoded(quality: quality)
            return Picture(bytes: ImageBytes(file), format: format, size: bitmap.size, damage: damage)
        } catch {
            throw .notEncodable(error)
        }
    }

    /// The most bytes of the steps and of encoding their result, besides the picture of size `first`.
    private func memory(
        of processors: [ImageProcessor], _ first: ImageSize
    ) throws(PictureError) -> Int {
        var (size, most) = (first, 0)
        for processor in processors {
            let before = size == first ? 0 : size.bitmapBytes
            most = max(most, before + processor.memory(changing: &size))
            do { try limits.check(size) } catch {
                throw .notProcessable(.tooLarge(processor: processor.identifier, size: size))
            }
        }
        let encoding = max(JPEGEncoder.memory(toEncode: size), PNGEncoder.memory(toEncode: size))
        return max(most, encoding + (processors.isEmpty ? 0 : size.bitmapBytes))
    }

    // MARK: Sizes

    /// The size that a source is scaled to before cropping. Never larger than the source.
    private static func scaled(_ source: ImageSize, by recipe: PictureRecipe) -> ImageSize {
        switch recipe.size {
        case .width(let width): source.fitted(into: ImageSize(width: width, height: source.height))
        case .height(let height): source.fitted(into: ImageSize(width: source.width, height: height))
        case .box(let box): source.fitted(into: box)
        case .fill(let box): source.fitted(into: ImageSizing(box, mode: .fill).box(for: source))
        case .original: source
        }
    }

    /// The smallest scale that has twice the wanted size and at least `sharedSide`.
    private func scale(for recipe: PictureRecipe) -> DecodingPlan {
        let shared = size.fitted(
            into: size.width <= size.height
                ? ImageSize(width: sharedSide, height: size.height)
                : ImageSize(width: size.width, height: sharedSide))
        let wanted = recipe.size == .original ? ImageSize(width: 1, height: 1) : Self.scaled(size, by: recipe)
        let (width, height) = (max(wanted.width * 2, shared.width), max(wanted.height * 2, shared.height))
        return scales.first { $0.size.width >= width && $0.size.height >= height } ?? whole
    }
}
