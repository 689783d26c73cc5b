/// The width and height of an image in pixels.
public struct ImageSize: Sendable, Hashable {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size.
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a rotation by 90 degrees.
    package var transposed: ImageSize { ImageSize(width: height, height: width) }
}

extension ImageSize {
    /// The largest size with the same proportions that fits into `box`; this size itself if it fits. Sides are rounded
    /// to whole pixels, at least 1.
    /// - Parameter box: the size to fit into.
    public func fitted(into box: ImageSize) -> ImageSize {
        guard width > box.width || height > box.height else { return self }
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        func scaled(_ side: Int, within limit: Int) -> Int {
            max(1, min(Int((Double(side) * scale).rounded()), limit))
        }
        return ImageSize(width: scaled(width, within: box.width), height: scaled(height, within: box.height))
    }
}
