/// The size that a picture is wanted at, and how it is made to that size.
public struct ImageSizing: Sendable, Hashable {
    /// The size in pixels, for the picture as it is shown.
    public var target: ImageSize
    /// How a picture of another shape is made to it.
    public var mode: ContentMode

    /// A size in pixels; the picture is made to fit into it unless `mode` says otherwise.
    /// - Parameters:
    ///   - target: the size wanted, in pixels.
    ///   - mode: how a picture of another shape is made to it. Default: it fits.
    public init(_ target: ImageSize, mode: ContentMode = .fit) {
        self.target = target
        self.mode = mode
    }

    /// The box that a picture of size `source` is made to fit into before it is cropped.
    package func box(for source: ImageSize) -> ImageSize {
        guard case .fill = mode else { return target }
        // The side that needs the larger scale decides. The other may be as long as it is.
        let across = Double(target.width) / Double(source.width)
        let down = Double(target.height) / Double(source.height)
        return across >= down
            ? ImageSize(width: target.width, height: source.height)
            : ImageSize(width: source.width, height: target.height)
    }
}

/// How a picture is made to a size of another shape. It keeps its own shape and is never enlarged.
public enum ContentMode: Sendable, Hashable {
    /// The whole picture fits into the size. One side may be shorter than wanted.
    case fit
    /// The picture covers the size and is cropped to it. The anchor says which part stays; default `.centre`.
    ///
    /// A picture that is too small to cover the size is not scaled. It is cropped to the shape of the size: 100 x 40
    /// pixels for 80 x 80 become 40 x 40.
    case fill(Anchor = .centre)

    /// The part of a picture that stays when it is cropped.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        /// The middle, one side, or one corner.
        case centre, top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight
    }
}
