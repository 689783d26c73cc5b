public import ImageCodecs

/// Draws images with ASCII characters, by the area that each character covers: for terminals and files without colours.
/// Bright pixels get more ink, as on a dark background.
public struct ASCIICanvas: Canvas {
    /// Creates a canvas.
    public init() {}

    /// Draws an image over `size` cells, in the terminal's default colours. Pure.
    public func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size)
        let samples = SampleGrid(of: bitmap, columns: size.columns, rows: size.rows)
        for (index, sample) in samples.samples.enumerated() {
            grid.cells[index] = Cell(Self.glyph(forLuma: Self.luma(of: sample)), style: CellStyle())
        }
        return grid
    }

    /// The area of a cell that each character covers, in thousandths, ascending; measured in DejaVu Sans Mono.
    private static let ramp: [(glyph: Unicode.Scalar, coverage: Float)] = [
        (" ", 0), (".", 25), (":", 50), (";", 70), ("*", 93), ("=", 105), ("i", 123), ("x", 133), ("o", 154),
        ("a", 169), ("$", 182), ("O", 201), ("8", 214), ("#", 237), ("@", 258),
    ]

    private static let glyphs: [Cell.Glyph] = (0...255).map { level in
        let darkest = ramp.last?.coverage ?? 0
        let wanted = Float(level) / 255 * darkest
        let nearest = ramp.min { abs($0.coverage - wanted) < abs($1.coverage - wanted) }
        return Cell.Glyph(nearest?.glyph ?? " ")
    }

    /// BT.601 luma, 0 to 255; transparency counts as black.
    private static func luma(of sample: SIMD4<Float>) -> Float {
        0.299 * sample.x + 0.587 * sample.y + 0.114 * sample.z
    }

    private static func glyph(forLuma luma: Float) -> Cell.Glyph {
        glyphs[Int(min(max(0, luma.rounded()), 255))]
    }
}
