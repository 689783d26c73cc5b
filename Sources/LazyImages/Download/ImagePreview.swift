public import ImageCodecs

/// What an image looks like while it is still on its way. It is kept by no tier.
public struct ImagePreview: Sendable {
    /// The pixels, at about the size that was wanted; `isComplete` is false.
    public let bitmap: Bitmap
    /// Which one of its load it is, from 1; a higher one shows more.
    public let number: Int

    /// A preview, for loaders of other programs.
    /// - Parameters:
    ///   - bitmap: the pixels so far.
    ///   - number: which preview of its load it is, from 1.
    public init(bitmap: Bitmap, number: Int) {
        self.bitmap = bitmap
        self.number = number
    }
}
