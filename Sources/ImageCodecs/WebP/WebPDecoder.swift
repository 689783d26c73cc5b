/// Decodes WebP (RFC 9649): lossy images (VP8, RFC 6386) with or without alpha, lossless ones (VP8L), and the first
/// frame of an animation on a transparent canvas. Applies the Exif orientation, and the colour profile.
///
/// Rows are averaged to the wanted size as they are decoded, so a large image never exists at its full size. A file that
/// is cut off gives a bitmap with `damage`, whose missing pixels are transparent.
public struct WebPDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only WebP.
    public let formats: Set<ImageFormat> = [.webp]

    /// Decodes a WebP; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// Throws `tooLarge` before any allocation, `.truncated(offset:)` for a file without image data, and `corrupt`.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let structure = try WebPStructure(parsing: bytes, limits: limits)
        let upright = structure.orientation.size(ofStored: structure.canvas)
        return try Self.decode(structure, of: bytes, PictureLayout(upright, to: sizing))
    }

    /// Decodes at the smallest of 1/2, 1/4 and 1/8 that is not below `least`; at its own size if nil.
    func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let structure = try WebPStructure(parsing: bytes, limits: limits)
        return try Self.decode(
            structure, of: bytes, PictureLayout(whole: structure.size(notBelow: least)))
    }

    private static func decode(
        _ structure: WebPStructure, of bytes: Span<UInt8>, _ layout: PictureLayout
    ) throws(ImageDecodingError) -> Bitmap {
        let (image, orientation) = (structure.image, structure.orientation)
        let transform = structure.profile.flatMap {
            ColourTransform(profile: bytes.extracting($0), for: .rgb)
        }
        let presentation = Presentation(
            layout: layout.stored(orientation), transform: transform, orientation: orientation)
        guard image.size != structure.canvas else { return try decode(image, of: bytes, presentation) }
        let whole = Presentation(layout: PictureLayout(whole: image.size))
        return try decode(image, of: bytes, whole)
            .placed(column: image.column, row: image.row, in: structure.canvas).presented(presentation)
    }

    private static func decode(
        _ image: WebPImage, of bytes: Span<UInt8>, _ presentation: Presentation
    ) throws(ImageDecodingError) -> Bitmap {
        try image.isLossless
            ? decodeLossless(image, of: bytes, presentation) : decodeLossy(image, of: bytes, presentation)
    }

    private static func decodeLossless(
        _ image: WebPImage, of bytes: Span<UInt8>, _ presentation: Presentation
    ) throws(ImageDecodingError) -> Bitmap {
        let stream = bytes.extracting(image.data)
        var rows = try LosslessRows(stream, origin: image.data.lowerBound, size: image.size)
        var builder = BitmapBuilder(source: image.size, isOpaque: !rows.hasAlpha, presentation)
        let opaque: UInt32 = rows.hasAlpha ? 0 : 0xFF00_0000
        var isComplete = true
        for _ in 0..<image.size.height {
            guard isComplete, try read(&rows, stream) else {
                isComplete = false
                builder.addMissingRow()
                continue
            }
            guard builder.needsNextRow else {
                builder.skipRow()
                continue
            }
            builder.addRow { output, range in
                let pixels = rows.row.span
                var target = range.lowerBound
                for column in 0..<pixels.count {
                    let pixel = pixels[column] | opaque
                    let lanes = SIMD4(
                        UInt8(truncatingIfNeeded: pixel &>> 16), UInt8(truncatingIfNeeded: pixel &>> 8),
                        UInt8(truncatingIfNeeded: pixel), UInt8(truncatingIfNeeded: pixel &>> 24))
                    output.store(lanes, at: target)
                    target &+= 4
                }
            }
        }
        return builder.finish(damage: isComplete && !image.isCut ? nil : .truncated(offset: bytes.count))
    }

    /// False if the stream ends before the next row.
    private static func read(
        _ rows: inout LosslessRows, _ stream: Span<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        do throws(ImageDecodingError) {
            try rows.readRow(stream)
            return true
        } catch .truncated {
            return false
        }
    }

    private static func decodeLossy(
        _ image: WebPImage, of bytes: Span<UInt8>, _ presentation: Presentation
    ) throws(ImageDecodingError) -> Bitmap {
        var rows = try LossyRows(image.data, of: bytes, size: image.size)
        var alpha = try image.alpha.map { range throws(ImageDecodingError) in
            try AlphaRows(range, of: bytes, size: image.size)
        }
        var builder = BitmapBuilder(source: image.size, isOpaque: alpha == nil, presentation)
        var isComplete = true
        while rows.hasNext, isComplete {
            let first = rows.finished.upperBound
            isComplete = rows.decodeRow(in: bytes)
            // What follows the end of the data in its row of macroblocks is noise.
            guard isComplete else {
                for _ in first..<image.size.height { builder.addMissingRow() }
                break
            }
            for row in rows.finished {
                try alpha?.readRow(in: bytes)
                guard builder.needsNextRow else {
                    builder.skipRow()
                    continue
                }
                builder.addRow { output, range in
                    rows.convert(row, into: &output, range)
                    if let alpha {
                        let levels = alpha.row.span
                        for column in 0..<levels.count {
                            output[range.lowerBound &+ column &* 4 &+ 3] = levels[column]
                        }
                    }
                }
            }
        }
        return builder.finish(damage: isComplete && !image.isCut ? nil : .truncated(offset: bytes.count))
    }
}

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
    /// The body of the colour profile's chunk.
    private(set) var profile: Range<Int>?

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
        guard bytes.hasBytes("VP8X", at: 12) else { return }
        if bytes[20] & 0x08 != 0 { orientation = ExifOrientation(ofWebP: bytes) ?? .upright }
        if bytes[20] & 0x20 != 0 { profile = WebPChunks.body(of: "ICCP", in: bytes) }
    }
}

extension WebPStructure {
    /// The size of the upright image, or of a part of it: see `ImageSize.reduced(notBelow:)`.
    func size(notBelow least: ImageSize?) -> ImageSize {
        orientation.size(ofStored: canvas).reduced(notBelow: least)
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

    /// The body of the first chunk of a type.
    static func body(of type: String, in bytes: Span<UInt8>) -> Range<Int>? {
        var chunks = WebPChunks(12..<bytes.count)
        while let chunk = chunks.next(in: bytes) { if chunk.type == type { return chunk.body } }
        return nil
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
        guard let place = WebPChunks.body(of: "EXIF", in: bytes) else { return nil }
        let body = bytes.extracting(place)
        // Some writers put the beginning of a JPEG's segment there too.
        let isSegment = body.hasBytes([0x45, 0x78, 0x69, 0x66, 0x00, 0x00])
        self.init(tiff: isSegment ? body.extracting(6..<body.count) : body)
    }
}

/// Decodes the rows of a lossy image's alpha (RFC 9649 section 2.7.1.2):
///
///     0D          2 bits compression, 2 bits filter, 2 bits preprocessing, which only tells what an encoder did
///     ...         a byte for each pixel, or a VP8L stream whose green they are
struct AlphaRows {
    private let filter: Filter
    /// The bytes of the file, without the first; for an uncompressed plane the next row begins the range.
    private var data: Range<Int>
    private var lossless: LosslessRows?
    private var rowsRead = 0
    /// The alpha of the last row.
    private(set) var row: [UInt8]
    private var above: [UInt8]

    private enum Filter: Int {
        case none, horizontal, vertical, gradient
    }

    init(_ chunk: Range<Int>, of file: Span<UInt8>, size: ImageSize) throws(ImageDecodingError) {
        guard let flags = file.byte(at: chunk.lowerBound), !chunk.isEmpty, flags & 3 < 2,
            let filter = Filter(rawValue: Int(flags) >> 2 & 3)
        else { throw .corrupt(segment: "alpha of a WebP", offset: chunk.lowerBound) }
        self.filter = filter
        data = chunk.lowerBound + 1..<chunk.upperBound
        row = [UInt8](repeating: 0, count: size.width)
        above = row
        if flags & 3 == 1 {
            lossless = try LosslessRows(
                file.extracting(data), origin: data.lowerBound, size: size, hasHeader: false)
        } else if data.count < size.width * size.height {
            throw .corrupt(segment: "alpha of a WebP", offset: chunk.lowerBound)
        }
    }

    /// Decodes the next row to `row`.
    mutating func readRow(in file: Span<UInt8>) throws(ImageDecodingError) {
        swap(&row, &above)
        try lossless?.readRow(file.extracting(data))
        if let pixels = lossless?.row {
            Self.copyGreen(of: pixels.span, to: &row)
        } else {
            for column in row.indices { row[column] = file[data.lowerBound + column] }
            data = data.dropFirst(row.count)
        }
        Self.undo(rowsRead == 0 && filter != .none ? .horizontal : filter, above: above, &row)
        rowsRead += 1
    }

    private static func copyGreen(of pixels: Span<UInt32>, to row: inout [UInt8]) {
        var row = row.mutableSpan
        for column in 0..<row.count { row[column] = UInt8(truncatingIfNeeded: pixels[column] &>> 8) }
    }

    /// The first pixel of a row is predicted from above, and that of the first row from 0.
    private static func undo(_ filter: Filter, above: [UInt8], _ row: inout [UInt8]) {
        let above = above.span
        var row = row.mutableSpan
        switch filter {
        case .none: return
        case .horizontal:
            var left = above[0]
            for column in 0..<row.count {
                left &+= row[column]
                row[column] = left
            }
        case .vertical:
            for column in 0..<row.count { row[column] &+= above[column] }
        case .gradient:
            var (left, corner) = (above[0], above[0])
            for column in 0..<row.count {
                let sum = Int16(left) &+ Int16(above[column]) &- Int16(corner)
                left = row[column] &+ UInt8(truncatingIfNeeded: min(max(sum, 0), 255))
                corner = above[column]
                row[column] = left
            }
        }
    }
}
