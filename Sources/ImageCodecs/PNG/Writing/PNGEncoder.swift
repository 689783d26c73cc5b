/// Writes PNG files (ISO 15948), 8 bits a sample, not interlaced, for pictures that go to another program.
public struct PNGEncoder: Sendable {
    /// How colours are stored.
    public enum Colours: Sendable, Hashable, CaseIterable {
        /// Three bytes a pixel; alpha is left out.
        case rgb
        /// Four bytes a pixel, as a ``Bitmap`` has them.
        case rgba
        /// One byte a pixel: at most 256 colours, the picture's own where it has no more, else the means of as many
        /// groups of similar ones. Of alpha only whether it is above 127 is kept then.
        case palette
    }

    /// How colours are stored; `rgba` unless told.
    public var colours: Colours

    /// Makes an encoder; it keeps no state.
    /// - Parameter colours: how colours are stored. Default: `rgba`.
    public init(colours: Colours = .rgba) { self.colours = colours }

    /// The bytes of a PNG file of the bitmap. Runs for milliseconds on the caller's thread.
    /// - Parameter bitmap: the picture.
    public func encode(_ bitmap: Bitmap) -> [UInt8] {
        var file = PNGSignature.magic.bytes
        switch colours {
        case .rgb, .rgba:
            let channels = colours == .rgb ? 3 : 4
            Self.append("IHDR", header(bitmap, colourType: channels == 3 ? .rgb : .rgba), to: &file)
            let rows = PNGFilterChooser.filteredRows(of: bitmap, channels: channels)
            Self.append("IDAT", Deflate.compress(rows.span), to: &file)
        case .palette:
            let palette = AdaptivePalette(of: bitmap)
            Self.append("IHDR", header(bitmap, colourType: .palette), to: &file)
            Self.append("PLTE", palette.colours.flatMap { [$0.x, $0.y, $0.z] }, to: &file)
            // Alphas of the first colours; the rest are opaque (PNG 11.3.2.1).
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

    /// Length, type, body, and the check of the last two (PNG 5.3).
    private static func append(_ type: String, _ body: [UInt8], to file: inout [UInt8]) {
        let checked = Array(type.utf8) + body
        file += bigEndian(body.count) + checked + bigEndian(Int(CRC32.checksum(of: checked.span)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
