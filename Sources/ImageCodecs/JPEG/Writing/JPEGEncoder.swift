/// Writes JPEG files (ISO 10918-1): baseline, with Huffman tables made for the picture, in a JFIF wrapper. They are those
/// of libjpeg's `cjpeg -optimize -baseline`, byte by byte.
public struct JPEGEncoder: Sendable {
    /// How many samples of colour there are. Luma has one for every pixel.
    public enum Subsampling: Sendable, Hashable, CaseIterable {
        /// A colour for every four pixels, 4:2:0: what photographs want.
        case quarter
        /// A colour for every pixel, 4:4:4: for text and thin lines in colours.
        case none
    }

    /// From 1, the smallest file, to 100, the most like the picture: libjpeg's scale. What is beyond counts as the end that
    /// is nearer.
    public var quality: Int
    /// How many samples of colour there are; a picture without colours has none.
    public var subsampling: Subsampling

    /// Makes an encoder; it keeps no state.
    public init(quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.quality = quality
        self.subsampling = subsampling
    }

    /// The longest side that a JPEG can have, in pixels.
    public static let longestSide = 65_535

    /// The bytes of a JPEG file of the bitmap, of one component if all its pixels are grey. Runs for milliseconds on the
    /// caller's thread.
    ///
    /// - Throws: `ImageEncodingError` for a bitmap that is not opaque, and for one with a side above `longestSide`.
    public func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> [UInt8] {
        let side = max(bitmap.width, bitmap.height)
        guard side <= Self.longestSide else { throw .tooLarge(side: side, maximum: Self.longestSide) }
        let layout: JPEGSamples.Layout =
            bitmap.isGrey ? .grey : subsampling == .quarter ? .quarter : .full
        let quality = max(1, min(quality, 100))
        let quantisers = [
            JPEGQuantiser(JPEGQuantiser.luminance, quality: quality),
            JPEGQuantiser(JPEGQuantiser.chrominance, quality: quality),
        ]
        let symbols = try Self.symbols(of: bitmap, as: layout, quantisers)
        let tables = layout == .grey ? 1 : 2
        let frequencies = symbols.frequencies
        let codes = (0..<JPEGSymbols.Table.count).map { table in
            JPEGHuffmanCode(frequencies: frequencies.span.extracting(table * 256..<table * 256 + 256))
        }
        var file = JPEGHeader.bytes(
            of: bitmap.size, layout, steps: quantisers.prefix(tables).map(\.steps),
            codes: codes.prefix(tables * 2))
        file += JPEGEntropyWriter.bytes(of: symbols, codes: codes)
        file += [0xFF, 0xD9]
        return file
    }

    /// What is to be written of all blocks, unit by unit (T.81 A.2.3).
    private static func symbols(
        of bitmap: Bitmap, as layout: JPEGSamples.Layout, _ quantisers: [JPEGQuantiser]
    ) throws(ImageEncodingError) -> JPEGSymbols {
        var symbols = JPEGSymbols()
        var samples = JPEGSamples(of: bitmap, as: layout)
        let side = layout.unitSide
        let units = ImageSize(
            width: (bitmap.width + side - 1) / side, height: (bitmap.height + side - 1) / side)
        let blocks = ImageSize(width: (bitmap.width + 7) / 8, height: (bitmap.height + 7) / 8)
        var block = CoefficientBlock(repeating: 0)
        func add(_ samples: Span<JPEGSamples.Line>, at origin: Int, stride: Int, of component: Int) {
            let positions = ForwardDCT.transform(
                samples, at: origin, stride: stride, quantisers[min(component, 1)], into: &block)
            symbols.add(block, positions: positions, of: component)
        }
        for row in 0..<units.height {
            samples.read(unitRow: row, of: bitmap.pixels.span)
            guard samples.areOpaque else { throw .transparent }
            symbols.reserve(blocks: units.width * 6)
            for column in 0..<units.width {
                if layout == .quarter {
                    for part in 0..<4 {
                        let (right, down) = (part & 1, part &>> 1)
                        if column &* 2 &+ right < blocks.width, row &* 2 &+ down < blocks.height {
                            let origin = down &* 8 &* samples.stride &+ column &* 2 &+ right
                            add(samples.luma.span, at: origin, stride: samples.stride, of: 0)
                        } else {
                            symbols.addEmptyBlock(of: 0)
                        }
                    }
                } else {
                    add(samples.luma.span, at: column, stride: samples.stride, of: 0)
                }
                if layout != .grey {
                    add(samples.blue.span, at: column, stride: samples.colourStride, of: 1)
                    add(samples.red.span, at: column, stride: samples.colourStride, of: 2)
                }
            }
        }
        return symbols
    }
}

extension Bitmap {
    /// Whether red, green and blue are the same everywhere.
    var isGrey: Bool {
        let pixels = pixels.span
        var index = 0
        while index < pixels.count {
            if pixels[index] != pixels[index &+ 1] || pixels[index] != pixels[index &+ 2] { return false }
            index &+= 4
        }
        return true
    }
}
