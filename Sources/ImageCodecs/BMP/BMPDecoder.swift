/// Decodes Windows and OS/2 bitmaps: 1 to 32 bits a pixel, palettes, run lengths, and channel masks. The fourth channel
/// counts as alpha only if the header has a mask for it, and a pixel is not transparent.
///
/// A file that is cut off gives a bitmap with `damage`, whose missing pixels are transparent.
public struct BMPDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only BMP.
    public let formats: Set<ImageFormat> = [.bmp]

    /// Decodes a BMP; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// Throws `tooLarge` before any allocation, `.truncated(offset:)`, `corrupt`, and `unsupported` for a JPEG or PNG
    /// in a BMP.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try limits.check(inputBytes: bytes.count)
        var header = try BMPHeader(bytes, limits: limits)
        header.ignoreEmptyAlpha(in: bytes)
        let indices = header.isRunLength ? BMPRunLengths(header, bytes) : nil
        var isComplete = indices?.isComplete ?? true
        var builder = BitmapBuilder(
            source: header.size, isOpaque: false,
            Presentation(layout: PictureLayout(header.size, to: sizing)))
        for row in 0..<header.size.height {
            let stored = header.isTopDown ? row : header.size.height - 1 - row
            builder.addRow { output, range in
                for column in 0..<header.size.width {
                    var pixel = SIMD4<UInt8>()
                    if let indices {
                        pixel = indices.pixel(column, stored, header.palette)
                    } else if let stored = header.pixel(column, stored, in: bytes) {
                        pixel = stored
                    } else {
                        isComplete = false
                    }
                    output.store(pixel, at: range.lowerBound &+ column &* 4)
                }
            }
        }
        return builder.finish(damage: isComplete ? nil : .truncated(offset: bytes.count))
    }
}

/// The headers of a BMP, all numbers little-endian:
///
///     42 4D  46 00 00 00  00 00 00 00  36 00 00 00   "BM", file length, reserved, offset of the pixels
///     28 00 00 00                                    size of the second header: 40, or 12 to 124
///     02 00 00 00  02 00 00 00  01 00  18 00         width, height (negative: top-down), planes, bits a pixel
///     00 00 00 00  10 00 00 00                       compression, bytes of pixels
///     ...                                            density, colours, then masks and the palette
private struct BMPHeader {
    let size: ImageSize
    fileprivate let isTopDown: Bool
    let bitsPerPixel: Int
    let compression: Int
    fileprivate let pixelOffset: Int
    /// The RGBA of each index, 256 of them; those that the file lacks are black.
    private(set) var palette: [SIMD4<UInt8>] = []
    private let colours: Int
    private var channels: [Channel] = []
    private let rowBytes: Int

    /// A channel's bits in a pixel.
    private struct Channel {
        let shift: Int
        let highest: Int

        init(mask: Int) {
            shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            highest = mask >> shift
        }

        func level(_ pixel: Int) -> UInt8 {
            // Most channels have eight bits, and need no division.
            if highest == 255 { return UInt8(truncatingIfNeeded: pixel &>> shift) }
            guard highest > 0 else { return 0 }
            return UInt8(truncatingIfNeeded: ((pixel >> shift & highest) * 510 + highest) / (2 * highest))
        }
    }

    private enum Compression {
        static let none = 0
        static let runLength8 = 1
        static let runLength4 = 2
        static let masks = 3
        static let masksWithAlpha = 6
    }

    init(_ bytes: Span<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let size = try ImageHeader(parsing: bytes).size, let pixelOffset = bytes.littleEndian32(at: 10),
            let length = bytes.littleEndian32(at: 14)
        else { throw .unrecognized }
        try limits.check(size)
        self.size = size
        let isOld = length == 12
        guard let bits = bytes.littleEndian16(at: isOld ? 24 : 28) else {
            throw .truncated(offset: bytes.count)
        }
        bitsPerPixel = bits
        let used = isOld ? 0 : bytes.littleEndian32(at: 46) ?? 0
        colours = bits > 8 ? 0 : used > 0 ? min(used, 256) : 1 << bits
        // Some programs leave the place of the pixels out. It is behind the headers and the palette then.
        let headers = 14 + length
        self.pixelOffset = pixelOffset < headers ? headers + colours * (isOld ? 3 : 4) : pixelOffset
        isTopDown = !isOld && (bytes.byte(at: 25) ?? 0) & 0x80 != 0
        compression = isOld || length == 16 ? 0 : bytes.littleEndian32(at: 30) ?? 0
        rowBytes = (size.width * bits + 31) / 32 * 4
        let fitting: [Int] =
            switch compression {
            case Compression.none: [1, 2, 4, 8, 16, 24, 32]
            case Compression.runLength8: [8]
            case Compression.runLength4: [4]
            case Compression.masks, Compression.masksWithAlpha: [16, 32]
            default: throw .unsupported(feature: "BMP with compression \(compression)")
            }
        guard fitting.contains(bits) else { throw .corrupt(segment: "bits of a pixel in BMP", offset: 28) }
        if bits <= 8 {
            readPalette(bytes, at: headers, entryBytes: isOld ? 3 : 4)
        } else {
            try readMasks(bytes, headerLength: length)
        }
    }

    fileprivate var isRunLength: Bool {
        compression == Compression.runLength8 || compression == Compression.runLength4
    }

    private mutating func readPalette(_ bytes: Span<UInt8>, at start: Int, entryBytes: Int) {
        let count = min(colours, max(0, bytes.count - start) / entryBytes)
        palette = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 255), count: 256)
        for index in 0..<count {
            let entry = start + index * entryBytes
            palette[index] = SIMD4(bytes[entry + 2], bytes[entry + 1], bytes[entry], 255)
        }
    }

    private mutating func readMasks(
        _ bytes: Span<UInt8>, headerLength: Int
    ) throws(ImageDecodingError) {
        var masks = bitsPerPixel == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF0000, 0xFF00, 0xFF, 0]
        let hasAlpha = headerLength >= 56 || compression == Compression.masksWithAlpha
        let first = compression == Compression.none ? 3 : 0
        for channel in first..<max(first, hasAlpha ? 4 : 3) {
            guard let mask = bytes.littleEndian32(at: 54 + channel * 4) else {
                throw .truncated(offset: bytes.count)
            }
            masks[channel] = mask
        }
        channels = masks.map { Channel(mask: $0) }
    }

    /// As in browsers, a picture whose pixels are all transparent is opaque: its program left alpha out.
    fileprivate mutating func ignoreEmptyAlpha(in bytes: Span<UInt8>) {
        guard channels.count == 4, channels[3].highest > 0 else { return }
        for row in 0..<size.height {
            for column in 0..<size.width where pixel(column, row, in: bytes)?.w ?? 0 > 0 { return }
        }
        channels[3] = Channel(mask: 0)
    }

    /// The pixel in a row of the file; nil past its end.
    func pixel(_ column: Int, _ row: Int, in bytes: Span<UInt8>) -> SIMD4<UInt8>? {
        let start = pixelOffset &+ row &* rowBytes
        if bitsPerPixel <= 8 {
            let bit = column &* bitsPerPixel
            guard let byte = bytes.byte(at: start &+ bit / 8) else { return nil }
            return palette[Int(byte) &>> (8 &- bitsPerPixel &- bit % 8) & (1 &<< bitsPerPixel &- 1)]
        }
        if bitsPerPixel == 24 {
            guard let pixel = bytes.littleEndian24(at: start &+ column &* 3) else { return nil }
            return SIMD4(
                UInt8(truncatingIfNeeded: pixel &>> 16), UInt8(truncatingIfNeeded: pixel &>> 8),
                UInt8(truncatingIfNeeded: pixel), 255)
        }
        let pixel =
            bitsPerPixel == 16
            ? bytes.littleEndian16(at: start &+ column &* 2) : bytes.littleEndian32(at: start &+ column &* 4)
        guard let pixel else { return nil }
        return SIMD4(
            channels[0].level(pixel), channels[1].level(pixel), channels[2].level(pixel),
            channels[3].highest > 0 ? channels[3].level(pixel) : 255)
    }
}

/// The indices of a bitmap with run lengths: a count and an index; or 0 and 0 for the end of a row, 1 for the end, 2 for
/// a step to the right and up, else that many single indices. Skipped pixels are transparent.
private struct BMPRunLengths {
    private let width: Int
    /// The index of each pixel, or `skipped`.
    private var indices: [UInt16]
    /// False if the file ends before the end of the image, with pixels missing.
    private(set) var isComplete = false
    private static let skipped: UInt16 = 256

    init(_ header: BMPHeader, _ bytes: Span<UInt8>) {
        width = header.size.width
        indices = [UInt16](repeating: Self.skipped, count: width * header.size.height)
        let isPacked = header.bitsPerPixel == 4
        var (column, row, offset) = (0, 0, header.pixelOffset)
        while row < header.size.height {
            guard let count = bytes.byte(at: offset), let value = bytes.byte(at: offset + 1) else {
                isComplete = row == header.size.height - 1 && column >= width
                return
            }
            offset += 2
            if count > 0 {
                for index in 0..<Int(count) {
                    put(isPacked ? (index % 2 == 0 ? value >> 4 : value & 15) : value, &column, row)
                }
            } else if value == 0 {
                (column, row) = (0, row + 1)
            } else if value == 1 {
                break
            } else if value == 2 {
                guard let right = bytes.byte(at: offset), let up = bytes.byte(at: offset + 1) else { return }
                (column, row, offset) = (column + Int(right), row + Int(up), offset + 2)
            } else {
                let length = isPacked ? (Int(value) + 1) / 2 : Int(value)
                for index in 0..<Int(value) {
                    guard let byte = bytes.byte(at: offset + (isPacked ? index / 2 : index)) else { return }
                    put(isPacked ? (index % 2 == 0 ? byte >> 4 : byte & 15) : byte, &column, row)
                }
                offset += (length + 1) / 2 * 2
            }
        }
        isComplete = true
    }

    private mutating func put(_ index: UInt8, _ column: inout Int, _ row: Int) {
        if column < width { indices[row * width + column] = UInt16(index) }
        column += 1
    }

    func pixel(_ column: Int, _ row: Int, _ palette: [SIMD4<UInt8>]) -> SIMD4<UInt8> {
        let index = Int(indices[row &* width &+ column])
        return index < palette.count ? palette[index] : SIMD4()
    }
}
