/// Encodes cells, and changes of colours and attributes between them (SGR, ECMA-48 8.3.117).
///
///     ESC [ 38;2;200;55;45;48;2;242;232;213 m ▄      two 24-bit colours
///     ESC [ 49 m                                     back to the terminal's background
struct CellWriter {
    private(set) var bytes: [UInt8] = []

    private let depth: ColourDepth
    private let writesAttributes: Bool
    /// Whether to write only ASCII.
    private let onlyASCII: Bool
    private var palette: Palette
    private var current = CellStyle()

    init(depth: ColourDepth, writesAttributes: Bool, onlyASCII: Bool = false) {
        self.depth = depth
        self.onlyASCII = onlyASCII
        self.writesAttributes = writesAttributes
        palette = Palette(depth: depth)
    }

    /// Whether a cell needs no change of style.
    mutating func continues(_ cell: Cell) -> Bool { effective(cell) == current }

    /// Writes one cell; nothing for the right half of a wide one.
    mutating func write(_ cell: Cell, of grid: CellGrid) {
        if cell.glyph == .continuation { return }
        let style = effective(cell)
        if style != current { change(to: style) }
        if onlyASCII, cell.glyph.raw >= 0x80 {
            let character =
                cell.glyph.clusterIndex.flatMap { grid.clusters[$0].first }
                ?? Unicode.Scalar(cell.glyph.raw).map(Character.init) ?? " "
            bytes.append(contentsOf: TerminalText.ascii(character).utf8)
        } else if let number = cell.glyph.clusterIndex {
            bytes.append(contentsOf: grid.clusters[number].utf8)
        } else {
            append(scalar: cell.glyph.raw)
        }
    }

    /// Resets to the terminal's default style, if another is set.
    mutating func reset() {
        if current == CellStyle() { return }
        append("\u{1B}[m")
        current = CellStyle()
    }

    /// Returns the bytes since the last call. The current style stays known.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    mutating func append(_ text: StaticString) {
        unsafe bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends sequences that do not change the style.
    mutating func append(_ sequences: [UInt8]) { bytes += sequences }

    /// Appends a number in decimal.
    mutating func append(number: Int) {
        bytes.append(addingCapacity: 20) { Self.append(number, to: &$0) }
    }

    /// The style to write for a cell: mapped to the terminal's colours, without changes that are invisible on a space.
    private mutating func effective(_ cell: Cell) -> CellStyle {
        var style = cell.style
        style.foreground = shown(style.foreground)
        style.background = shown(style.background)
        if !writesAttributes { style.attributes = [] }
        let lines: CellAttributes = [.underlined, .reversed]
        if cell.glyph == .space, style.attributes.isDisjoint(with: lines),
            current.attributes.isDisjoint(with: lines)
        {
            style.foreground = current.foreground
            style.attributes = current.attributes
        }
        return style
    }

    private mutating func shown(_ colour: CellColour) -> CellColour {
        switch depth {
        case .none: return .standard
        case .trueColour: return colour
        case .indexed256: return colour.channels.map { .palette(palette.nearest(to: $0)) } ?? colour
        case .ansi16:
            if let channels = colour.channels { return .palette(palette.nearest(to: channels)) }
            guard let index = colour.paletteIndex, index >= 16 else { return colour }
            return .palette(palette.nearest(to: Palette.channels(of: index)))
        }
    }

    /// Switches to another style.
    private mutating func change(to style: CellStyle) {
        bytes.append(addingCapacity: Self.longestChange) { output in
            output.append(0x1B)
            output.append(UInt8(ascii: "["))
            Self.appendParameters(from: current, to: style, &output)
            // At least one parameter was written, each with a trailing semicolon.
            output.removeLast(1)
            output.append(UInt8(ascii: "m"))
        }
        current = style
    }

    /// The length of `ESC [`, `0;1;2;3;4;7;` and two colours like `38;2;255;255;255;`.
    private static let longestChange = 2 + 12 + 2 * 17

    private static func appendParameters(
        from old: CellStyle, to style: CellStyle, _ output: inout OutputSpan<UInt8>
    ) {
        var old = old
        if style.attributes != old.attributes {
            // Attributes also have codes to switch them off one by one. They would rarely save bytes.
            if !style.attributes.isSuperset(of: old.attributes) {
                appendParameter(0, &output)
                old = CellStyle()
            }
            for (attribute, code) in attributeCodes
            where style.attributes.contains(attribute) && !old.attributes.contains(attribute) {
                appendParameter(code, &output)
            }
        }
        if style.foreground != old.foreground { appendColour(style.foreground, base: 30, &output) }
        if style.background != old.background { appendColour(style.background, base: 40, &output) }
    }

    private static let attributeCodes: [(CellAttributes, Int)] = [
        (.bold, 1), (.dim, 2), (.italic, 3), (.underlined, 4), (.reversed, 7),
    ]

    /// Appends the parameters of a colour; `base` is 30 for the foreground and 40 for the background.
    private static func appendColour(_ colour: CellColour, base: Int, _ output: inout OutputSpan<UInt8>) {
        if let channels = colour.channels {
            appendParameter(base + 8, &output)
            appendParameter(2, &output)
            appendParameter(Int(channels.x), &output)
            appendParameter(Int(channels.y), &output)
            appendParameter(Int(channels.z), &output)
        } else if let index = colour.paletteIndex {
            switch index {
            case 0..<8: appendParameter(base + Int(index), &output)
            case 8..<16: appendParameter(base + 60 + Int(index) - 8, &output)
            default:
                appendParameter(base + 8, &output)
                appendParameter(5, &output)
                appendParameter(Int(index), &output)
            }
        } else {
            appendParameter(base + 9, &output)
        }
    }

    private static func appendParameter(_ value: Int, _ output: inout OutputSpan<UInt8>) {
        append(value, to: &output)
        output.append(UInt8(ascii: ";"))
    }

    private static func append(_ number: Int, to output: inout OutputSpan<UInt8>) {
        if number >= 10 { append(number / 10, to: &output) }
        output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    private mutating func append(scalar value: UInt32) {
        if value < 0x80 {
            bytes.append(UInt8(value))
        } else if let scalar = Unicode.Scalar(value) {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
