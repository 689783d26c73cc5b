/// Decodes JPEG (ITU-T T.81): baseline, extended sequential and progressive with Huffman coding, 8 bits, grey, YCbCr,
/// RGB, CMYK or YCCK, with any sampling factors. Applies the Exif orientation.
public struct JPEGDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only JPEG.
    public let formats: Set<ImageFormat> = [.jpeg]

    /// Decodes a JPEG; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// For a size, it decodes at the smallest of 1/2, 1/4 and 1/8 that is not below it, and averages from there.
    /// Cropped parts are neither averaged nor converted to RGB. A file that is cut or damaged after its first scan has
    /// begun gives the same picture as libjpeg, with its `damage`.
    ///
    /// Throws `tooLarge` before allocating samples, `.truncated(offset:)` or `corrupt` for damage before the first scan,
    /// and `unsupported` for arithmetic coding and for lossless, hierarchical and 12-bit files.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try JPEGFile(reading: bytes, sizing: sizing, limits: limits).picture()
    }

    /// Decodes a JPEG at the smallest of 1/2, 1/4 and 1/8 that is not below `least`, without averaging, to make several
    /// sizes from; at its own size if nil.
    func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try JPEGFile(reading: bytes, notBelow: least, limits: limits).picture()
    }

    /// Like `decode(_:notBelow:limits:)`, but to planes. Only for files whose plan has `planes`.
    func decodePlanes(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> PlanarPicture {
        try JPEGFile(reading: bytes, notBelow: least, isPlanar: true, limits: limits).planarPicture()
    }
}

/// Decodes a JPEG while it arrives, scan by scan: a progressive file has a coarse image early, and a better one after
/// each scan. A sequential file with one scan has its image at the end.
///
///     var previews = JPEGPreviews(fitting: ImageSize(width: 300, height: 450))
///     for piece in pieces {
///         if try previews.append(piece) { show(try previews.picture()) }
///     }
///
/// Decoded coefficients are kept, so a piece costs only its own decoding, and a picture only the transform. Not safe
/// for concurrent use.
public struct JPEGPreviews: Sendable {
    private var file: JPEGFile
    private var bytes: [UInt8] = []
    private let limits: DecodingLimits
    /// Whether the end of the image was read, so that the next picture is complete.
    public private(set) var isComplete = false
    /// The number of complete scans read so far.
    public var scanCount: Int { file.scanCount }

    /// Creates previews that fit into `target`, without enlarging.
    /// - Parameters:
    ///   - target: the box to fit previews into; nil for the file's own size.
    ///   - limits: the limits for the file.
    public init(fitting target: ImageSize? = nil, limits: DecodingLimits = .standard) {
        self.init(sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Creates previews resized and cropped as `sizing` says.
    /// - Parameters:
    ///   - sizing: the size and the content mode; nil for the file's own size.
    ///   - limits: the limits for the file.
    public init(sizing: ImageSizing?, limits: DecodingLimits = .standard) {
        file = JPEGFile(sizing: sizing, limits: limits)
        self.limits = limits
    }

    /// Adds the next bytes of the file and decodes the complete scans. Returns true if the picture has improved.
    /// Ignores bytes after the end of the image.
    ///
    /// Throws like ``JPEGDecoder``, except `.truncated(offset:)`; append no more after an error.
    /// - Parameter piece: the next bytes.
    public mutating func append(_ piece: [UInt8]) throws(ImageDecodingError) -> Bool {
        guard !isComplete else { return false }
        try limits.check(inputBytes: bytes.count + piece.count)
        bytes += piece
        guard bytes.count >= 3 else { return false }
        guard ImageFormat(detecting: bytes.span) == .jpeg else { throw .unrecognized }
        let scans = scanCount
        let read = bytes
        isComplete = try file.readWholeParts(of: read.span)
        return scanCount > scans
    }

    /// The picture after the scans so far; nil before the first scan. Until the end of the image it is damaged: cut off.
    public func picture() throws(ImageDecodingError) -> Bitmap? {
        guard scanCount > 0 else { return nil }
        return try file.picture(cutAt: isComplete ? nil : bytes.count)
    }
}
