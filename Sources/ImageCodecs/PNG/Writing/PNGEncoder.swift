/// Encodes PNG files (ISO 15948) with 8 bits per sample and without interlacing.
public struct PNGEncoder: Sendable {
    /// The colour types for encoding.
    public enum Colors: Sendable, Hashable, CaseIterable {
        /// Three bytes per pixel, without alpha.
        case rgb
        /// Four bytes per pixel, as in ``Bitmap``.
        case rgba
        /// One byte per pixel: at most 256 colours. A bitmap with more gets the means of similar colours, and alpha
        /// becomes 0 or 255 (threshold 127).
        case palette
    }

    /// The colour type; `rgba` by default.
    public var colors: Colors

    /// Creates an encoder; it keeps no state.
    /// - Parameter colors: the colour type. Default: `rgba`.
    public init(colors: Colors = .rgba) { self.colors = colors }

    /// Encodes a bitmap as a PNG file. Takes milliseconds on the caller's thread.
    /// - Parameter bitmap: the image.
    public func encode(_ bitmap: Bitmap) -> [UInt8] {
        var file = PNGSignature.magic.bytes
        switch colors {
        case .rgb, .rgba:
            let channels = colors == .rgb ? 3 : 4
            Self.append("IHDR", header(bitmap, colourType: channels == 3 ? .rgb : .rgba), to: &file)
            let rows = PNGFilterChooser.filteredRows(of: bitmap, channels: channels)
            Self.append("IDAT", Deflate.compress(rows.span), to: &file)
        case .palette:
            let palette = AdaptivePalette(of: bitmap)
            Self.append("IHDR", header(bitmap, colourType: .palette), to: &file)
            Self.append("PLTE", palette.colours.flatMap { [$0.x, $0.y, $0.z] }, to: &file)
            // The alphas of the first colours; the rest are opaque (PNG 11.3.2.1).
            let translucent = palette.colours.lastIndex { $0.w < 255 }
            if let translucent {
                Self.append("tRNS", palette.colours.prefix(translucent + 1).map(\.w), to: &file)
            }
            Self.append("IDAT", Deflate.compress(palette.rows(of: bitmap).span), to: &file)
        }
        Self.append("IEND", [], to: &file)
        return file
    }

    private func header(_ bitmap: Bitmap, colourType: PNGHeader.ColourType) -> [UInt8] {
        Self.bigEndian(bitmap.width) + Self.bigEndian(bitmap.height) + [8, colourType.rawValue, 0, 0, 0]
    }

    /// A chunk: length, type, body, and the CRC of the last two (PNG 5.3).
    static func append(_ type: String, _ body: [UInt8], to file: inout [UInt8]) {
        let checked = Array(type.utf8) + body
        file += bigEndian(body.count) + checked + bigEndian(Int(CRC32.checksum(of: checked.span)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
