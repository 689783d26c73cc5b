/// A decoder of one or more formats: the seam through which a program adds its own. What it names in ``formats`` is
/// asked for of servers, what it recognises is taken for an image, cached and decoded here.
///
/// A decoder of formats that ``ImageFormat`` names needs ``formats`` and `decode` alone. One of another format has to
/// recognise it and to read its header.
///
/// Decoders keep no state. They are called from any thread, may take milliseconds, and must neither trap nor run
/// without bound on any bytes.
public protocol ImageDecoding: Sendable {
    /// The formats that are decoded here.
    var formats: Set<ImageFormat> { get }

    /// The format of the file that begins with `bytes`; nil if it is none of ``formats``. Called for every file until a
    /// decoder recognises it: it should look at the first bytes only.
    /// - Parameter bytes: the beginning of a file.
    func format(of bytes: Span<UInt8>) -> ImageFormat?

    /// What the header says, without decoding. Called for files that are recognised here.
    ///
    /// Throws `truncated` when the bytes end before the size, and `corrupt`.
    /// - Parameter bytes: the file, or its beginning.
    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader

    /// Checks that a file that is recognised here is all there, without decoding it: a download is checked so before it is
    /// cached.
    ///
    /// Throws `truncated` when something is missing, and `corrupt`.
    /// - Parameter bytes: the whole file.
    func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError)

    /// Decodes a whole file. With a `target` the picture is made to fit into it, never enlarged; without one it
    /// keeps its size. Exif orientation is applied, and the target counts for the picture as shown.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box that the picture is to fit into; nil for its own size.
    ///   - limits: how much the file may ask for.
    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap

    /// Decodes a whole file as `sizing` wants it, so that it may be cropped too; without one it keeps its size. Loaders
    /// call this one.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode wanted; nil for its own size.
    ///   - limits: how much the file may ask for.
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

    /// Reads the header with `ImageHeader(parsing:)`, which knows the formats that ``ImageFormat`` names.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        try ImageHeader(parsing: bytes)
    }

    /// Checks with `ImageHeader.checkComplete(_:)`, which lets every format pass that it does not know.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        try ImageHeader.checkComplete(bytes)
    }

    /// Decodes to fit. A picture that is to fill a size is decoded no larger than that takes, by its header, and cropped.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode wanted; nil for its own size.
    ///   - limits: how much the file may ask for.
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
