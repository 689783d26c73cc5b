/// Decodes GIF87a and GIF89a to the first frame of an animation, or to all images of a still picture together, on a
/// transparent canvas of the size of the logical screen. The background colour is ignored, as in browsers.
///
/// A file that is cut or damaged after its first image has begun gives a bitmap with `damage`, whose missing pixels are
/// transparent. A screen smaller than the first image grows to it.
public struct GIFDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only GIF.
    public let formats: Set<ImageFormat> = [.gif]

    /// Decodes a GIF; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// Throws `tooLarge` before any allocation, and `.truncated(offset:)` or `corrupt` for damage before the first image.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try limits.check(inputBytes: bytes.count)
        let structure = try GIFStructure(parsing: bytes, limits: limits)
        if structure.images.count == 1, let image = structure.images.first,
            image.size == structure.screen, image.column == 0, image.row == 0
        {
            return try decode(image, of: bytes, sizing: sizing, damage: structure.damage)
        }
        var canvas = GIFCanvas(size: structure.screen, damage: structure.damage)
        for image in structure.images where try canvas.draw(image, of: bytes) != nil { break }
        return canvas.bitmap.resized(to: sizing)
    }

    /// An image as large as the screen needs no canvas: its rows go to the result one by one.
    private func decode(
        _ image: GIFImage, of bytes: Span<UInt8>, sizing: ImageSizing?, damage: ImageDecodingError?
    ) throws(ImageDecodingError) -> Bitmap {
        let pixels = try GIFPixels(image, of: bytes)
        let colours = image.colours(in: bytes)
        var builder = BitmapBuilder(
            source: image.size, isOpaque: image.control.transparentIndex == nil && pixels.isFull,
            Presentation(layout: PictureLayout(image.size, to: sizing)))
        for row in 0..<image.size.height {
            guard builder.needsNextRow else {
                builder.skipRow()
                continue
            }
            builder.addRow { output, range in
                let indices = pixels.output.span.extracting(pixels.range(ofRow: row))
                let colours = colours.span
                var target = range.lowerBound
                for column in 0..<indices.count {
                    output.store(colours[Int(indices[column])], at: target)
                    target &+= 4
                }
                while target < range.upperBound {
                    output.store(SIMD4<UInt8>(), at: target)
                    target &+= 4
                }
            }
        }
        return builder.finish(damage: pixels.damage ?? damage)
    }
}

/// The canvas on which several images, or one that does not cover the screen, are drawn.
private struct GIFCanvas {
    private let size: ImageSize
    private var pixels: [UInt8]
    /// The columns and rows of the last image, how it is disposed of, and the pixels under it if that restores them.
    private var last: (columns: Range<Int>, rows: Range<Int>, disposal: GIFImage.Disposal, saved: [UInt8])?
    private var damage: ImageDecodingError?

    init(size: ImageSize, damage: ImageDecodingError?) {
        self.size = size
        self.damage = damage
        pixels = [UInt8](repeating: 0, count: size.bitmapBytes)
    }

    var bitmap: Bitmap {
        Bitmap(width: size.width, height: size.height, pixels: pixels, damage: damage)
    }

    /// GIF89a, 23.c.iv: the last image is disposed of before the next is drawn. Parts outside the canvas are cut off.
    /// Returns the damage of the image.
    mutating func draw(
        _ image: GIFImage, of bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> ImageDecodingError? {
        dispose()
        let columns = min(image.column, size.width)..<min(image.column + image.size.width, size.width)
        let rows = min(image.row, size.height)..<min(image.row + image.size.height, size.height)
        let disposal = image.control.disposal
        last = (columns, rows, disposal, disposal == .restorePrevious ? copy(columns, rows) : [])
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        let decoded = try GIFPixels(image, of: bytes)
        damage = decoded.damage ?? damage
        let colours = image.colours(in: bytes)
        let colourSpan = colours.span
        let width = size.width
        var output = pixels.mutableSpan
        for row in rows {
            let indices = decoded.output.span.extracting(decoded.range(ofRow: row - image.row))
            var target = (row &* width &+ columns.lowerBound) &* 4
            for index in 0..<min(indices.count, columns.count) {
                let colour = colourSpan[Int(indices[index])]
                if colour.w > 0 { output.store(colour, at: target) }
                target &+= 4
            }
        }
        return decoded.damage
    }

    private mutating func dispose() {
        guard let (columns, rows, disposal, saved) = last, disposal != .keep else { return }
        var source = 0
        for row in rows {
            let start = (row * size.width + columns.lowerBound) * 4
            for index in start..<start + columns.count * 4 {
                pixels[index] = disposal == .clear ? 0 : saved[source]
                source += 1
            }
        }
    }

    private func copy(_ columns: Range<Int>, _ rows: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(columns.count * rows.count * 4)
        for row in rows {
            let start = (row * size.width + columns.lowerBound) * 4
            copy += pixels[start..<start + columns.count * 4]
        }
        return copy
    }
}
