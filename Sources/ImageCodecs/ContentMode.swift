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
