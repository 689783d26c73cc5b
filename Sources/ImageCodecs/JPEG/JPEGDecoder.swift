/// Decodes JPEG (ITU-T T.81): baseline, extended sequential and progressive with Huffman coding, 8 bits, grey,
/// YCbCr or RGB, every sampling factor; Exif orientation is applied.
public struct JPEGDecoder: ImageDecoding {
    /// Makes a decoder; it keeps no state.
    public init() {}

    /// JPEG alone.
    public var formats: Set<ImageFormat> { [.jpeg] }

    /// Decodes a JPEG; see `ImageDecoding`. Runs on the caller's thread.
    ///
    /// Throws `tooLarge` before there is room for samples, `truncated` when the file ends before its EOI marker,
    /// `corrupt`, and `unsupported` for CMYK, arithmetic coding, lossless, hierarchical and 12-bit files.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognised }
        let file = try JPEGFile(reading: bytes, limits: limits)
        let orientation = file.orientation
        let picture = try file.picture(endOffset: bytes.count)
        let storedTarget = orientation.swapsSides ? target?.transposed : target
        return try picture.bitmap(fitting: storedTarget).turned(orientation)
    }
}
