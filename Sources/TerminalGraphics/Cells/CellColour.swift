/// A colour of a cell: the terminal's default, an entry of its palette, or 24-bit. The encoder maps it to what the
/// terminal can show.
public struct CellColour: Sendable, Hashable {
    /// The kind in the top byte (0 default, 1 palette, 2 RGB), then the index or the channels.
    let raw: UInt32

    private init(raw: UInt32) {
        self.raw = raw
    }

    /// The terminal's default colour.
    public static let standard = CellColour(raw: 0)

    /// An entry of the 256-colour palette; users choose the first 16 colours.
    public static func palette(_ index: UInt8) -> CellColour {
        CellColour(raw: 1 << 24 | UInt32(index))
    }

    /// Red, green and blue, 0 to 255, in sRGB.
    public static func rgb(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> CellColour {
        CellColour(raw: 2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
    }

    /// The index in the palette, for a palette colour.
    public var paletteIndex: UInt8? { raw >> 24 == 1 ? UInt8(truncatingIfNeeded: raw) : nil }

    /// The channels, for a 24-bit colour.
    public var channels: SIMD3<UInt8>? { raw >> 24 == 2 ? unchecked : nil }

    private var unchecked: SIMD3<UInt8> {
        SIMD3(truncatingIfNeeded: SIMD3<UInt32>(raw >> 16, raw >> 8, raw))
    }
}

/// Text attributes; the cells of images use only ``reversed``.
public struct CellAttributes: OptionSet, Sendable, Hashable {
    /// One bit per attribute.
    public let rawValue: UInt8

    /// Attributes from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bold; brighter on some terminals.
    public static let bold = CellAttributes(rawValue: 1)
    /// Faint.
    public static let dim = CellAttributes(rawValue: 2)
    /// Italic.
    public static let italic = CellAttributes(rawValue: 4)
    /// Underlined.
    public static let underlined = CellAttributes(rawValue: 8)
    /// Foreground and background swapped: the only emphasis without colours.
    public static let reversed = CellAttributes(rawValue: 16)
}

/// The colours and attributes of text.
public struct CellStyle: Sendable, Hashable {
    /// The colour of the glyph.
    public var foreground: CellColour
    /// The colour behind the glyph.
    public var background: CellColour
    /// The text attributes.
    public var attributes: CellAttributes

    /// Creates a style, by default with the terminal's colours and no attributes.
    public init(
        foreground: CellColour = .standard, background: CellColour = .standard,
        attributes: CellAttributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }
}
