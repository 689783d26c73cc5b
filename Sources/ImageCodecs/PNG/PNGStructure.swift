/// The parsed chunks of a PNG, in the order required by PNG 5.6: IHDR first, PLTE and tRNS before the image data, IDAT
/// chunks consecutive, IEND last.
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
    private var hasTransparency = false

    init(parsing bytes: Span<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        try limits.check(inputBytes: bytes.count)
        guard bytes.hasBytes(PNGSignature.magic) else { throw .unrecognized }
        var chunks = PNGChunks(offset: PNGSignature.magic.count)
        let first = try chunks.next(in: bytes)
        guard first.type == "IHDR" else { throw .corrupt(segment: "first chunk is not IHDR", offset: 8) }
        header = try PNGHeader(bytes.extracting(first.body), offset: first.body.lowerBound)
        try limits.check(header.size)

        var dataEnd: Int?
        var animation = PNGAnimation()
        while true {
            let chunk = try chunks.next(in: bytes)
            animation.read(chunk, of: bytes, pictureSize: header.size)
            switch chunk.type {
            case "IDAT":
                if let dataEnd, dataEnd != chunk.offset {
                    throw .corrupt(segment: "IDAT chunk apart from the others", offset: chunk.offset)
                }
                guard header.colourType != .palette || !palette.isEmpty else {
                    throw .corrupt(segment: "palette picture without a palette", offset: chunk.offset)
                }
                imageData.append(chunk.body)
                dataEnd = chunks.offset
            case "PLTE": try readPalette(bytes.extracting(chunk.body), of: chunk, afterData: dataEnd != nil)
            case "tRNS":
                try readTransparency(bytes.extracting(chunk.body), of: chunk, afterData: dataEnd != nil)
            case "IEND":
                guard !imageData.isEmpty else {
                    throw .corrupt(segment: "PNG without IDAT", offset: chunk.offset)
                }
                if let first = animation.firstFrame {
                    frame = (first.frame, in: header.size)
                    header.size = first.frame.size
                    imageData = first.data
                }
                return
            default:
                guard !chunk.isCritical || chunk.type == "IHDR" else {
                    throw .unsupported(feature: "PNG with critical chunk \(chunk.type)")
                }
                guard chunk.type != "IHDR" else {
                    throw .corrupt(segment: "second IHDR chunk", offset: chunk.offset)
                }
            }
        }
    }

    /// Whether all pixels are opaque.
    var isOpaque: Bool {
        !hasTransparency && header.colourType != .greyAlpha && header.colourType != .rgba
    }

    /// PNG 11.2.2. In RGB images the palette is a suggestion. In grey ones it is forbidden, and ignored as in other
    /// decoders.
    private mutating func readPalette(
        _ body: Span<UInt8>, of chunk: PNGChunk, afterData: Bool
    ) throws(ImageDecodingError) {
        guard !afterData, palette.isEmpty, !hasTransparency else {
            throw .corrupt(segment: "place of PLTE chunk", offset: chunk.offset)
        }
        let most = header.colourType == .palette ? 1 << header.bitDepth : 256
        guard body.count % 3 == 0, (1...most).contains(body.count / 3) else {
            throw .corrupt(segment: "PLTE chunk", offset: chunk.offset)
        }
        for index in 0..<body.count / 3 {
            palette.append(SIMD4(body[index * 3], body[index * 3 + 1], body[index * 3 + 2], 255))
        }
    }

    /// PNG 11.3.2.1: the alpha of each palette entry, or the transparent colour. In images with an alpha channel it is
    /// forbidden, and ignored.
    private mutating func readTransparency(
        _ body: Span<UInt8>, of chunk: PNGChunk, afterData: Bool
    ) throws(ImageDecodingError) {
        guard !afterData, !hasTransparency else {
            throw .corrupt(segment: "place of tRNS chunk", offset: chunk.offset)
        }
        switch header.colourType {
        case .palette:
            guard body.count <= palette.count else {
                throw .corrupt(segment: "tRNS chunk", offset: chunk.offset)
            }
            for index in 0..<body.count { palette[index].w = body[index] }
        case .grey, .rgb:
            guard body.count == header.colourType.channels * 2 else {
                throw .corrupt(segment: "tRNS chunk", offset: chunk.offset)
            }
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
    let body: Range<Int>

    /// Whether decoders must understand the chunk: its first letter is a capital.
    var isCritical: Bool { type.utf8.first.map { $0 & 0x20 == 0 } ?? true }
}

/// Iterates over the chunks of a PNG and verifies each CRC. Skips damaged ancillary chunks (PNG 13.2), as libpng does:
///
///     00 00 00 0D  49 48 44 52  ...  C4 90 8E 3F     length of the body, "IHDR", body, CRC of type and body
struct PNGChunks {
    var offset: Int

    mutating func next(in bytes: Span<UInt8>) throws(ImageDecodingError) -> PNGChunk {
        while true {
            let (chunk, isIntact) = try step(in: bytes)
            if isIntact { return chunk }
            guard !chunk.isCritical else {
                throw .corrupt(segment: "CRC of \(chunk.type) chunk", offset: chunk.offset)
            }
        }
    }

    private mutating func step(in bytes: Span<UInt8>) throws(ImageDecodingError) -> (PNGChunk, isIntact: Bool)
    {
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
        let end = start + 8 + length
        guard let check = bytes.bigEndian32(at: end) else { throw .truncated(offset: bytes.count) }
        offset = end + 4
        let isIntact = CRC32.checksum(of: bytes.extracting(start + 4..<end)) == UInt32(check)
        return (PNGChunk(type: type, offset: start, body: start + 8..<end), isIntact)
    }
}
