/// Width and height of a picture in pixels.
public struct ImageSize: Sendable, Hashable {
    /// Pixels in a row.
    public var width: Int
    /// Number of rows.
    public var height: Int

    /// Makes a size from its two sides, in pixels.
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    package var transposed: ImageSize { ImageSize(width: height, height: width) }
}

extension ImageSize {
    /// The largest size of the same shape that fits into `box`; this size itself if that fits already. A side
    /// is rounded to the nearest pixel and never less than 1.
    /// - Parameter box: the size that it is to fit into.
    public func fitted(into box: ImageSize) -> ImageSize {
        guard width > box.width || height > box.height else { return self }
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        func scaled(_ side: Int, within limit: Int) -> Int {
            max(1, min(Int((Double(side) * scale).rounded()), limit))
        }
        return ImageSize(width: scaled(width, within: box.width), height: scaled(height, within: box.height))
    }
}
