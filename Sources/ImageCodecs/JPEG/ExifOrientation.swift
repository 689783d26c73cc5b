/// The rotation or reflection that makes a stored image upright (TIFF 6.0 tag 274, used by Exif).
enum ExifOrientation: Int, Sendable, CaseIterable {
    case upright = 1
    case mirrored
    case rotated180
    case flipped
    case transposed
    case rotated90
    case transversed
    case rotated270

    /// Whether rows become columns.
    fileprivate var swapsSides: Bool { rawValue >= 5 }

    func size(ofStored size: ImageSize) -> ImageSize { swapsSides ? size.transposed : size }

    /// The orientation that undoes this one.
    fileprivate var inverse: ExifOrientation {
        switch self {
        case .rotated90: .rotated270
        case .rotated270: .rotated90
        default: self
        }
    }
}

extension ExifOrientation {
    /// Reads the tag from an APP1 segment. Nil if it is not Exif or has no valid orientation: damaged metadata must not
    /// prevent decoding.
    ///
    ///     45 78 69 66 00 00    "Exif", two zeros; offsets count from here
    ///     4D 4D 00 2A          "MM": big-endian, or 49 49 2A 00 "II": little-endian
    ///     00 00 00 08          offset of the first directory
    ///     00 01                its number of entries, of 12 bytes each
    ///     01 12 00 03 00 00 00 01 00 06 00 00   tag 274, SHORT, one value: 6
    init?(applicationSegment body: Range<Int>, of bytes: Span<UInt8>) {
        let exif = bytes.extracting(body)
        guard exif.hasBytes([0x45, 0x78, 0x69, 0x66, 0x00]), exif.count > 6 else { return nil }
        self.init(tiff: exif.extracting(6..<exif.count))
    }

    /// Reads the tag from the TIFF structure of an Exif segment, or of a PNG's eXIf chunk.
    init?(tiff: Span<UInt8>) {
        let isBigEndian: Bool
        if tiff.hasBytes([0x4D, 0x4D, 0x00, 0x2A]) {
            isBigEndian = true
        } else if tiff.hasBytes([0x49, 0x49, 0x2A, 0x00]) {
            isBigEndian = false
        } else {
            return nil
        }
        func short(at offset: Int) -> Int? {
            isBigEndian ? tiff.bigEndian16(at: offset) : tiff.littleEndian16(at: offset)
        }
        func long(at offset: Int) -> Int? {
            isBigEndian ? tiff.bigEndian32(at: offset) : tiff.littleEndian32(at: offset)
        }
        guard let directory = long(at: 4), let entryCount = short(at: directory) else { return nil }
        for index in 0..<entryCount {
            let entry = directory + 2 + index * 12
            guard let tag = short(at: entry) else { return nil }
            guard tag == 0x0112 else { continue }
            // A LONG is against the standard, and some programs write it.
            let isLong = short(at: entry + 2) == 4
            guard isLong || short(at: entry + 2) == 3, long(at: entry + 4) == 1,
                let value = isLong ? long(at: entry + 8) : short(at: entry + 8)
            else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }

    /// The smallest TIFF structure with the tag: the bytes above from "MM" on, without a second directory.
    var tiff: [UInt8] {
        let header: [UInt8] = [0x4D, 0x4D, 0x00, 0x2A, 0, 0, 0, 8]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(rawValue), 0, 0]
        let nextDirectory: [UInt8] = [0, 0, 0, 0]
        return header + [0, 1] + entry + nextDirectory
    }
}

extension Bitmap {
    /// Applies the orientation, so that the image is upright.
    func turned(_ orientation: ExifOrientation) -> Bitmap {
        guard orientation != .upright else { return self }
        var turner = PixelTurner(orientation, source: size)
        let strip = PixelTurner.rows
        for first in stride(from: 0, to: height, by: strip) {
            let bytes = first * width * 4..<min(first + strip, height) * width * 4
            turner.add(pixels.span.extracting(bytes), from: first)
        }
        return turner.finish(damage: damage)
    }
}

/// Writes stored rows to their places in the upright image, some at a time: where rows become columns, each line of the
/// cache is written whole.
struct PixelTurner {
    private let orientation: ExifOrientation
    private let source: ImageSize
    private var pixels: [UInt8]

    /// The rows to add at a time.
    static let rows = 16

    /// Creates a turner for stored rows of size `source`. Pixels that are not written stay opaque white.
    init(_ orientation: ExifOrientation, source: ImageSize) {
        self.orientation = orientation
        self.source = source
        pixels = [UInt8](repeating: 255, count: source.bitmapBytes)
    }

    /// Adds whole rows. The first one has the number `first`.
    mutating func add(_ rows: Span<UInt8>, from first: Int) {
        let (source, orientation) = (source, orientation)
        let size = orientation.size(ofStored: source)
        func place(_ column: Int, _ row: Int) -> Int {
            let (x, y) = orientation.inverse.stored(
                column: column, row: row, width: size.width, height: size.height)
            return (y &* size.width &+ x) &* 4
        }
        let count = rows.count / (source.width * 4)
        // The way to the next column and row in the upright image is the same everywhere.
        let across = place(1, first) &- place(0, first)
        let down = place(0, first &+ 1) &- place(0, first)
        var output = pixels.mutableSpan
        if orientation.swapsSides {
            var target = place(0, first)
            for column in 0..<source.width {
                Self.copy(count, of: rows, from: column &* 4, by: source.width &* 4, &output, target, down)
                target &+= across
            }
        } else {
            for row in 0..<count {
                let start = row &* source.width &* 4
                Self.copy(source.width, of: rows, from: start, by: 4, &output, place(0, first &+ row), across)
            }
        }
    }

    @inline(__always)
    private static func copy(
        _ count: Int, of rows: Span<UInt8>, from start: Int, by step: Int, _ output: inout MutableSpan<UInt8>,
        _ place: Int, _ targetStep: Int
    ) {
        var (from, target) = (start, place)
        for _ in 0..<count {
            output.store(rows.vector4(at: from), at: target)
            from &+= step
            target &+= targetStep
        }
    }

    consuming func finish(damage: ImageDecodingError?) -> Bitmap {
        let size = orientation.size(ofStored: source)
        return Bitmap(width: size.width, height: size.height, pixels: pixels, damage: damage)
    }
}

extension ExifOrientation {
    /// The position in the stored image of the pixel shown at `column` and `row`.
    func stored(column: Int, row: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        switch self {
        case .upright: (column, row)
        case .mirrored: (width &- 1 &- column, row)
        case .rotated180: (width &- 1 &- column, height &- 1 &- row)
        case .flipped: (column, height &- 1 &- row)
        case .transposed: (row, column)
        case .rotated90: (row, height &- 1 &- column)
        case .transversed: (width &- 1 &- row, height &- 1 &- column)
        case .rotated270: (width &- 1 &- row, column)
        }
    }
}
