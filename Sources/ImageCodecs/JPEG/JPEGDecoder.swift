/// Decodes JPEG (ITU-T T.81): baseline, extended sequential and progressive with Huffman coding, 8 bits, grey,
/// YCbCr, RGB, CMYK or YCCK, every sampling factor; Exif orientation is applied.
public struct JPEGDecoder: ImageDecoding {
    /// Makes a decoder; it keeps no state.
    public init() {}

    /// JPEG alone.
    public let formats: Set<ImageFormat> = [.jpeg]

    /// Decodes a JPEG to fit; see ``decode(_:sizing:limits:)``.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box that the picture is to fit into; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Decodes a JPEG; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// To a size it is decoded at 1/2, 1/4 or 1/8, the smallest that is not below it, and averaged from there. What is
    /// cropped off is neither averaged nor turned into colours. A file that ends within or behind its first scan gives
    /// the picture so far, which is not `isComplete`.
    ///
    /// Throws `tooLarge` before there is room for samples, `truncated` when the file ends ahead of its first scan,
    /// `corrupt`, and `unsupported` for arithmetic coding, lossless, hierarchical and 12-bit files.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode wanted; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, into: JPEGFile(sizing: sizing, limits: limits), limits)
    }

    /// Decodes a JPEG at 1/2, 1/4 or 1/8, the smallest that is not below `least`, and averages nothing: for pictures that
    /// several sizes are made of. At its own size without one.
    func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, into: JPEGFile(sizing: nil, notBelow: least, limits: limits), limits)
    }

    /// Decodes a JPEG as `decode(_:notBelow:limits:)`, but to planes. Only one whose plan has `planes`.
    func decodePlanes(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> PlanarPicture {
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognised }
        var file = JPEGFile(sizing: nil, notBelow: least, isPlanar: true, limits: limits)
        try file.read(bytes)
        return try file.planarPicture()
    }

    private func decode(
        _ bytes: Span<UInt8>, into file: consuming JPEGFile, _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognised }
        try file.read(bytes)
        return try file.picture()
    }
}
