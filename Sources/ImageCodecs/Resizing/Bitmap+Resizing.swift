extension Bitmap {
    /// Resizes the image by area averaging: each pixel is the mean of the area it covers, weighted by alpha. Averages
    /// the stored values without linearising them. Both sides must be positive, and this image at most 65,535 rows
    /// high.
    /// - Parameter size: the size in pixels.
    public func resized(to size: ImageSize) -> Bitmap { resized(to: PictureLayout(whole: size)) }

    /// Resizes and crops the image as `sizing` says, without enlarging; returns the image itself if nil.
    package func resized(to sizing: ImageSizing?) -> Bitmap { resized(to: PictureLayout(size, to: sizing)) }

    func resized(to layout: PictureLayout) -> Bitmap {
        guard layout.scaled != size else { return cropped(to: layout) }
        var averager = AreaAverager(from: size, to: layout, weighingByAlpha: !isOpaque)
        let stride = width * 4
        for row in 0..<height { averager.add(row: pixels.span.extracting(row * stride..<(row + 1) * stride)) }
        return averager.finish(damage: damage)
    }

    /// Resizes the image with a three-lobed Lanczos kernel, sharper than ``resized(to:)``. Uses the stored values
    /// without linearising them, weighted by alpha. Both sides must be positive.
    /// - Parameter size: the size in pixels.
    public func resampled(to size: ImageSize) -> Bitmap { resampled(to: PictureLayout(whole: size)) }

    /// Resizes and crops the image as `sizing` says, without enlarging, sharper than `resized(to:)`.
    package func resampled(to sizing: ImageSizing?) -> Bitmap {
        resampled(to: PictureLayout(size, to: sizing))
    }

    private func resampled(to layout: PictureLayout) -> Bitmap {
        guard layout.scaled != size else { return cropped(to: layout) }
        let reduced = Self.reduced(size, for: layout.scaled)
        return Resampler(reduced == size ? self : resized(to: reduced), to: layout).resampled()
    }

    /// The size to average a much larger image to first: averaging is as good there, and needs fewer rows at a time. It
    /// stays at least four times the target.
    private static func reduced(_ source: ImageSize, for target: ImageSize) -> ImageSize {
        func side(_ source: Int, _ target: Int) -> Int {
            source < target * 8 ? source : source / (source / (target * 4))
        }
        return ImageSize(
            width: side(source.width, target.width), height: side(source.height, target.height))
    }

    /// The peak memory use of resampling in bytes, with the result and without the source.
    package static func memoryToResample(from source: ImageSize, to target: ImageSize) -> Int {
        guard source != target else { return 0 }
        let reduced = reduced(source, for: target)
        // Averaging needs two sums for each channel of a column.
        let averaging = reduced == source ? 0 : reduced.bitmapBytes + source.width * 2 * 16
        return averaging + Resampler.memory(from: reduced, to: target)
    }

    /// Crops the image to a layout that does not scale it.
    func cropped(to layout: PictureLayout) -> Bitmap {
        guard layout.size != size else { return self }
        let source = pixels.span
        let kept = [UInt8](capacity: layout.size.width * layout.size.height * 4) { output in
            for row in layout.rows {
                let start = row &* width
                for index in (start &+ layout.columns.lowerBound) &* 4..<(start &+ layout.columns.upperBound)
                    &* 4
                {
                    output.append(source[index])
                }
            }
        }
        return Bitmap(
            width: layout.size.width, height: layout.size.height, pixels: kept, damage: damage)
    }
}

/// How an image is resized and cropped: it is scaled to `scaled`, and these columns and rows of that are kept.
struct PictureLayout: Equatable {
    let scaled: ImageSize
    let columns: Range<Int>
    let rows: Range<Int>

    /// The size of the result.
    var size: ImageSize { ImageSize(width: columns.count, height: rows.count) }

    /// The layout for the stored image, before its Exif rotation.
    func stored(_ orientation: ExifOrientation) -> PictureLayout {
        // Swapping sides is its own inverse.
        let whole = orientation.size(ofStored: scaled)
        let first = orientation.stored(
            column: columns.lowerBound, row: rows.lowerBound, width: whole.width, height: whole.height)
        let last = orientation.stored(
            column: columns.upperBound - 1, row: rows.upperBound - 1, width: whole.width,
            height: whole.height)
        return PictureLayout(
            scaled: whole, columns: min(first.x, last.x)..<max(first.x, last.x) + 1,
            rows: min(first.y, last.y)..<max(first.y, last.y) + 1)
    }
}

extension PictureLayout {
    /// Keeps the whole image.
    init(whole size: ImageSize) {
        self.init(scaled: size, columns: 0..<size.width, rows: 0..<size.height)
    }

    /// The layout of an image of size `source` for `sizing`; unchanged if nil.
    init(_ source: ImageSize, to sizing: ImageSizing?) {
        let scaled = sizing.map { source.fitted(into: $0.box(for: source)) } ?? source
        guard let sizing, let anchor = sizing.mode.anchor else {
            self.init(whole: scaled)
            return
        }
        let wanted = ImageSize(width: max(1, sizing.target.width), height: max(1, sizing.target.height))
        let size = wanted.fitted(into: scaled)
        let halves = anchor.halvesBefore
        let left = (scaled.width - size.width) * halves.columns / 2
        let top = (scaled.height - size.height) * halves.rows / 2
        self.init(scaled: scaled, columns: left..<left + size.width, rows: top..<top + size.height)
    }
}

extension ImageContentMode.Anchor {
    /// How much of the dropped columns and rows lies before the kept part, in halves.
    var halvesBefore: (columns: Int, rows: Int) {
        switch self {
        case .topLeft: (0, 0)
        case .top: (1, 0)
        case .topRight: (2, 0)
        case .left: (0, 1)
        case .center: (1, 1)
        case .right: (2, 1)
        case .bottomLeft: (0, 2)
        case .bottom: (1, 2)
        case .bottomRight: (2, 2)
        }
    }
}

/// The requested size of an image, and how to resize it.
public struct ImageSizing: Sendable, Hashable {
    /// The size of the upright image, in pixels.
    public var target: ImageSize
    /// How to resize an image with other proportions.
    public var mode: ImageContentMode

    /// Creates a request for a size.
    /// - Parameters:
    ///   - target: the size, in pixels.
    ///   - mode: how to resize an image with other proportions. Default: `fit`.
    public init(_ target: ImageSize, mode: ImageContentMode = .fit) {
        self.target = target
        self.mode = mode
    }

    /// The box to fit an image of size `source` into before cropping.
    package func box(for source: ImageSize) -> ImageSize {
        guard mode != .fit else { return target }
        // The side that needs the larger scale decides; the other is unlimited.
        let across = Double(target.width) / Double(source.width)
        let down = Double(target.height) / Double(source.height)
        return across >= down
            ? ImageSize(width: target.width, height: source.height)
            : ImageSize(width: source.width, height: target.height)
    }
}

/// How to resize an image to other proportions. It is never distorted or enlarged.
public struct ImageContentMode: Sendable, Hashable {
    /// The part to keep when cropping; nil for an image that fits.
    package let anchor: Anchor?

    /// The whole image fits into the size. One side may be shorter than requested.
    public static let fit = ImageContentMode(anchor: nil)
    /// The image covers the size and is cropped to its center: see ``fill(_:)``.
    public static let fill = fill(.center)

    /// The image covers the size and is cropped to it.
    ///
    /// An image too small to cover the size is cropped to its proportions without scaling: 100 x 40 pixels become 40 x
    /// 40 for 80 x 80.
    /// - Parameter anchor: the part to keep.
    public static func fill(_ anchor: Anchor) -> ImageContentMode { ImageContentMode(anchor: anchor) }

    /// The part of an image to keep when cropping.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        /// The middle. Cache keys have its old name.
        case center = "centre"
        /// A side, or a corner.
        case top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight
    }
}
