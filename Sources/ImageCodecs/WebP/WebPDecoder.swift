/// Decodes WebP (RFC 9649): lossy images (VP8, RFC 6386) with or without alpha, lossless ones (VP8L), and the first
/// frame of an animation on a transparent canvas. Applies the Exif orientation; ignores the colour profile.
///
/// Rows are averaged to the wanted size as they are decoded, so a large image never exists at its full size. A file that
/// is cut off gives an incomplete bitmap, whose missing pixels are transparent.
public struct WebPDecoder: ImageDecoding {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only WebP.
    public let formats: Set<ImageFormat> = [.webp]

    /// Decodes a WebP to fit; see ``decode(_:sizing:limits:)``.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }

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
        guard image.size != structure.canvas else {
            return try decode(image, of: bytes, layout.stored(orientation)).turned(orientation)
        }
        let frame = try decode(image, of: bytes, PictureLayout(whole: image.size))
        return frame.placed(column: image.column, row: image.row, in: structure.canvas)
            .turned(orientation).resized(to: layout)
    }

    private static func decode(
        _ image: WebPImage, of bytes: Span<UInt8>, _ layout: PictureLayout
    ) throws(ImageDecodingError) -> Bitmap {
        try image.isLossless
            ? decodeLossless(image, of: bytes, layout) : decodeLossy(image, of: bytes, layout)
    }

    private static func decodeLossless(
        _ image: WebPImage, of bytes: Span<UInt8>, _ layout: PictureLayout
    ) throws(ImageDecodingError) -> Bitmap {
        let stream = bytes.extracting(image.data)
        var rows = try LosslessRows(stream, origin: image.data.lowerBound, size: image.size)
        var builder = BitmapBuilder(source: image.size, layout: layout, isOpaque: !rows.hasAlpha)
        var isComplete = true
        for _ in 0..<image.size.height {
            guard isComplete, try read(&rows, stream) else {
                isComplete = false
                addMissingRow(to: &builder)
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
                    let pixel = pixels[column]
                    let lanes = SIMD4(
                        UInt8(truncatingIfNeeded: pixel &>> 16), UInt8(truncatingIfNeeded: pixel &>> 8),
                        UInt8(truncatingIfNeeded: pixel), UInt8(truncatingIfNeeded: pixel &>> 24))
                    output.store(lanes, at: target)
                    target &+= 4
                }
            }
        }
        return builder.finish(isComplete: isComplete && !image.isCut)
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
        _ image: WebPImage, of bytes: Span<UInt8>, _ layout: PictureLayout
    ) throws(ImageDecodingError) -> Bitmap {
        var rows = try LossyRows(image.data, of: bytes, size: image.size)
        var alpha = try image.alpha.map { range throws(ImageDecodingError) in
            try AlphaRows(range, of: bytes, size: image.size)
        }
        var builder = BitmapBuilder(source: image.size, layout: layout, isOpaque: alpha == nil)
        var isComplete = true
        while rows.hasNext, isComplete {
            let first = rows.finished.upperBound
            isComplete = rows.decodeRow(in: bytes)
            // What follows the end of the data in its row of macroblocks is noise.
            guard isComplete else {
                for _ in first..<image.size.height { addMissingRow(to: &builder) }
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
        return builder.finish(isComplete: isComplete && !image.isCut)
    }

    /// Adds a transparent row.
    private static func addMissingRow(to builder: inout BitmapBuilder) {
        builder.addRow { output, range in
            for index in range { output[index] = 0 }
        }
    }
}
