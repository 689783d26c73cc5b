/// A decoded picture: RGBA, 8 bits a channel, rows from the top without padding, alpha not multiplied in.
///
/// The channel `c` of the pixel in column `x` of row `y` is `pixels[(y * width + x) * 4 + c]`.
public struct Bitmap: Sendable, Hashable {
    /// Pixels in a row, at least 1.
    public let width: Int
    /// Number of rows, at least 1.
    public let height: Int
    /// Four bytes a pixel: red, green, blue, alpha (255 is opaque).
    public let pixels: [UInt8]
    /// False where the file ended before its picture did: what was missing is grey, or coarser than it should be.
    public let isComplete: Bool

    /// Makes a bitmap from its pixels; there must be exactly `width * height * 4` bytes, and both sides positive. It is
    /// complete unless told.
    /// - Parameters:
    ///   - width: pixels in a row.
    ///   - height: number of rows.
    ///   - pixels: red, green, blue and alpha of each pixel, row after row.
    ///   - isComplete: whether the file had the whole picture.
    public init(width: Int, height: Int, pixels: [UInt8], isComplete: Bool = true) {
        precondition(
            width > 0 && height > 0 && pixels.count == width * height * 4, "pixels do not fit the sides")
        self.width = width
        self.height = height
        self.pixels = pixels
        self.isComplete = isComplete
    }

    /// Both sides, in pixels.
    public var size: ImageSize { ImageSize(width: width, height: height) }

    /// What the bitmap costs in memory, in bytes.
    public var cost: Int { pixels.count }

    /// Whether every pixel is opaque. Looks at all of them.
    public var isOpaque: Bool {
        let span = pixels.span
        var index = 0
        // Sixteen pixels at once, each with its alpha in the upper byte of a word.
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

/// Takes a picture's rows from the top and makes the bitmap: whole, or averaged to a smaller size as the rows
/// come, so that a large picture never exists at its full size; cropped where its layout says so.
struct BitmapBuilder {
    private let source: ImageSize
    private let layout: PictureLayout
    private var nextRow = 0
    /// The pixels of the whole picture, or of one row when it is averaged.
    private var pixels: [UInt8]
    private var averager: AreaAverager?

    /// A builder for a picture that comes as `source` and is wanted by `layout`. Pixels not written stay opaque white.
    init(source: ImageSize, layout: PictureLayout, isOpaque: Bool) {
        self.source = source
        self.layout = layout
        if layout.scaled == source {
            pixels = [UInt8](repeating: 255, count: source.width * source.height * 4)
        } else {
            averager = AreaAverager(from: source, to: layout, weighingByAlpha: !isOpaque)
            pixels = [UInt8](repeating: 255, count: source.width * 4)
        }
    }

    /// Whether any pixel of the result is made of the next row.
    var needsNextRow: Bool { averager?.needsNextRow ?? layout.rows.contains(nextRow) }

    /// Passes over a row that is not needed.
    mutating func skipRow() {
        nextRow &+= 1
        averager?.skipRow()
    }

    /// Lets `body` write the next row, `source.width * 4` bytes, to the place it is given.
    mutating func addRow(_ body: (inout MutableSpan<UInt8>, Range<Int>) throws(ImageDecodingError) -> Void)
        throws(ImageDecodingError)
    {
        let rowBytes = source.width &* 4
        let start = averager == nil ? nextRow &* rowBytes : 0
        nextRow &+= 1
        var span = pixels.mutableSpan
        try body(&span, start..<start &+ rowBytes)
        if var current = averager.take() {
            current.add(row: pixels.span)
            averager = current
        }
    }

    /// The bitmap; every row must have been added.
    consuming func finish(isComplete: Bool = true) -> Bitmap {
        guard let averager else {
            return Bitmap(
                width: source.width, height: source.height, pixels: pixels, isComplete: isComplete
            ).cropped(to: layout)
        }
        return averager.finish(isComplete: isComplete)
    }
}
