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

    static let adam7 = [
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
