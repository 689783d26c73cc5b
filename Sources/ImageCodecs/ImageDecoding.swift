/// A decoder of one or more formats: the seam through which a program adds its own.
///
/// Decoders keep no state. They are called from any thread, may take milliseconds, and must neither trap nor run
/// without bound on any bytes.
public protocol ImageDecoding: Sendable {
    /// The formats that are decoded here.
    var formats: Set<ImageFormat> { get }

    /// What the header says, without decoding.
    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader

    /// Decodes a whole file. With a `target` the picture is made to fit into it, never enlarged; without one it
    /// keeps its size. Exif orientation is applied, and the target counts for the picture as shown.
    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap
}

extension ImageDecoding {
    /// Reads the header with `ImageHeader(parsing:)`, which knows every format of `ImageFormat`.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        try ImageHeader(parsing: bytes)
    }
}
