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
    /// - Parameters:
    ///   - quality: from 1 to 100. Default 80.
    ///   - subsampling: how many samples of colour there are. Default: a quarter.
    public init(quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.quality = quality
        self.subsampling = subsampling
    }

    /// The longest side that a JPEG can have, in pixels.
    public static let longestSide = 65_535

    /// The bytes of a JPEG file of the bitmap, of one component if all its pixels are grey. Runs for milliseconds on the
    /// caller's thread.
    ///
    /// - Parameter bitmap: the picture.
    /// - Throws: ``ImageEncodingError`` for a bitmap that is not opaque, and for one with a side above ``longestSide``.
    public func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> [UInt8] {
        let layout: JPEGSamples.Layout =
            bitmap.isGrey ? .grey : subsampling == .quarter ? .quarter : .full
        return try encode(bitmap.size, layout) { samples, row in
            samples.read(unitRow: row, of: bitmap.pixels.span)
        }
    }

    /// The bytes of a JPEG file of planes as `PlanarPicture.resampled(to:)` makes them, in 4:2:0; of one component if there is
    /// no colour.
    ///
    /// - Throws: `ImageEncodingError` for a picture with a side above `longestSide`.
    package func encode(_ picture: PlanarPicture) throws(ImageEncodingError) -> [UInt8] {
        try encode(picture.size, picture.isGrey ? .grey : .quarter) { samples, row in
            samples.read(unitRow: row, of: picture)
        }
    }

    private func encode(
        _ size: ImageSize, _ layout: JPEGSamples.Layout,
        _ read: (inout JPEGSamples, _ unitRow: Int) -> Void
    ) throws(ImageEncodingError) -> [UInt8] {
        let side = max(size.width, size.height)
        guard side <= Self.longestSide else { throw .tooLarge(side: side, maximum: Self.longestSide) }
        let quality = max(1, min(quality, 100))
        let luma = JPEGQuantiser(JPEGQuantiser.luminance, quality: quality)
        let colour = JPEGQuantiser(JPEGQuantiser.chrominance, quality: quality)
        let symbols = try JPEGUnits(of: size, as: layout).symbols(luma, colour, read)
        let frequencies = symbols.frequencies
        let codes = (0..<JPEGSymbols.Table.count).map { table in
            JPEGHuffmanCode(frequencies: frequencies.span.extracting(table * 256..<table * 256 + 256))
        }
        let header = JPEGHeader.bytes(of: size, layout, steps: [luma.steps, colour.steps], codes: codes)
        return JPEGEntropyWriter.file(header, symbols, codes: codes)
    }
}

extension Bitmap {
    /// Whether red, green and blue are the same everywhere. Looks at pixels until they are not.
    var isGrey: Bool {
        let pixels = pixels.span
        var index = 0
        // Two pixels at once: each byte but the upper two of a pixel is compared with the one above it.
        while index &+ 8 <= pixels.count {
            let word = pixels.littleEndianWord(at: index)
            if (word ^ word &>> 8) & 0x0000_FFFF_0000_FFFF != 0 { return false }
            index &+= 8
        }
        guard index < pixels.count else { return true }
        return pixels[index] == pixels[index &+ 1] && pixels[index] == pixels[index &+ 2]
    }
}
