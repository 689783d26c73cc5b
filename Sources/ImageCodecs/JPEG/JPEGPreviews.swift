/// Decodes a JPEG while it arrives, scan by scan: a progressive file has a coarse picture early, and a better one with
/// each scan. A sequential file in one scan has its picture at the end.
///
///     var previews = JPEGPreviews(fitting: ImageSize(width: 300, height: 450))
///     for piece in pieces {
///         if try previews.append(piece) { show(try previews.picture()) }
///     }
///
/// What was read stays decoded as coefficients, so that a piece costs only itself, and a picture only the transform. Not
/// safe for concurrent use.
public struct JPEGPreviews: Sendable {
    private var file: JPEGFile
    private var bytes: [UInt8] = []
    private let limits: DecodingLimits
    /// Whether the end of the image was read, so that the next picture is the whole one.
    public private(set) var isComplete = false
    /// The scans that were read so far, whole.
    public var scanCount: Int { file.scanCount }

    /// Previews made to fit into `target`, never enlarged; at the file's own size without one.
    /// - Parameters:
    ///   - target: the box that previews fit into; nil for the file's own size.
    ///   - limits: how much the file may ask for.
    public init(fitting target: ImageSize? = nil, limits: DecodingLimits = .standard) {
        self.init(sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Previews as `sizing` wants them; at the file's own size without one.
    /// - Parameters:
    ///   - sizing: the size and the content mode wanted; nil for the file's own size.
    ///   - limits: how much the file may ask for.
    public init(sizing: ImageSizing?, limits: DecodingLimits = .standard) {
        file = JPEGFile(sizing: sizing, limits: limits)
        self.limits = limits
    }

    /// Takes the next bytes of the file, and reads what is whole by now; true where that has made the picture better. Bytes
    /// behind the end of the image are passed over.
    ///
    /// Throws as ``JPEGDecoder`` does, but for `truncated`; after that no more can be appended.
    /// - Parameter piece: the bytes that follow those before.
    public mutating func append(_ piece: [UInt8]) throws(ImageDecodingError) -> Bool {
        guard !isComplete else { return false }
        try limits.check(inputBytes: bytes.count + piece.count)
        bytes += piece
        guard bytes.count >= 3 else { return false }
        guard ImageFormat(detecting: bytes.span) == .jpeg else { throw .unrecognised }
        let scans = scanCount
        let read = bytes
        isComplete = try file.readWholeParts(of: read.span)
        return scanCount > scans
    }

    /// The picture of the scans so far, which is not complete until the end of the image was read; nil ahead of the first.
    public func picture() throws(ImageDecodingError) -> Bitmap? {
        guard scanCount > 0 else { return nil }
        return try file.picture(isWhole: isComplete)
    }
}
