/// Encodes JPEG files (ISO 10918-1): baseline JFIF, with Huffman tables optimised for the image. The files are byte for
/// byte those of libjpeg's `cjpeg -optimize -baseline`.
public struct JPEGEncoder: Sendable {
    /// The resolution of chroma. Luma has one sample for every pixel.
    public enum Subsampling: Sendable, Hashable, CaseIterable {
        /// A chroma sample for every four pixels (4:2:0), for photographs.
        case quarter
        /// A chroma sample for every pixel (4:4:4), for coloured text and thin lines.
        case none
    }

    /// The quality on libjpeg's scale, from 1 (smallest file) to 100 (best). Other values are clamped.
    public var quality: Int
    /// The resolution of chroma; a grey image has none.
    public var subsampling: Subsampling

    /// Creates an encoder; it keeps no state.
    /// - Parameters:
    ///   - quality: from 1 to 100. Default: 80.
    ///   - subsampling: the resolution of chroma. Default: `quarter`.
    public init(quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.quality = quality
        self.subsampling = subsampling
    }

    /// The greatest side of a JPEG, in pixels.
    public static let longestSide = 65_535

    /// Encodes a bitmap; a grey one with a single component. Takes milliseconds on the caller's thread.
    /// - Parameter bitmap: the image.
    /// - Throws: ``ImageEncodingError`` if the bitmap is not opaque or has a side above ``longestSide``.
    public func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> [UInt8] {
        let layout: JPEGSamples.Layout =
            bitmap.isGrey ? .grey : subsampling == .quarter ? .quarter : .full
        return try encode(bitmap.size, layout) { samples, row in
            samples.read(unitRow: row, of: bitmap.pixels.span)
        }
    }

    /// Encodes planes from `PlanarPicture.resampled(to:)` in 4:2:0; a grey image with a single component.
    /// - Throws: `ImageEncodingError` for an image with a side above `longestSide`.
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
    /// Whether red, green and blue are equal in every pixel. Stops at the first pixel where they are not.
    var isGrey: Bool {
        let pixels = pixels.span
        var index = 0
        // Check two pixels at once: compare the lower two bytes of each with the byte above.
        while index &+ 8 <= pixels.count {
            let word = pixels.littleEndianWord(at: index)
            if (word ^ word &>> 8) & 0x0000_FFFF_0000_FFFF != 0 { return false }
            index &+= 8
        }
        guard index < pixels.count else { return true }
        return pixels[index] == pixels[index &+ 1] && pixels[index] == pixels[index &+ 2]
    }
}
