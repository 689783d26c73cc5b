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
    private static func sizeOfJPEG(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        var segments = JPEGSegments(offset: 2)
        var application = JPEGApplicationData()
        while true {
            let segment = try segments.next(in: bytes)
            application.read(segment, of: bytes)
            if segment.marker.isStartOfFrame {
                guard segment.body.count >= 6, let height = try segment.height(in: bytes),
                    let width = bytes.bigEndian16(at: segment.body.lowerBound + 3)
                else { throw .corrupt(segment: "frame header", offset: segment.offset) }
                guard width > 0 else { throw .corrupt(segment: "frame width", offset: segment.offset) }
                let stored = ImageSize(width: width, height: height)
                application.readAhead(from: segments, of: bytes)
                return (application.orientation ?? .upright).size(ofStored: stored)
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
        return (ExifOrientation(ofPNG: bytes) ?? .upright).size(
            ofStored: ImageSize(width: width, height: height))
    }

    /// GIF89a, 18: the logical screen descriptor follows the signature. As in browsers the screen grows to the first
    /// image; without that among these bytes it is as large as it says.
    private static func sizeOfGIF(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageSize {
        guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8) else {
            throw .truncated(offset: bytes.count)
        }
        var size = ImageSize(width: width, height: height)
        do throws(ImageDecodingError) {
            var blocks = try GIFBlocks(bytes)
            reading: while true {
                switch try blocks.next(in: bytes) {
                case .image(let image):
                    size.width = max(width, image.column + image.size.width)
                    size.height = max(height, image.row + image.size.height)
                    break reading
                case .end: break reading
                case .repetition, .control, .profile, .other: continue
                }
            }
        } catch  where width > 0 && height > 0 {}
        guard size.width > 0, size.height > 0 else {
            throw .corrupt(segment: "size of the logical screen", offset: 6)
        }
        return size
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
        let isOld = bytes.littleEndian32(at: 14) == 12
        guard let width = isOld ? bytes.littleEndian16(at: 18) : bytes.littleEndian32(at: 18),
            let height = isOld ? bytes.littleEndian16(at: 20) : bytes.littleEndian32(at: 22)
        else { throw .truncated(offset: bytes.count) }
        let size = ImageSize(
            width: Int(Int32(truncatingIfNeeded: width)), height: abs(Int(Int32(truncatingIfNeeded: height))))
        guard size.width > 0, size.height > 0 else {
            throw .corrupt(segment: "size in the BMP header", offset: 18)
        }
        return size
    }
}

extension ImageHeader {
    /// Checks in one pass, without decoding, that a file's structure is complete.
    ///
    /// Throws `.truncated(offset:)` if a JPEG ends before its EOI marker, a PNG before the end of its IEND chunk, a WebP
    /// before the length in its header, or a GIF in a block, and `corrupt` for an invalid length. Accepts bytes after
    /// that end, and every other format: this checks a download, not the image.
    /// - Parameter bytes: the whole file.
    public static func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        switch ImageFormat(detecting: bytes) {
        case .jpeg: try checkCompleteJPEG(bytes)
        case .png: try checkCompletePNG(bytes)
        case .webp: try checkCompleteWebP(bytes)
        case .gif: try checkCompleteGIF(bytes)
        default: break
        }
    }

    /// Checks a file in an array; see `checkComplete(_:)`.
    /// - Parameter bytes: the whole file.
    public static func checkComplete(_ bytes: [UInt8]) throws(ImageDecodingError) {
        try checkComplete(bytes.span)
    }

    private static func checkCompleteJPEG(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var segments = JPEGSegments(offset: 2)
        while true {
            let segment = try segments.next(in: bytes)
            if segment.marker == .endOfImage { return }
            if segment.marker == .startOfScan {
                // Entropy-coded data contains no EOI, so a file that ends with one after the start of a scan is
                // complete. Only a file with trailing bytes needs a search.
                if bytes.hasBytes([0xFF, 0xD9], at: bytes.count - 2) { return }
                segments.skipEntropyCodedData(in: bytes)
            }
        }
    }

    /// PNG 5.3: a chunk is a length, a type, data, and a CRC of four bytes.
    private static func checkCompletePNG(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var offset = 8
        while true {
            guard let length = bytes.bigEndian32(at: offset), offset + 12 <= bytes.count else {
                throw .truncated(offset: bytes.count)
            }
            guard length <= Int(Int32.max) else {
                throw .corrupt(segment: "length of a PNG chunk", offset: offset)
            }
            let isEnd = bytes.hasBytes("IEND", at: offset + 4)
            offset += 12 + length
            guard offset <= bytes.count else { throw .truncated(offset: bytes.count) }
            if isEnd { return }
        }
    }

    /// Some encoders leave the trailer out, so a GIF may end behind any block.
    private static func checkCompleteGIF(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var blocks = try GIFBlocks(bytes)
        while true {
            if case .end = try blocks.next(in: bytes) { break }
        }
        guard blocks.offset <= bytes.count else { throw .truncated(offset: bytes.count) }
    }

    /// The length in the RIFF header counts all bytes after it.
    private static func checkCompleteWebP(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let length = bytes.littleEndian32(at: 4), bytes.count >= 8 + length else {
            throw .truncated(offset: bytes.count)
        }
    }
}

/// The width and height of an image in pixels.
public struct ImageSize: Sendable, Hashable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size.
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `500 x 750`.
    public var description: String { "\(width) x \(height)" }

    /// The size after a rotation by 90 degrees.
    package var transposed: ImageSize { ImageSize(width: height, height: width) }
}

extension ImageSize {
    /// The largest size with the same proportions that fits into `box`; this size itself if it fits. Sides are rounded
    /// to whole pixels, at least 1.
    /// - Parameter box: the size to fit into.
    public func fitted(into box: ImageSize) -> ImageSize {
        width > box.width || height > box.height ? scaled(into: box) : self
    }

    /// As `fitted(into:)`, but also enlarges.
    package func scaled(into box: ImageSize) -> ImageSize {
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        func scaled(_ side: Int, within limit: Int) -> Int {
            max(1, min(Int((Double(side) * scale).rounded()), limit))
        }
        return ImageSize(width: scaled(width, within: box.width), height: scaled(height, within: box.height))
    }
}
