/// The blocks of a GIF up to the end of its first frame.
///
///     47 49 46 38 39 61           "GIF89a"
///     10 00 10 00  F7 00 00       logical screen: 16 x 16, a global table of 256 colours, background 0, no aspect
///     ...                         the global colour table
///     21 FF 0B "NETSCAPE2.0" ...  application extension: an animation that repeats
///     21 F9 04 09 0A 00 1F 00     graphic control: disposal 2, transparent index 0x1F, delay 100 ms
///     2C 00 00 00 00 10 00 10 00 00  image: column, row, width, height, flags
///     08 FE ... 00                code size, blocks of LZW data, an empty block
///     3B                          trailer
struct GIFStructure {
    /// The size of the logical screen.
    let screen: ImageSize
    /// The images that make the picture, in order; none in a file without images.
    private(set) var images: [GIFImage] = []
    /// What is wrong behind the first image.
    private(set) var damage: ImageDecodingError?

    /// The most images in a file.
    private static let mostImages = 10_000

    init(parsing bytes: Span<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let screen = try ImageHeader(parsing: bytes).size else { throw .unrecognized }
        try limits.check(screen)
        self.screen = screen
        var blocks = try GIFBlocks(bytes)
        var repeats = false
        do throws(ImageDecodingError) {
            reading: while true {
                switch try blocks.next(in: bytes) {
                case .image(let image):
                    guard images.count < Self.mostImages else {
                        throw .corrupt(segment: "number of GIF images", offset: image.dataOffset)
                    }
                    images.append(image)
                    if image.control.delay > 0 { break reading }
                case .repetition: repeats = true
                case .control, .profile, .other: continue
                case .end: break reading
                }
            }
        } catch {
            guard !images.isEmpty else { throw error }
            damage = error
        }
        // An animation without any delay is shown with a usual one, so its first image is a frame.
        if repeats { images = Array(images.prefix(1)) }
        // Many images of the full size would take long.
        var area = 0
        for image in images {
            try limits.check(image.size)
            area += image.size.width * image.size.height
        }
        let mostPixels = max(limits.pixels, 2 * screen.width * screen.height)
        guard area <= mostPixels else { throw .tooLarge(.pixels, value: area, maximum: mostPixels) }
    }
}

/// An image of a GIF (GIF89a, 20), with its graphic control (23).
struct GIFImage {
    enum Disposal {
        case keep, clear, restorePrevious
    }

    struct Control {
        var transparentIndex: Int?
        /// The time until the next image, in hundredths of a second.
        var delay = 0
        var disposal = Disposal.keep
    }

    let column: Int
    let row: Int
    let size: ImageSize
    let isInterlaced: Bool
    /// The range of the colour table, local or global, in the file.
    let colourTable: Range<Int>
    let control: Control
    /// The offset of the code size, before the data.
    let dataOffset: Int

    /// The RGBA of each index. Those past the table, or without one, are black.
    func colours(in bytes: Span<UInt8>) -> [SIMD4<UInt8>] {
        var colours = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 255), count: 256)
        for index in 0..<colourTable.count / 3 {
            let offset = colourTable.lowerBound + index * 3
            colours[index] = SIMD4(bytes[offset], bytes[offset + 1], bytes[offset + 2], 255)
        }
        if let transparentIndex = control.transparentIndex { colours[transparentIndex] = SIMD4() }
        return colours
    }
}

/// Iterates over the blocks of a GIF.
struct GIFBlocks {
    enum Block {
        case image(GIFImage)
        /// An application extension of an animation that repeats.
        case repetition
        /// The graphic control of the next image.
        case control
        /// A colour profile.
        case profile
        case other
        /// The trailer, or the end of a file without one.
        case end
    }

    static let trailer: UInt8 = 0x3B

    private(set) var offset: Int
    private let globalTable: Range<Int>
    private var control = GIFImage.Control()
    private var hasImage = false

    init(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard bytes.count >= 13 else { throw .truncated(offset: bytes.count) }
        let length = Self.tableLength(flags: bytes[10])
        guard 13 + length <= bytes.count else { throw .truncated(offset: bytes.count) }
        globalTable = 13..<13 + length
        offset = globalTable.upperBound
    }

    /// Throws `.truncated(offset:)` if the file ends in a block, or before the first image.
    mutating func next(in bytes: Span<UInt8>) throws(ImageDecodingError) -> Block {
        guard let kind = bytes.byte(at: offset) else {
            // Some encoders leave the trailer out.
            guard hasImage else { throw .truncated(offset: bytes.count) }
            return .end
        }
        switch kind {
        case 0x2C: return .image(try image(in: bytes))
        case 0x21: return try `extension`(in: bytes)
        case Self.trailer: return .end
        // Padding between blocks, or bytes after an image whose trailer is missing.
        case 0:
            offset += 1
            return .other
        default:
            guard hasImage else { throw .corrupt(segment: "GIF block", offset: offset) }
            return .end
        }
    }

    private mutating func image(in bytes: Span<UInt8>) throws(ImageDecodingError) -> GIFImage {
        guard let column = bytes.littleEndian16(at: offset + 1),
            let row = bytes.littleEndian16(at: offset + 3),
            let width = bytes.littleEndian16(at: offset + 5),
            let height = bytes.littleEndian16(at: offset + 7),
            let flags = bytes.byte(at: offset + 9)
        else { throw .truncated(offset: bytes.count) }
        let tableStart = offset + 10
        let dataOffset = tableStart + Self.tableLength(flags: flags)
        guard dataOffset < bytes.count else { throw .truncated(offset: bytes.count) }
        let image = GIFImage(
            column: column, row: row, size: ImageSize(width: width, height: height),
            isInterlaced: flags & 0x40 != 0,
            colourTable: dataOffset > tableStart ? tableStart..<dataOffset : globalTable,
            control: control, dataOffset: dataOffset)
        offset = dataOffset + 1
        control = GIFImage.Control()
        hasImage = true
        skipSubblocks(in: bytes)
        return image
    }

    private mutating func `extension`(in bytes: Span<UInt8>) throws(ImageDecodingError) -> Block {
        let body = offset + 3
        guard let label = bytes.byte(at: offset + 1), let length = bytes.byte(at: offset + 2) else {
            throw .truncated(offset: bytes.count)
        }
        if label == 0xF9, length >= 4, let flags = bytes.byte(at: body),
            let delay = bytes.littleEndian16(at: body + 1), let index = bytes.byte(at: body + 3)
        {
            control = GIFImage.Control(
                transparentIndex: flags & 1 != 0 ? Int(index) : nil, delay: delay,
                disposal: Self.disposal(flags))
        }
        offset += 2
        skipSubblocks(in: bytes)
        guard offset <= bytes.count || hasImage else { throw .truncated(offset: bytes.count) }
        if label == 0xF9 { return .control }
        guard label == 0xFF, length == 11 else { return .other }
        if bytes.hasBytes("NETSCAPE2.0", at: body) || bytes.hasBytes("ANIMEXTS1.0", at: body) {
            return .repetition
        }
        return bytes.hasBytes("ICCRGBG1012", at: body) ? .profile : .other
    }

    /// Moves behind the empty block that ends the data, or behind the end of a file that is cut off.
    private mutating func skipSubblocks(in bytes: Span<UInt8>) {
        while let length = bytes.byte(at: offset) {
            offset += 1 + Int(length)
            if length == 0 { return }
        }
        offset = bytes.count + 1
    }

    /// The length of a colour table in bytes, by the flags of a screen or an image; 0 without a table.
    private static func tableLength(flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }

    private static func disposal(_ flags: UInt8) -> GIFImage.Disposal {
        switch flags >> 2 & 7 {
        case 2: .clear
        case 3: .restorePrevious
        default: .keep
        }
    }
}
