/// A decoder of one or more image formats. A program adds formats by implementing it: requests accept the media types
/// of ``formats``, and files that it recognises are cached and decoded as images.
///
/// For formats that ``ImageFormat`` names, ``formats`` and `decode` suffice. For another format a decoder must also
/// recognise files and read their header.
///
/// Decoders keep no state. Any thread may call them, a call may take milliseconds, and no input may make them trap or
/// run without bound.
public protocol ImageDecoding: Sendable {
    /// The formats of this decoder.
    var formats: Set<ImageFormat> { get }

    /// The format of the file that begins with `bytes`; nil if it is none of ``formats``. Called for every file until a
    /// decoder recognises it, so check only the first bytes.
    /// - Parameter bytes: the beginning of a file.
    func format(of bytes: Span<UInt8>) -> ImageFormat?

    /// Reads the header without decoding. Called for files that this decoder recognises.
    ///
    /// Throws `.truncated(offset:)` if the bytes end before the size, and `corrupt`.
    /// - Parameter bytes: the file, or its beginning.
    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader

    /// Checks without decoding that a recognised file is complete. Called for each download before it is cached.
    ///
    /// Throws `.truncated(offset:)` if something is missing, and `corrupt`.
    /// - Parameter bytes: the whole file.
    func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError)

    /// Decodes a whole file and applies its Exif orientation.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the upright image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap

    /// Decodes a whole file, resized and cropped as `sizing` says. Loaders call this method.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap
}

extension ImageDecoding {
    /// The format by ``ImageFormat/init(detecting:)``, if it is one of ``formats``.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: Span<UInt8>) -> ImageFormat? {
        guard let format = ImageFormat(detecting: bytes), formats.contains(format) else { return nil }
        return format
    }

    /// Reads the header with `ImageHeader(parsing:)`, for formats that ``ImageFormat`` names.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        try ImageHeader(parsing: bytes)
    }

    /// Checks with `ImageHeader.checkComplete(_:)`, which accepts unknown formats.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        try ImageHeader.checkComplete(bytes)
    }

    /// Decodes to fit or fill. To fill a size, it decodes the image no larger than needed, by the size in its header,
    /// and crops it.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        guard let sizing, case .fill = sizing.mode else {
            return try decode(bytes, fitting: sizing?.target, limits: limits)
        }
        let box = try header(of: bytes).size.map { sizing.box(for: $0) }
        return try decode(bytes, fitting: box, limits: limits).resized(to: sizing)
    }
}
