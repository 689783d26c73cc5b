/// The parsed chunks of a PNG, in the order required by PNG 5.6: IHDR first, PLTE and tRNS before the image data, IDAT
/// chunks consecutive, IEND last. What is wrong behind the first IDAT is `damage`. As in libpng, a PLTE or tRNS chunk that
/// is wrong or at a wrong place is ignored, unless the picture needs it.
struct PNGStructure {
    private(set) var header: PNGHeader
    /// The RGBA of each palette entry; empty without a palette.
    private(set) var palette: [SIMD4<UInt8>] = []
    /// The transparent colour, as samples of the file's bit depth.
    private(set) var transparentColour: [Int]?
    /// The bodies of the IDAT chunks, or the data of an animation's first frame.
    private(set) var imageData: [Range<Int>] = []
    /// The frame of the image data and the image's size, if the IDAT image is not the animation's first frame.
    private(set) var frame: (PNGAnimation.Frame, in: ImageSize)?
    /// What is wrong behind the beginning of the image data.
    private(set) var damage: ImageDecodingError?
    private(set) var colour = PNGColour()
    private var hasTransparency = false

    init(parsing bytes: Span<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        try limits.check(inputBytes: bytes.count)
        guard bytes.hasBytes(PNGSignature.magic) else { throw .unrecognized }
        var chunks = PNGChunks(offset: PNGSignature.magic.count)
        let first = try chunks.next(in: bytes)
        guard first.type == "IHDR" else { throw .corrupt(segment: "first chunk is not IHDR", offset: 8) }
        header = try PNGHeader(bytes.extracting(first.body), offset: first.body.lowerBound)
        try limits.check(header.size)

        var animation = PNGAnimation()
        do throws(ImageDecodingError) {
            try read(&chunks, &animation, of: bytes)
        } catch {
            guard !imageData.isEmpty else { throw error }
            damage = damage ?? error
        }
        if let first = animation.firstFrame {
            frame = (first.frame, in: header.size)
            header.size = first.frame.size
            imageData = first.data
        }
    }

    /// Reads the chunks behind IHDR.
    private mutating func read(
        _ chunks: inout PNGChunks, _ animation: inout PNGAnimation, of bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        var dataEnd: Int?
        while true {
            let chunk = try chunks.next(in: bytes)
            animation.read(chunk, of: bytes, pictureSize: header.size)
            let body = bytes.extracting(chunk.body)
            switch chunk.type {
            case "IDAT":
                if let dataEnd, dataEnd != chunk.offset {
                    throw .corrupt(segment: "IDAT chunk apart from the others", offset: chunk.offset)
                }
                guard header.colourType != .palette || !palette.isEmpty else {
                    throw .corrupt(segment: "palette picture without a palette", offset: chunk.offset)
                }
                imageData.append(chunk.body)
                damage = damage ?? chunk.damage
                dataEnd = chunks.offset
            case "PLTE" where dataEnd == nil && palette.isEmpty: try readPalette(body, of: chunk)
            case "tRNS" where dataEnd == nil && !hasTransparency: readTransparency(body)
            case "PLTE", "tRNS": break
            case "IEND":
                guard !imageData.isEmpty else {
                    throw .corrupt(segment: "PNG without IDAT", offset: chunk.offset)
                }
                return
            case "IHDR": throw .corrupt(segment: "second IHDR chunk", offset: chunk.offset)
            case _ where chunk.isCritical:
                throw .unsupported(feature: "PNG with critical chunk \(chunk.type)")
            default: if dataEnd == nil { colour.read(chunk) }
            }
        }
    }

    /// Whether all pixels are opaque.
    var isOpaque: Bool {
        !hasTransparency && header.colourType != .greyAlpha && header.colourType != .rgba
    }

    /// PNG 11.2.2. In RGB images the palette is a suggestion. In grey ones it is forbidden, and ignored as in other
    /// decoders.
    private mutating func readPalette(_ body: Span<UInt8>, of chunk: PNGChunk) throws(ImageDecodingError) {
        guard header.colourType == .palette else { return }
        guard body.count % 3 == 0, (1...256).contains(body.count / 3) else {
            throw .corrupt(segment: "PLTE chunk", offset: chunk.offset)
        }
        for index in 0..<min(body.count / 3, 1 << header.bitDepth) {
            palette.append(SIMD4(body[index * 3], body[index * 3 + 1], body[index * 3 + 2], 255))
        }
    }

    /// PNG 11.3.2.1: the alpha of each palette entry, or the transparent colour. In images with an alpha channel it is
    /// forbidden, and ignored.
    private mutating func readTransparency(_ body: Span<UInt8>) {
        switch header.colourType {
        case .palette:
            guard body.count > 0, body.count <= palette.count else { return }
            for index in 0..<body.count { palette[index].w = body[index] }
        case .grey, .rgb:
            guard body.count == header.colourType.channels * 2 else { return }
            // Only the low bits count, as many as a sample has.
            let mask = 1 << header.bitDepth - 1
            transparentColour = (0..<header.colourType.channels).map {
                (Int(body[$0 * 2]) << 8 | Int(body[$0 * 2 + 1])) & mask
            }
        case .greyAlpha, .rgba: return
        }
        hasTransparency = true
    }
}

/// A chunk of a PNG (PNG 5.3).
struct PNGChunk: Equatable {
    /// The four letters of the type.
    let type: String
    /// The offset of the chunk.
    let offset: Int
    /// As much as the file has of it.
    let body: Range<Int>
    /// A wrong CRC, or the end of the file in the chunk.
    let damage: ImageDecodingError?

    /// Whether decoders must understand the chunk: its first letter is a capital.
    var isCritical: Bool { type.utf8.first.map { $0 & 0x20 == 0 } ?? true }
}

/// Iterates over the chunks of a PNG and verifies each CRC. Skips damaged ancillary chunks (PNG 13.2), as libpng does.
/// Damaged image data is used as far as it goes.
///
///     00 00 00 0D  49 48 44 52  ...  C4 90 8E 3F     length of the body, "IHDR", body, CRC of type and body
struct PNGChunks {
    var offset: Int

    mutating func next(in bytes: Span<UInt8>) throws(ImageDecodingError) -> PNGChunk {
        while true {
            let chunk = try step(in: bytes)
            guard let damage = chunk.damage, chunk.type != "IDAT" else { return chunk }
            if chunk.isCritical || offset >= bytes.count { throw damage }
        }
    }

    private mutating func step(in bytes: Span<UInt8>) throws(ImageDecodingError) -> PNGChunk {
        let start = offset
        guard let length = bytes.bigEndian32(at: start), start + 8 <= bytes.count else {
            throw .truncated(offset: bytes.count)
        }
        var letters: [UInt8] = []
        for index in start + 4..<start + 8 {
            let isLetter = (0x41...0x5A).contains(bytes[index] & 0xDF)
            guard isLetter else { throw .corrupt(segment: "type of a PNG chunk", offset: start) }
            letters.append(bytes[index])
        }
        let type = String(decoding: letters, as: UTF8.self)
        guard length <= Int(Int32.max) else {
            throw .corrupt(segment: "length of \(type) chunk", offset: start)
        }
        let end = min(start + 8 + length, bytes.count)
        var damage: ImageDecodingError? = .truncated(offset: bytes.count)
        if let check = bytes.bigEndian32(at: start + 8 + length) {
            let isIntact = CRC32.checksum(of: bytes.extracting(start + 4..<end)) == UInt32(check)
            damage = isIntact ? nil : .corrupt(segment: "CRC of \(type) chunk", offset: start)
        }
        offset = min(start + 12 + length, bytes.count)
        return PNGChunk(type: type, offset: start, body: start + 8..<end, damage: damage)
    }
}

/// The IHDR chunk (PNG 11.2.1).
///
///     00 00 00 20  00 00 00 20    width, height
///     08                          bits per sample
///     06                          colour type: 6 is RGB with alpha
///     00 00                       compression and filter method: nothing else exists
///     01                          1: Adam7 interlace
struct PNGHeader: Equatable {
    enum ColourType: UInt8 {
        case grey = 0
        case rgb = 2
        case palette = 3
        case greyAlpha = 4
        case rgba = 6

        var channels: Int {
            switch self {
            case .grey, .palette: 1
            case .greyAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }

        /// PNG table 11.1.
        var bitDepths: [Int] {
            switch self {
            case .grey: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .greyAlpha, .rgba: [8, 16]
            }
        }
    }

    var size: ImageSize
    let bitDepth: Int
    let colourType: ColourType
    let isInterlaced: Bool

    init(_ body: Span<UInt8>, offset: Int) throws(ImageDecodingError) {
        guard body.count == 13, let width = body.bigEndian32(at: 0), let height = body.bigEndian32(at: 4)
        else {
            throw .corrupt(segment: "IHDR chunk", offset: offset)
        }
        let sides = 1...Int(Int32.max)
        guard sides.contains(width), sides.contains(height) else {
            throw .corrupt(segment: "size in IHDR", offset: offset)
        }
        guard let colourType = ColourType(rawValue: body[9]), colourType.bitDepths.contains(Int(body[8]))
        else {
            throw .corrupt(segment: "colour type and bit depth in IHDR", offset: offset + 8)
        }
        guard body[10] == 0, body[11] == 0, body[12] <= 1 else {
            throw .corrupt(segment: "compression, filter or interlace method in IHDR", offset: offset + 10)
        }
        size = ImageSize(width: width, height: height)
        bitDepth = Int(body[8])
        self.colourType = colourType
        isInterlaced = body[12] == 1
    }

    var bitsPerPixel: Int { bitDepth * colourType.channels }

    /// The distance in bytes to the pixel to the left, for the filters (PNG 9.2).
    var filterDistance: Int { max(1, bitsPerPixel / 8) }

    /// The bytes of a row of `width` pixels, without the filter type.
    func rowBytes(width: Int) -> Int { (width * bitsPerPixel + 7) / 8 }

    /// The reduced images in stored order: at most seven if interlaced, otherwise the whole image.
    var passes: [PNGPass] {
        isInterlaced
            ? PNGPass.adam7.compactMap { $0.fitted(to: size) }
            : [PNGPass(firstColumn: 0, firstRow: 0, columnStep: 1, rowStep: 1, size: size)]
    }

    /// The bytes of all rows of all passes, with filter types.
    var filteredSize: Int {
        passes.reduce(0) { $0 + $1.size.height * (1 + rowBytes(width: $1.size.width)) }
    }
}

/// A reduced image of Adam7 (PNG 8.2): every `columnStep`th pixel of every `rowStep`th row.
struct PNGPass: Equatable {
    var firstColumn: Int
    var firstRow: Int
    var columnStep: Int
    var rowStep: Int
    var size = ImageSize(width: 0, height: 0)

    /// The pixels that one of this pass stands for, while later passes are missing.
    var block: ImageSize { ImageSize(width: columnStep - firstColumn, height: rowStep - firstRow) }

    fileprivate static let adam7 = [
        PNGPass(firstColumn: 0, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGPass(firstColumn: 4, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGPass(firstColumn: 0, firstRow: 4, columnStep: 4, rowStep: 8),
        PNGPass(firstColumn: 2, firstRow: 0, columnStep: 4, rowStep: 4),
        PNGPass(firstColumn: 0, firstRow: 2, columnStep: 2, rowStep: 4),
        PNGPass(firstColumn: 1, firstRow: 0, columnStep: 2, rowStep: 2),
        PNGPass(firstColumn: 0, firstRow: 1, columnStep: 1, rowStep: 2),
    ]

    /// The pass for an image of size `whole`; nil if it has no pixels.
    func fitted(to whole: ImageSize) -> PNGPass? {
        var pass = self
        pass.size.width = (whole.width - firstColumn + columnStep - 1) / columnStep
        pass.size.height = (whole.height - firstRow + rowStep - 1) / rowStep
        return pass.size.width > 0 && pass.size.height > 0 ? pass : nil
    }
}

/// The first frame of an animated PNG (PNG third edition, 11.3.6), if it is not the image in IDAT: that is then only a
/// fallback for decoders without animation.
///     acTL    00 00 00 02  00 00 00 00    frames, times to play; ahead of IDAT
///     fcTL    00 00 00 00                 number among all fcTL and fdAT chunks
///             00 00 00 20  00 00 00 10    width, height
///             00 00 00 00  00 00 00 08    its place in the picture: columns, rows
///             00 01 00 0A  00 00          delay, disposal, blending
///     fdAT    00 00 00 01  ...            number, then data as in IDAT
///
/// An fcTL before IDAT makes the IDAT image the first frame. Malformed chunks are ignored, because the IDAT image
/// remains.
struct PNGAnimation {
    /// The size of a frame and its position in the image.
    struct Frame: Equatable {
        let size: ImageSize
        let column: Int
        let row: Int
    }

    private var isAnimated = false
    private var hasData = false
    private var controls = 0
    private var frame: Frame?
    private var data: [Range<Int>] = []

    /// The first frame and the ranges of its data; nil if it is the IDAT image.
    var firstFrame: (frame: Frame, data: [Range<Int>])? {
        guard let frame, !data.isEmpty else { return nil }
        return (frame, data)
    }

    /// Reads the next chunk of the file.
    mutating func read(_ chunk: PNGChunk, of bytes: Span<UInt8>, pictureSize: ImageSize) {
        switch chunk.type {
        case "acTL":
            let frames = bytes.extracting(chunk.body).bigEndian32(at: 0) ?? 0
            if !hasData, chunk.body.count == 8, frames > 0 { isAnimated = true }
        case "IDAT": hasData = true
        case "fcTL":
            controls += 1
            if isAnimated, hasData, controls == 1 {
                frame = Frame(bytes.extracting(chunk.body), pictureSize: pictureSize)
            }
        case "fdAT":
            if frame != nil, controls == 1, chunk.body.count >= 4 {
                data.append(chunk.body.lowerBound + 4..<chunk.body.upperBound)
            }
        default: break
        }
    }
}

extension PNGAnimation.Frame {
    /// Nil for a frame that extends past the image.
    fileprivate init?(_ body: Span<UInt8>, pictureSize: ImageSize) {
        guard body.count == 26, let width = body.bigEndian32(at: 4), let height = body.bigEndian32(at: 8),
            let column = body.bigEndian32(at: 12), let row = body.bigEndian32(at: 16),
            width > 0, height > 0, column + width <= pictureSize.width, row + height <= pictureSize.height
        else { return nil }
        self.init(size: ImageSize(width: width, height: height), column: column, row: row)
    }
}
