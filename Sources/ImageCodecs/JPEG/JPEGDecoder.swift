/// Decodes JPEG (ITU-T T.81): baseline, extended sequential and progressive with Huffman coding, 8 bits, grey, YCbCr,
/// RGB, CMYK or YCCK, with any sampling factors. Applies the Exif orientation.
public struct JPEGDecoder: ImageDecoding {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only JPEG.
    public let formats: Set<ImageFormat> = [.jpeg]

    /// Decodes a JPEG to fit; see ``decode(_:sizing:limits:)``.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Decodes a JPEG; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// For a size, it decodes at the smallest of 1/2, 1/4 and 1/8 that is not below it, and averages from there.
    /// Cropped parts are neither averaged nor converted to RGB. A file that ends during or after its first scan gives
    /// the image so far, with `isComplete` false.
    ///
    /// Throws `tooLarge` before allocating samples, `.truncated(offset:)` if the file ends before its first scan,
    /// `corrupt`, and `unsupported` for arithmetic coding and for lossless, hierarchical and 12-bit files.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, into: JPEGFile(sizing: sizing, limits: limits), limits)
    }

    /// Decodes a JPEG at the smallest of 1/2, 1/4 and 1/8 that is not below `least`, without averaging, to make several
    /// sizes from; at its own size if nil.
    func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, into: JPEGFile(sizing: nil, notBelow: least, limits: limits), limits)
    }

    /// Like `decode(_:notBelow:limits:)`, but to planes. Only for files whose plan has `planes`.
    func decodePlanes(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> PlanarPicture {
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognized }
        var file = JPEGFile(sizing: nil, notBelow: least, isPlanar: true, limits: limits)
        try file.read(bytes)
        return try file.planarPicture()
    }

    private func decode(
        _ bytes: Span<UInt8>, into file: consuming JPEGFile, _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognized }
        try file.read(bytes)
        return try file.picture()
    }
}
