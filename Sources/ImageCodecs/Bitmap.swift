/// A decoded image: RGBA, 8 bits per channel, rows from the top without padding, alpha not premultiplied. Its colours are
/// sRGB (IEC 61966-2-1): decoders convert from the file's.
///
/// The channel `c` of the pixel in column `x` of row `y` is `pixels[(y * width + x) * 4 + c]`.
public struct Bitmap: Sendable, Hashable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// Four bytes per pixel: red, green, blue, alpha (255 is opaque).
    public private(set) var pixels: [UInt8]
    /// What is missing or wrong in the file, with its place; nil for a whole picture. Missing parts are grey, coarse or
    /// transparent.
    public let damage: ImageDecodingError?

    /// Creates a bitmap from its pixels. There must be exactly `width * height * 4` bytes, and both sides must be
    /// positive.
    /// - Parameters:
    ///   - width: the width in pixels.
    ///   - height: the height in pixels.
    ///   - pixels: red, green, blue and alpha of each pixel, row by row.
    ///   - damage: what is missing or wrong in the file. Default: nothing.
    public init(width: Int, height: Int, pixels: [UInt8], damage: ImageDecodingError? = nil) {
        guard Self.fits(pixels.count, width, height) else {
            // Not a precondition: in a release build that has no text.
            fatalError("a bitmap of \(width) x \(height) pixels cannot have \(pixels.count) bytes")
        }
        self.width = width
        self.height = height
        self.pixels = pixels
        self.damage = damage
    }

    /// As above, but nil if the pixels do not fit the sides: for a decoder that reads the sides in a file.
    /// - Parameters:
    ///   - pixels: red, green, blue and alpha of each pixel, row by row.
    ///   - width: the width in pixels.
    ///   - height: the height in pixels.
    public init?(exactly pixels: [UInt8], width: Int, height: Int) {
        guard Self.fits(pixels.count, width, height) else { return nil }
        self.init(width: width, height: height, pixels: pixels)
    }

    private static func fits(_ count: Int, _ width: Int, _ height: Int) -> Bool {
        width > 0 && height > 0 && (count / 4).quotientAndRemainder(dividingBy: width) == (height, 0)
            && count.isMultiple(of: 4)
    }

    /// Changes the pixels in place.
    mutating func change(_ body: (inout MutableSpan<UInt8>) -> Void) {
        var span = pixels.mutableSpan
        body(&span)
    }

    /// The width and height in pixels.
    public var size: ImageSize { ImageSize(width: width, height: height) }

    /// The size in memory, in bytes.
    public var cost: Int { pixels.count }

    /// Whether every pixel is opaque. Checks all of them.
    public var isOpaque: Bool {
        let span = pixels.span
        var index = 0
        // Check sixteen pixels at once: alpha is the upper byte of each 32-bit half.
        while index &+ 64 <= span.count {
            let block = span.extracting(index..<index &+ 64)
            var common: UInt64 = .max
            for word in 0..<8 { common &= block.littleEndianWord(at: word &* 8) }
            if common & 0xFF00_0000_FF00_0000 != 0xFF00_0000_FF00_0000 { return false }
            index &+= 64
        }
        index &+= 3
        while index < span.count {
            if span[index] != 255 { return false }
            index &+= 4
        }
        return true
    }
}

extension Bitmap: CustomStringConvertible {
    /// `Bitmap 500 x 750`.
    public var description: String { "Bitmap \(width) x \(height)" }
}

extension Bitmap {
    /// The image as a file: a JPEG, or a PNG if it has transparency.
    /// - Parameter quality: of the JPEG, 1 to 100; nil for a PNG in any case.
    package func encoded(
        quality: Int?
    ) throws(ImageEncodingError) -> (file: [UInt8], format: ImageFormat) {
        let isOpaque = isOpaque
        if let quality, isOpaque { return (try JPEGEncoder(quality: quality).encode(self), .jpeg) }
        return (PNGEncoder(colors: isOpaque ? .rgb : .rgba).encode(self), .png)
    }
}

/// How a picture is made of a stored image.
struct Presentation {
    /// The size of the result and the part that is kept, before it is turned.
    var layout: PictureLayout
    /// The conversion to sRGB; nil for an image that has its colours.
    var transform: ColourTransform?
    /// The turn that makes it upright.
    var orientation = ExifOrientation.upright
}

extension Bitmap {
    /// The picture of a whole stored image.
    consuming func presented(_ presentation: Presentation) -> Bitmap {
        resized(to: presentation.layout).converted(by: presentation.transform)
            .turned(presentation.orientation)
    }
}

/// Builds a bitmap from rows, top to bottom. Averages them to a smaller size on arrival, so that a large image never
/// exists at its full size. Converts and turns a whole image on arrival too, an averaged one at the end.
struct BitmapBuilder {
    private let source: ImageSize
    private var presentation: Presentation
    private var nextRow = 0
    /// The pixels of the whole image, of the rows to be turned, or of one row when averaging.
    private var pixels: [UInt8]
    private var averager: AreaAverager?
    private var turner: PixelTurner?

    /// Creates a builder for rows of size `source`. Pixels that are not written stay opaque white.
    init(source: ImageSize, isOpaque: Bool, _ presentation: Presentation) {
        self.source = source
        self.presentation = presentation
        self.presentation.transform = presentation.transform?.prepared
        let (layout, orientation) = (presentation.layout, presentation.orientation)
        var rows = source.height
        if layout.scaled != source {
            averager = AreaAverager(from: source, to: layout, weighingByAlpha: !isOpaque)
            rows = 1
        } else if orientation != .upright, layout.size == source {
            turner = PixelTurner(orientation, source: source)
            rows = PixelTurner.rows
        }
        pixels = [UInt8](repeating: 255, count: source.width * rows * 4)
    }

    /// Whether the result depends on the next row.
    var needsNextRow: Bool { averager?.needsNextRow ?? presentation.layout.rows.contains(nextRow) }

    /// Skips a row that is not needed.
    mutating func skipRow() {
        nextRow &+= 1
        averager?.skipRow()
    }

    /// Calls `body` to write the next row, `source.width * 4` bytes, into the given range.
    mutating func addRow<Failure: Error>(
        _ body: (inout MutableSpan<UInt8>, Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        let rowBytes = source.width &* 4
        let start = nextRow &* rowBytes % pixels.count
        nextRow &+= 1
        var span = pixels.mutableSpan
        try body(&span, start..<start &+ rowBytes)
        if averager == nil { presentation.transform?.apply(to: &span, start..<start &+ rowBytes) }
        if nextRow % PixelTurner.rows == 0 || nextRow == source.height { turnRows() }
        if var current = averager.take() {
            current.add(row: pixels.span)
            averager = current
        }
    }

    /// Adds a transparent row. For averaging it has the colours of the row before it, so that they do not fade.
    mutating func addMissingRow() {
        let isAveraging = averager != nil
        addRow { output, range in
            for index in range where !isAveraging || index & 3 == 3 { output[index] = 0 }
        }
    }

    /// Returns the bitmap, after all rows were added.
    consuming func finish(damage: ImageDecodingError? = nil) -> Bitmap {
        if let turner { return turner.finish(damage: damage) }
        let stored =
            averager?.finish(damage: damage).converted(by: presentation.transform)
            ?? Bitmap(width: source.width, height: source.height, pixels: pixels, damage: damage)
            .cropped(to: presentation.layout)
        return stored.turned(presentation.orientation)
    }

    /// Turns the rows since the last time.
    private mutating func turnRows() {
        guard var current = turner.take() else { return }
        let first = (nextRow - 1) / PixelTurner.rows * PixelTurner.rows
        current.add(pixels.span.extracting(0..<(nextRow - first) * source.width * 4), from: first)
        turner = current
    }
}
