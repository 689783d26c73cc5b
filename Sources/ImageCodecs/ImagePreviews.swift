/// Pictures of a file while it arrives: of a JPEG after each scan, of a PNG, WebP or GIF the rows that are there. Rows
/// that are missing are transparent. Other formats have no previews.
///
/// Each preview but a JPEG's decodes the file from its beginning, so ask for one only after the file has grown much.
/// Not safe for concurrent use.
package struct ImagePreviews: Sendable {
    private enum Source {
        case unknown, jpeg(JPEGPreviews), rows(any ImageDecoding)
    }

    private var source = Source.unknown
    private var bytes: [UInt8] = []
    private let sizing: ImageSizing?
    private let limits: DecodingLimits

    /// Creates previews resized and cropped as `sizing` says.
    /// - Parameters:
    ///   - sizing: the size and the content mode; nil for the file's own size.
    ///   - limits: the limits for the file.
    package init(sizing: ImageSizing?, limits: DecodingLimits) {
        self.sizing = sizing
        self.limits = limits
    }

    /// Whether the whole image was read.
    package var isComplete: Bool {
        if case .jpeg(let previews) = source { return previews.isComplete }
        return false
    }

    /// Adds the next bytes of the file, and returns the picture if it has improved; nil if not.
    ///
    /// Throws the decoder's errors, except `.truncated(offset:)`, and `unrecognized` for a format without previews;
    /// append no more after an error.
    /// - Parameter piece: the next bytes.
    package mutating func append(_ piece: [UInt8]) throws(ImageDecodingError) -> Bitmap? {
        if case .jpeg = source { return try append(toJPEG: piece) }
        bytes += piece
        if case .unknown = source {
            // A WebP shows its format last, in byte 12.
            guard bytes.count >= 12 else { return nil }
            switch ImageFormat(detecting: bytes.span) {
            case .jpeg:
                source = .jpeg(JPEGPreviews(sizing: sizing, limits: limits))
                return try append(toJPEG: bytes)
            case .png: source = .rows(PNGDecoder())
            case .webp: source = .rows(WebPDecoder())
            case .gif: source = .rows(GIFDecoder())
            default: throw .unrecognized
            }
        }
        return try decodeRows()
    }

    private mutating func append(toJPEG piece: [UInt8]) throws(ImageDecodingError) -> Bitmap? {
        guard case .jpeg(var previews) = source else { return nil }
        source = .unknown
        defer { source = .jpeg(previews) }
        bytes = []
        return try previews.append(piece) ? try previews.picture() : nil
    }

    private func decodeRows() throws(ImageDecodingError) -> Bitmap? {
        guard case .rows(let decoder) = source else { return nil }
        do throws(ImageDecodingError) {
            return try decoder.decode(bytes.span, sizing: sizing, limits: limits)
        } catch .truncated {
            return nil
        }
    }
}
