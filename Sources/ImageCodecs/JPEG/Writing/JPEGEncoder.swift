public import FoundationEssentials

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
        let symbols = try JPEGSymbols(of: size, as: layout, luma, colour, read)
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

/// The segments before a file's only scan:
///
///     FF D8
///     FF E0 00 10 "JFIF" 00  01 01  00 00 01 00 01  00 00       version 1.1, square pixels, no thumbnail
///     FF DB 00 43 00 …  FF DB 00 43 01 …                        steps of luma, of colour
///     FF C0 00 11 08 02 EE 01 F4 03  01 22 00  02 11 01  03 11 01
///     FF C4 … 00 …  FF C4 … 10 …  FF C4 … 01 …  FF C4 … 11 …    codes: DC and AC of luma, of colour
///     FF DA 00 0C 03  01 00  02 11  03 11  00 3F 00
enum JPEGHeader {
    /// - Parameters:
    ///   - steps: the quantisation steps of luma and chroma.
    ///   - codes: the DC and AC codes of luma, then of chroma.
    static func bytes(
        of size: ImageSize, _ layout: JPEGSamples.Layout, steps: [[UInt8]], codes: [JPEGHuffmanCode]
    ) -> [UInt8] {
        var file: [UInt8] = [0xFF, 0xD8]
        append(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0], to: &file)
        // A grey image has no chroma tables.
        let tables = layout == .grey ? 1 : 2
        for (number, steps) in steps.prefix(tables).enumerated() {
            let zigzag = (0..<64).map { steps[Int(Zigzag.natural[$0])] }
            append(0xDB, [UInt8(number)] + zigzag, to: &file)
        }
        let components: [UInt8] = layout == .grey ? [1] : [1, 2, 3]
        let lumaSampling: UInt8 = layout == .quarter ? 0x22 : 0x11
        let sides = [size.height, size.width].flatMap { UInt16($0).bigEndianBytes }
        append(
            0xC0,
            [8] + sides + [UInt8(components.count)]
                + components.flatMap { $0 == 1 ? [1, lumaSampling, 0] : [$0, 0x11, 1] },
            to: &file)
        for (index, code) in codes.prefix(tables * 2).enumerated() {
            let number = UInt8((index % 2) << 4 | index / 2)
            append(0xC4, [number] + code.counts + code.symbols, to: &file)
        }
        append(
            0xDA,
            [UInt8(components.count)] + components.flatMap { $0 == 1 ? [1, 0] : [$0, 0x11] } + [0, 63, 0],
            to: &file)
        return file
    }

    /// A segment: marker, length and body (T.81 B.1.1.4). The body has at most 65,533 bytes.
    static func append(_ marker: UInt8, _ body: [UInt8], to file: inout [UInt8]) {
        file += [0xFF, marker] + UInt16(truncatingIfNeeded: body.count + 2).bigEndianBytes + body
    }
}

/// The symbols of an image's MCUs (T.81 A.2.3): one block of each component, or four of luma and one each of Cb and Cr.
extension JPEGSymbols {
    /// `read` provides one row of MCUs after another.
    /// - Throws: `transparent` if a pixel is not opaque.
    fileprivate init(
        of size: ImageSize, as layout: JPEGSamples.Layout, _ luma: borrowing JPEGQuantiser,
        _ colour: borrowing JPEGQuantiser, _ read: (inout JPEGSamples, _ unitRow: Int) -> Void
    ) throws(ImageEncodingError) {
        let side = layout.unitSide
        let units = ImageSize(width: (size.width + side - 1) / side, height: (size.height + side - 1) / side)
        // The luma blocks with pixels of the image.
        let blocks = ImageSize(width: (size.width + 7) / 8, height: (size.height + 7) / 8)
        let lumaBlocks = layout == .quarter ? 4 : 1
        // The component of each block of an MCU.
        let components = Array(repeating: 0, count: lumaBlocks) + (layout == .grey ? [] : [1, 2])
        var samples = JPEGSamples(of: size, as: layout)
        self.init(blocks: units.width * units.height * components.count)
        for row in 0..<units.height {
            read(&samples, row)
            guard samples.areOpaque else { throw .transparent }
            addRow(units: units.width, components: components) { unit, part, block in
                if part == lumaBlocks {
                    return ForwardDCT.transform(samples.blue.span, at: unit &* 8, colour, into: &block)
                }
                if part > lumaBlocks {
                    return ForwardDCT.transform(samples.red.span, at: unit &* 8, colour, into: &block)
                }
                if lumaBlocks == 4 {
                    // MCUs at the edges may have blocks outside the image.
                    let (x, y) = (unit &* 2 &+ part & 1, row &* 2 &+ part &>> 1)
                    guard x < blocks.width, y < blocks.height else { return nil }
                }
                return ForwardDCT.transform(
                    samples.luma.span, at: (unit &* lumaBlocks &+ part) &* 8, luma, into: &block)
            }
        }
    }
}

/// Why a bitmap cannot be encoded in a format.
public enum ImageEncodingError: Error, Sendable, Hashable {
    /// The bitmap is not opaque, and the format has no transparency.
    case transparent
    /// The longer side has `side` pixels; the format allows at most `maximum`.
    case tooLarge(side: Int, maximum: Int)
}

extension ImageEncodingError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// One lower-case phrase with a remedy.
    public var description: String {
        switch self {
        case .transparent: "the picture has transparency, but JPEG has none: write it as PNG"
        case .tooLarge(let side, let maximum):
            "the picture has a side of \(side) pixels, and JPEG allows at most \(maximum): make it smaller"
        }
    }
}
