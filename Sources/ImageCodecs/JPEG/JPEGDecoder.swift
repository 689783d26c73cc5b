/// Decodes JPEG.
public struct JPEGDecoder: ImageDecoding {
    /// Makes a decoder; it keeps no state.
    public init() {}

    /// JPEG alone.
    public var formats: Set<ImageFormat> { [.jpeg] }

    /// Decodes.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        throw .unsupported(feature: "JPEG")
    }
}
