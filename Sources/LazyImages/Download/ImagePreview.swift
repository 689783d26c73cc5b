public import ImageCodecs

/// An incomplete image, shown while its file arrives. No tier keeps it.
public struct ImagePreview: Sendable {
    /// The pixels, at about the wanted size; `isComplete` is false.
    public let bitmap: Bitmap
    /// The number of the preview in its load, from 1. A higher number shows more.
    public let number: Int

    /// A preview, for loaders of other programs.
    /// - Parameters:
    ///   - bitmap: the pixels so far.
    ///   - number: the number of the preview in its load, from 1.
    public init(bitmap: Bitmap, number: Int) {
        self.bitmap = bitmap
        self.number = number
    }
}
