/// The requested size of an image, and how to resize it.
public struct ImageSizing: Sendable, Hashable {
    /// The size of the upright image, in pixels.
    public var target: ImageSize
    /// How to resize an image with other proportions.
    public var mode: ContentMode

    /// Creates a request for a size.
    /// - Parameters:
    ///   - target: the size, in pixels.
    ///   - mode: how to resize an image with other proportions. Default: `fit`.
    public init(_ target: ImageSize, mode: ContentMode = .fit) {
        self.target = target
        self.mode = mode
    }

    /// The box to fit an image of size `source` into before cropping.
    package func box(for source: ImageSize) -> ImageSize {
        guard case .fill = mode else { return target }
        // The side that needs the larger scale decides; the other is unlimited.
        let across = Double(target.width) / Double(source.width)
        let down = Double(target.height) / Double(source.height)
        return across >= down
            ? ImageSize(width: target.width, height: source.height)
            : ImageSize(width: source.width, height: target.height)
    }
}

/// How to resize an image to other proportions. It is never distorted or enlarged.
public enum ContentMode: Sendable, Hashable {
    /// The whole image fits into the size. One side may be shorter than requested.
    case fit
    /// The image covers the size and is cropped to it. The anchor selects the part to keep; default `.center`.
    ///
    /// An image too small to cover the size is cropped to its proportions without scaling: 100 x 40 pixels become 40 x
    /// 40 for 80 x 80.
    case fill(Anchor = .center)

    /// The part of an image to keep when cropping.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        /// The middle. Cache keys have its old name.
        case center = "centre"
        /// A side, or a corner.
        case top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight
    }
}
