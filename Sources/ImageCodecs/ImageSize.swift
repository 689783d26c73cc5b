/// Width and height of a picture in pixels.
public struct ImageSize: Sendable, Hashable {
    /// Pixels in a row.
    public var width: Int
    /// Number of rows.
    public var height: Int

    /// Makes a size from its two sides, in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    package var transposed: ImageSize { ImageSize(width: height, height: width) }
}
