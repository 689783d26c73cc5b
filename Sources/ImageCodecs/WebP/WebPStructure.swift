/// The chunks of a WebP (RFC 9649 section 2), all numbers little-endian:
///
///     52 49 46 46  2A 00 00 00  57 45 42 50   "RIFF", bytes after this number, "WEBP"
///     56 50 38 58  0A 00 00 00                "VP8X": its body has 10 bytes
///     10 00 00 00  0F 00 00  0F 00 00         flags (20 profile, 10 alpha, 08 Exif, 02 animation), sides - 1
///     41 4C 50 48  ...                        "ALPH": alpha of a lossy image
///     56 50 38 20  ...                        "VP8 ": a lossy image, or "VP8L": a lossless one
///     45 58 49 46  ...                        "EXIF": a TIFF structure
///
/// The images of an animation lie in chunks "ANMF" with their place; the first is decoded. Without "VP8X" there is only
/// an image.
struct WebPStructure {
    /// The size of the canvas, before its rotation.
    let canvas: ImageSize
    private(set) var image: WebPImage
    private(set) var orientation = ExifOrientation.upright

    /// Throws `.truncated(offset:)` if the file ends before the image's data begins.
    init(parsing bytes: Span<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        try limits.check(inputBytes: bytes.count)
        guard bytes.hasBytes("RIFF"), bytes.hasBytes("WEBP", at: 8) else { throw .unrecognized }
        let stored = try ImageHeader.sizeOfWebP(bytes)
        try limits.check(stored)
        canvas = stored
        var chunks = WebPChunks(12..<bytes.count)
        image = WebPImage(size: stored)
        guard try image.read(&chunks, of: bytes) else { throw .truncated(offset: bytes.count) }
        guard image.column + image.size.width <= canvas.width, image.row + image.size.height <= canvas.height,
            image.isFrame || image.size == canvas
        else { throw .corrupt(segment: "size of a WebP image", offset: image.data.lowerBound) }
        if bytes.hasBytes("VP8X", at: 12), bytes[20] & 0x08 != 0 {
            orientation = ExifOrientation(ofWebP: bytes) ?? .upright
        }
    }
}

extension WebPStructure {
    /// The size of the upright image, or the smallest of 1/2, 1/4 and 1/8 of it that is not below `least`.
    func size(notBelow least: ImageSize?) -> ImageSize {
        let size = orientation.size(ofStored: canvas)
        guard let least else { return size }
        for part in [8, 4, 2] {
            let reduced = ImageSize(
                width: (size.width + part - 1) / part, height: (size.height + part - 1) / part)
            if reduced.width >= least.width, reduced.height >= least.height { return reduced }
        }
        return size
    }
}

/// The place and the data of an image in a WebP.
struct WebPImage {
    private(set) var column = 0
    private(set) var row = 0
    private(set) var size: ImageSize
    /// Whether the image is a frame of an animation.
    private(set) var isFrame = false
    private(set) var isLossless = false
    /// The bodies of the image's chunk and of its alpha, as much as the file has of them.
    private(set) var data = 0..<0
    private(set) var alpha: Range<Int>?
    /// Whether the file ends before the image. A decoder may not notice: the last bytes of an image can be padding.
    private(set) var isCut = false

    init(size: ImageSize) { self.size = size }

    /// Reads chunks up to the image's data; false if they end before.
    fileprivate mutating func read(
        _ chunks: inout WebPChunks, of bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        while let chunk = chunks.next(in: bytes) {
            let body = chunk.body
            switch chunk.type {
            case "ALPH": alpha = alpha ?? body
            case "VP8 ", "VP8L":
                isLossless = chunk.type == "VP8L"
                data = body
                isCut = chunk.missing > 0
                return true
            case "ANMF" where !isFrame:
                guard let column = bytes.littleEndian24(at: body.lowerBound),
                    let row = bytes.littleEndian24(at: body.lowerBound + 3),
                    let width = bytes.littleEndian24(at: body.lowerBound + 6),
                    let height = bytes.littleEndian24(at: body.lowerBound + 9), body.count >= 16
                else { return false }
                (self.column, self.row, isFrame) = (column * 2, row * 2, true)
                size = ImageSize(width: width + 1, height: height + 1)
                var inner = WebPChunks(body.lowerBound + 16..<body.upperBound)
                if try read(&inner, of: bytes) { return true }
                throw .corrupt(segment: "WebP frame without an image", offset: body.lowerBound)
            default: continue
            }
        }
        return false
    }
}

/// Iterates over the chunks in a range of a WebP. The last one may be cut off.
struct WebPChunks {
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    /// Nil at the end. Bodies have an even length in the file; `missing` bytes of one are cut off.
    mutating func next(in bytes: Span<UInt8>) -> (type: String, body: Range<Int>, missing: Int)? {
        guard offset + 8 <= end, let length = bytes.littleEndian32(at: offset + 4) else { return nil }
        var type = ""
        for index in offset..<offset + 4 { type.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
        let body = offset + 8..<min(offset + 8 + length, end)
        offset = min(offset + 8 + length + length & 1, end)
        return (type, body, length - body.count)
    }
}

extension ExifOrientation {
    /// The orientation in a WebP's Exif chunk, which follows the image; nil without a valid one.
    init?(ofWebP bytes: Span<UInt8>) {
        var chunks = WebPChunks(12..<bytes.count)
        while let chunk = chunks.next(in: bytes) {
            guard chunk.type == "EXIF" else { continue }
            let body = bytes.extracting(chunk.body)
            // Some writers put the beginning of a JPEG's segment there too.
            let isSegment = body.hasBytes([0x45, 0x78, 0x69, 0x66, 0x00, 0x00])
            self.init(tiff: isSegment ? body.extracting(6..<body.count) : body)
            return
        }
        return nil
    }
}
