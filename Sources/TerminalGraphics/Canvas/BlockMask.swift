/// A way to part a cell in two: a block character, drawn in the foreground on the background.
///
/// Eighths and quadrants only, which every monospaced font has and most terminals draw to the pixel.
/// Of a character and its inverse one is enough, since the two colours can change places. Terminals
/// that draw blocks from a font leave seams where a glyph should reach a cell's edge, above all the
/// lower one (xterm with DejaVu Sans Mono): so it is the smaller of both, and the upper half.
struct BlockMask {
    /// Samples along each side of a cell; eighths fall between them.
    static let side = 8
    static let samples = side * side

    let glyph: Unicode.Scalar
    /// The character that covers the other part, where there is one.
    let inverse: Unicode.Scalar?
    /// How many samples the glyph covers.
    let covered: Int

    private init(_ glyph: Unicode.Scalar, inverse: Unicode.Scalar? = nil, eighths: Int) {
        self.glyph = glyph
        self.inverse = inverse
        covered = eighths * Self.side
    }

    /// Lower eighths (of a half and of seven eighths the upper part), left eighths (of seven the right
    /// one), quadrants in reading order, and a diagonal; ``CellSums`` keeps to this order.
    static let all: [BlockMask] = [
        BlockMask("▁", eighths: 1),
        BlockMask("▂", eighths: 2),
        BlockMask("▃", eighths: 3),
        BlockMask("▀", inverse: "▄", eighths: 4),
        BlockMask("▅", eighths: 5),
        BlockMask("▆", eighths: 6),
        BlockMask("▔", inverse: "▇", eighths: 1),
        BlockMask("▏", eighths: 1),
        BlockMask("▎", eighths: 2),
        BlockMask("▍", eighths: 3),
        BlockMask("▌", inverse: "▐", eighths: 4),
        BlockMask("▋", eighths: 5),
        BlockMask("▊", eighths: 6),
        BlockMask("▕", inverse: "▉", eighths: 1),
        BlockMask("▘", inverse: "▟", eighths: 2),
        BlockMask("▝", inverse: "▙", eighths: 2),
        BlockMask("▖", inverse: "▜", eighths: 2),
        BlockMask("▗", inverse: "▛", eighths: 2),
        BlockMask("▚", inverse: "▞", eighths: 4),
    ]
}
