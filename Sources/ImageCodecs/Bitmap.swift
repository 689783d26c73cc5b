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
        var index = 3
        while index < span.count {
            if span[index] != 255 { return false }
            index &+= 4
        }
        return true
    }
}
