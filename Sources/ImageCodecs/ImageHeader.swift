/// The format and size of an image, read from the beginning of its file without decoding.
public struct ImageHeader: Sendable, Hashable {
    /// The format, detected from the first bytes.
    public let format: ImageFormat
    /// The size of the upright image in pixels, after any Exif rotation; nil for formats whose sizes are
    /// not read: AVIF, HEIC, JPEG XL, SVG and TIFF.
    public let size: ImageSize?

    /// Creates a header, for decoders that read their own format.
    /// - Parameters:
    ///   - format: the format of the file.
    ///   - size: the size of the upright image.
    public init(format: ImageFormat, size: ImageSize?) {
        self.format = format
        self.size = size
    }

    /// Reads the header of a file in one of the formats that ``ImageFormat`` names. `ImageDecoders.header(of:)` also
    /// reads a program's own formats.
    ///
    /// Throws `unrecognized` for an unknown format, `.truncated(offset:)` if the bytes end before the size, and
    /// `corrupt` for a zero or missing size.
    /// - Parameter bytes: the file, or its beginning.
    public init(parsing bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let format = ImageFormat(detecting: bytes) else { throw .unrecognized }
        self.format = format
        size =
            switch format {
            case .jpeg: try Self.sizeOfJPEG(bytes)
            case .png: try Self.sizeOfPNG(bytes)
            case .gif: try Self.sizeOfGIF(bytes)
            case .webp: try Self.uprightSizeOfWebP(bytes)
            case .bmp: try Self.sizeOfBMP(bytes)
            default: nil
            }
    }

    /// Reads the header of a file in an array; see `init(parsing:)`.
    /// - Parameter bytes: the file, or its beginning.
    public init(parsing bytes: [UInt8]) throws(ImageDecodingError) {
        try self.init(parsing: bytes.span)
    }
}

extension ImageHeader {
    /// T.81 B.2.2: the frame header has precision, lines and samples per line.
    ///
    /// An orientation counts only before the frame header, as Exif 2.32, 4.5.4 requires.
    private static func sizeOfJPEG(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        var segments = JPEGSegments(offset: 2)
        var orientation: ExifOrientation?
        while true {
            let segment = try segments.next(in: bytes)
            if segment.marker == .application1, orientation == nil {
                orientation = ExifOrientation(applicationSegment: segment.body, of: bytes)
            } else if segment.marker.isStartOfFrame {
                guard segment.body.count >= 6, let height = try segment.height(in: bytes),
                    let width = bytes.bigEndian16(at: segment.body.lowerBound + 3)
                else { throw .corrupt(segment: "frame header", offset: segment.offset) }
                guard width > 0 else { throw .corrupt(segment: "frame width", offset: segment.offset) }
                return (orientation ?? .upright).size(ofStored: ImageSize(width: width, height: height))
            } else if segment.marker == .startOfScan || segment.marker == .endOfImage {
                throw .corrupt(segment: "JPEG without a frame header", offset: segment.offset)
            }
        }
    }

    /// PNG 11.2.1: IHDR comes first and begins with the size.
    private static func sizeOfPNG(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        guard bytes.count >= 24, let length = bytes.bigEndian32(at: 8),
            let width = bytes.bigEndian32(at: 16), let height = bytes.bigEndian32(at: 20)
        else { throw .truncated(offset: bytes.count) }
        guard length == 13, bytes.hasBytes("IHDR", at: 12) else {
            throw .corrupt(segment: "IHDR chunk", offset: 8)
        }
        let sides = 1...Int(Int32.max)
        guard sides.contains(width), sides.contains(height) else {
            throw .corrupt(segment: "size in IHDR", offset: 16)
        }
        return ImageSize(width: width, height: height)
    }

    /// GIF89a, 18: the logical screen descriptor follows the signature.
    private static func sizeOfGIF(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8) else {
            throw .truncated(offset: bytes.count)
        }
        guard width > 0, height > 0 else { throw .corrupt(segment: "size of the logical screen", offset: 6) }
        return ImageSize(width: width, height: height)
    }

    /// The size after the Exif orientation, which follows the image in the file.
    private static func uprightSizeOfWebP(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        let size = try sizeOfWebP(bytes)
        guard bytes.hasBytes("VP8X", at: 12), bytes[20] & 0x08 != 0 else { return size }
        return (ExifOrientation(ofWebP: bytes) ?? .upright).size(ofStored: size)
    }

    /// The first chunk is `VP8X` (canvas, sides minus 1), `VP8L` (14 bits each) or `VP8 ` (a key frame, RFC 6386
    /// section 9.1).
    static func sizeOfWebP(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        if bytes.hasBytes("VP8X", at: 12), let width = bytes.littleEndian24(at: 24),
            let height = bytes.littleEndian24(at: 27)
        {
            return ImageSize(width: width + 1, height: height + 1)
        }
        if bytes.hasBytes("VP8L", at: 12), bytes.byte(at: 20) == 0x2F, let bits = bytes.littleEndian32(at: 21)
        {
            return ImageSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        if bytes.hasBytes("VP8 ", at: 12), bytes.hasBytes([0x9D, 0x01, 0x2A], at: 23),
            let width = bytes.littleEndian16(at: 26), let height = bytes.littleEndian16(at: 28),
            width & 0x3FFF > 0, height & 0x3FFF > 0
        {
            return ImageSize(width: width & 0x3FFF, height: height & 0x3FFF)
        }
        guard bytes.count >= 30 else { throw .truncated(offset: bytes.count) }
        throw .corrupt(segment: "first chunk of a WebP", offset: 12)
    }

    /// The information header has 32-bit sides, with a negative height for top-down rows; the OS/2 header has 16-bit
    /// sides.
    private static func sizeOfBMP(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        let size: ImageSize
        if bytes.littleEndian32(at: 14) == 12 {
            guard let width = bytes.littleEndian16(at: 18), let height = bytes.littleEndian16(at: 20) else {
                throw .truncated(offset: bytes.count)
            }
            size = ImageSize(width: width, height: height)
        } else {
            guard let width = bytes.littleEndian32(at: 18), let height = bytes.littleEndian32(at: 22) else {
                throw .truncated(offset: bytes.count)
            }
            let rows = Int(Int32(truncatingIfNeeded: height)).magnitude
            size = ImageSize(width: Int(Int32(truncatingIfNeeded: width)), height: Int(rows))
        }
        guard size.width > 0, size.height > 0 else {
            throw .corrupt(segment: "size in the BMP header", offset: 18)
        }
        return size
    }
}
