/// The size and memory use of a decoding, predicted from the file's headers.
package struct DecodingPlan: Sendable, Hashable {
    /// The size of the bitmap.
    package let size: ImageSize
    /// The peak memory use in bytes: the bitmap and all working memory, without the file.
    package let memory: Int
    /// The memory for decoding to planes. Nil for files without that option: other formats than JPEG, other colours
    /// than grey and YCbCr, and images with an Exif rotation.
    package var planes: Planes?

    package struct Planes: Sendable, Hashable {
        /// The size of the planes, in bytes.
        package let cost: Int
        /// The peak memory use in bytes: the planes and all working memory, without the file.
        package let memory: Int
    }
}

extension ImageDecoders {
    /// Predicts `decode(_:notBelow:limits:)`. The size in the header must be within the limits.
    ///
    /// Throws the errors of the file's headers.
    package func plan(
        for bytes: Span<UInt8>, notBelow least: ImageSize?
    ) throws(ImageDecodingError) -> DecodingPlan {
        let header = try header(of: bytes)
        switch decoder(of: bytes) {
        case is JPEGDecoder: return try JPEGDecoder.plan(for: bytes, notBelow: least)
        case is PNGDecoder: return try PNGDecoder.plan(for: bytes, notBelow: least)
        case is WebPDecoder: return try WebPDecoder.plan(for: bytes, notBelow: least)
        default:
            guard let size = header.size else { throw .unsupported(feature: header.format.displayName) }
            return DecodingPlan(size: size, memory: 3 * size.bitmapBytes + DecodingPlan.tables)
        }
    }
}

extension ImageDecoders {
    /// The most bytes that `decode(_:sizing:limits:)` takes, without the file; 0 for an image without a known size, of
    /// another program's decoder, and the greatest number for sides beyond all limits.
    ///
    /// Throws the errors of the file's headers.
    package func memory(
        toDecode bytes: Span<UInt8>, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Int {
        guard let size = try header(of: bytes).size else { return 0 }
        return try memory(toDecode: bytes, of: size, sizing: sizing)
    }

    /// The same, for a file whose size is known.
    func memory(
        toDecode bytes: Span<UInt8>, of size: ImageSize, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Int {
        // Larger sides are within no limits, and the products below could overflow.
        guard max(size.width, size.height) <= DecodingLimits.longestSide else { return .max }
        let result = sizing.map { PictureLayout(size, to: $0).scaled }
        switch decoder(of: bytes) {
        case is JPEGDecoder: return try JPEGDecoder.plan(for: bytes, notBelow: result).memory
        case is PNGDecoder: return try PNGDecoder.plan(for: bytes, sizing: sizing).memory
        case is WebPDecoder: return try WebPDecoder.plan(for: bytes, notBelow: result).memory
        case is BMPDecoder: return DecodingPlan.tables + size.width * 16 + (result ?? size).bitmapBytes
        default: return DecodingPlan.tables + 3 * size.bitmapBytes
        }
    }
}

extension DecodingPlan {
    /// The most bytes of a decoder's fixed memory, such as code tables.
    static let tables = 512 << 10
}

extension ImageSize {
    /// The size of the bitmap in bytes.
    package var bitmapBytes: Int { width * height * 4 }
}

extension JPEGDecoder {
    /// Reads up to the first scan's header.
    static func plan(
        for bytes: Span<UInt8>, notBelow least: ImageSize?
    ) throws(ImageDecodingError) -> DecodingPlan {
        var segments = JPEGSegments(offset: 2)
        var frame: JPEGFrame?
        var application = JPEGApplicationData()
        while true {
            let segment = try segments.next(in: bytes)
            application.read(segment, of: bytes)
            if segment.marker.isStartOfFrame {
                frame = try JPEGFrame(segment, of: bytes)
            } else if segment.marker == .startOfScan, let frame {
                let scan = try JPEGScan(
                    bytes.extracting(segment.body), frame: frame, offset: segment.offset)
                let colour = JPEGColour(frame: frame, application)
                let upright = application.orientation ?? .upright
                var plan = plan(for: frame, firstScan: scan, upright, notBelow: least)
                if upright == .upright, colour == .grey || colour == .yCbCr,
                    application.transform(for: frame, in: bytes) == nil
                {
                    plan.planes = planes(of: frame, notBelow: least)
                }
                return plan
            } else if segment.marker == .startOfScan || segment.marker == .endOfImage {
                throw .corrupt(segment: "JPEG without a frame header", offset: segment.offset)
            }
        }
    }

    private static func plan(
        for frame: JPEGFrame, firstScan: JPEGScan, _ upright: ExifOrientation, notBelow least: ImageSize?
    ) -> DecodingPlan {
        let scale = JPEGScale(frame, target: least.map { upright.size(ofStored: $0) })
        // A progressive frame keeps its coefficients, and a sequential one in several scans all samples. Otherwise the
        // samples of two rows of MCUs suffice.
        let keepsSamples = !frame.isProgressive && firstScan.components.count < frame.components.count
        var memory = DecodingPlan.tables + scale.size.width * bytesOfColumn
        for (component, blockSize) in zip(frame.components, scale.componentBlockSizes) {
            let rows = keepsSamples ? component.blockRows : min(2, frame.unitRows) * component.verticalFactor
            memory += component.blockColumns * rows * blockSize * blockSize
            if frame.isProgressive { memory += component.blockColumns * component.blockRows * (64 * 2 + 8) }
        }
        let bitmap = scale.size.bitmapBytes
        memory += upright == .upright ? bitmap : 2 * bitmap
        return DecodingPlan(size: upright.size(ofStored: scale.size), memory: memory)
    }

    /// Keeps all samples and, for a progressive frame, the coefficients.
    private static func planes(of frame: JPEGFrame, notBelow least: ImageSize?) -> DecodingPlan.Planes {
        let scale = JPEGScale(frame, target: least, isPlanar: true)
        let blocks = frame.components.reduce(0) { $0 + $1.blockColumns * $1.blockRows }
        let cost = blocks * scale.blockSize * scale.blockSize + JPEGPlanes.slack
        return DecodingPlan.Planes(
            cost: cost, memory: DecodingPlan.tables + cost + (frame.isProgressive ? blocks * (64 * 2 + 8) : 0)
        )
    }

    /// The memory of `JPEGRows` per column: a row of all components in several forms.
    private static let bytesOfColumn = 16
}

extension WebPDecoder {
    /// Reads the chunks before the image.
    static func plan(
        for bytes: Span<UInt8>, notBelow least: ImageSize?
    ) throws(ImageDecodingError) -> DecodingPlan {
        let structure = try WebPStructure(parsing: bytes, limits: .unlimited)
        let size = structure.size(notBelow: least)
        let (image, canvas) = (structure.image, structure.canvas)
        var memory = DecodingPlan.tables + size.bitmapBytes + canvas.width * bytesOfColumn
        if structure.orientation != .upright { memory += size.bitmapBytes }
        if image.size != canvas { memory += canvas.bitmapBytes + image.size.bitmapBytes }
        if image.isLossless || image.alpha != nil {
            memory += LosslessPixels.memory(for: image.size) + min(LosslessCodes.mostMemory, 64 * bytes.count)
        }
        return DecodingPlan(size: size, memory: memory)
    }

    /// The memory per column: the band of a lossy image and the sums of the averager, or rows of a lossless one.
    private static let bytesOfColumn = 128
}

extension ImageSize {
    /// The smallest of 1/2, 1/4 and 1/8 of it that is not below `least`; itself if there is none.
    func reduced(notBelow least: ImageSize?) -> ImageSize {
        guard let least else { return self }
        for part in [8, 4, 2] {
            let reduced = ImageSize(width: (width + part - 1) / part, height: (height + part - 1) / part)
            if reduced.width >= least.width, reduced.height >= least.height { return reduced }
        }
        return self
    }
}

extension PNGDecoder {
    /// The largest bitmap that `decode(_:notBelow:limits:)` does not reduce, in bytes: its sizes are sharper.
    private static let mostWhole = 128 << 20

    static func plan(
        for bytes: Span<UInt8>, notBelow least: ImageSize?
    ) throws(ImageDecodingError) -> DecodingPlan {
        let whole = try plan(for: bytes, sizing: nil)
        guard whole.size.bitmapBytes > mostWhole else { return whole }
        return try plan(for: bytes, sizing: ImageSizing(whole.size.reduced(notBelow: least)))
    }

    /// Reads up to the first IDAT chunk, and checks only IHDR.
    static func plan(
        for bytes: Span<UInt8>, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> DecodingPlan {
        let start = PNGSignature.magic.count
        guard bytes.count >= start + 21, bytes.hasBytes("IHDR", at: start + 4) else {
            throw .truncated(offset: bytes.count)
        }
        let header = try PNGHeader(bytes.extracting(start + 8..<start + 21), offset: start + 8)
        var isAnimated = false
        var offset = start
        while let length = bytes.bigEndian32(at: offset), !bytes.hasBytes("IDAT", at: offset + 4) {
            if bytes.hasBytes("acTL", at: offset + 4) { isAnimated = true }
            offset += 12 + length
        }
        // The IDAT chunks are joined. The filtered rows of all passes exist together with the bitmap, of an image
        // without passes a few rows; and an animation's first frame exists together with its canvas.
        let kept = Inflate.memory(forPieces: header.rowBytes(width: header.size.width) + 1)
        let rows =
            bytes.count + min(header.filteredSize, header.isInterlaced ? .max : kept)
            + header.size.width * bytesOfColumn
        let orientation = ExifOrientation(ofPNG: bytes) ?? .upright
        let size = orientation.size(ofStored: header.size)
        // An image without passes is reduced while its rows come.
        let isReduced = !isAnimated && !header.isInterlaced
        let bitmap = isReduced ? sizing.map { PictureLayout(size, to: $0).scaled } ?? size : size
        let bitmaps = (isAnimated || orientation != .upright ? 2 : 1) * bitmap.bitmapBytes
        return DecodingPlan(size: bitmap, memory: DecodingPlan.tables + rows + bitmaps)
    }

    /// A filtered row, the previous row, and the pixels of a pass.
    private static let bytesOfColumn = 8 + 8 + 4
}

extension JPEGEncoder {
    /// The peak memory use of encoding a bitmap of this size, in bytes, with the file and without the bitmap: twice
    /// what noise needs at quality 100, and ten times what photographs need at 80.
    package static func memory(toEncode size: ImageSize) -> Int {
        DecodingPlan.tables + 16 * (size.width + 16) * (size.height + 16)
    }
}

extension PNGEncoder {
    /// The peak memory use of encoding a bitmap of this size, in bytes, with the file and without the bitmap: 1.5 times
    /// what noise needs.
    package static func memory(toEncode size: ImageSize) -> Int {
        DecodingPlan.tables * 2 + 18 * (size.width + 16) * (size.height + 16)
    }
}
