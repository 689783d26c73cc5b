/// A colour of a cell: the terminal's default, one of its palette, or 24-bit.
///
/// The encoder maps it to what the terminal can show, so a program names its colours once.
public struct CellColour: Sendable, Hashable {
    /// Kind in the top byte (0 default, 1 palette, 2 RGB), then the number or the channels.
    let raw: UInt32

    private init(raw: UInt32) {
        self.raw = raw
    }

    /// What the terminal uses where no colour is asked for.
    public static let standard = CellColour(raw: 0)

    /// An entry of the palette of 256; the first 16 are the user's own shades.
    public static func palette(_ index: UInt8) -> CellColour {
        CellColour(raw: 1 << 24 | UInt32(index))
    }

    /// Red, green and blue, 0 to 255, in sRGB.
    public static func rgb(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> CellColour {
        CellColour(raw: 2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
    }

    /// The palette's number, if the colour is one of the palette.
    public var paletteIndex: UInt8? { raw >> 24 == 1 ? UInt8(truncatingIfNeeded: raw) : nil }

    /// The channels, if the colour is 24-bit.
    public var channels: SIMD3<UInt8>? { raw >> 24 == 2 ? unchecked : nil }

    private var unchecked: SIMD3<UInt8> {
        SIMD3(truncatingIfNeeded: SIMD3<UInt32>(raw >> 16, raw >> 8, raw))
    }
}

/// How a cell's text is set; a picture's cells use only ``reversed``.
public struct CellAttributes: OptionSet, Sendable, Hashable {
    /// One bit an attribute.
    public let rawValue: UInt8

    /// Attributes from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Heavier, on some terminals brighter.
    public static let bold = CellAttributes(rawValue: 1)
    /// Fainter.
    public static let dim = CellAttributes(rawValue: 2)
    /// Slanted.
    public static let italic = CellAttributes(rawValue: 4)
    /// With a line below.
    public static let underlined = CellAttributes(rawValue: 8)
    /// Foreground and background exchanged; the one emphasis left when there are no colours.
    public static let reversed = CellAttributes(rawValue: 16)
}

/// The colours and attributes text is put with.
public struct CellStyle: Sendable, Hashable {
    /// The glyph's colour.
    public var foreground: CellColour
    /// The colour behind it.
    public var background: CellColour
    /// How it is set.
    public var attributes: CellAttributes

    /// A style; by default the terminal's own colours and no attributes.
    public init(
        foreground: CellColour = .standard, background: CellColour = .standard,
        attributes: CellAttributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }
}
