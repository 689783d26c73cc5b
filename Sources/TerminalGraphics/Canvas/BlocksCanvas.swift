public import ImageCodecs

/// Draws images with block characters, in two colours per cell.
///
/// Each cell gets the mask and the two colours with the least squared error over its 8 x 8 samples. The best colours
/// for a mask are the means of its two parts:
///     error = sum of squares - |covered|² / covered count - |rest|² / rest count
///
/// Only the last two terms, the gain of the mask, need comparing. `BlockMask` says what a seam takes off the gain.
public struct BlocksCanvas: Canvas {
    /// The colours of the terminal; below ``ColourDepth/ansi16`` the canvas draws nothing.
    public let depth: ColourDepth
    /// The terminal's background, with which half-transparent pixels are blended. Clear ones show it as it is.
    public let background: SIMD3<UInt8>

    /// Whether to use sextants beside halves, quadrants and eighths in opaque cells.
    public let usesSextants: Bool

    /// Creates a canvas. Use sextants only for terminals that are known to show them.
    /// - Parameter background: the terminal's background. Default: black.
    public init(depth: ColourDepth, background: SIMD3<UInt8> = .zero, usesSextants: Bool = false) {
        self.usesSextants = usesSextants
        self.depth = depth
        self.background = background
    }

    /// Draws an image over `size` cells. Pure; takes about a millisecond for 40 x 30 cells.
    public func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size)
        guard depth > .none else { return grid }
        let side = BlockMask.side
        let samples = SampleGrid(
            of: bitmap.blended(on: background), columns: size.columns * side, rows: size.rows * side)
        var chooser = BlockChooser(depth: depth, usesSextants: usesSextants)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                grid.cells[row * size.columns + column] = chooser.cell(samples, column: column, row: row)
            }
        }
        return grid
    }
}

/// Chooses each cell's mask and colours.
struct BlockChooser {
    /// The least gain of a mask over one solid colour, in squared levels of 255 per sample: a smaller one is noise, and
    /// a space takes the fewest bytes.
    private static let leastGain: Float = 2
    /// The cost of a painted transparent sample or an unpainted opaque one, in squared levels.
    private static let wrongAlpha: Float = 3 * 128 * 128
    /// The alpha from which a cell counts as opaque; rounding leaves sums a little below 1.
    private static let opaque: Float = 0.999

    private let depth: ColourDepth
    private let usesSextants: Bool
    private var palette: Palette
    private let masks = BlockMask.all

    init(depth: ColourDepth, usesSextants: Bool = false) {
        self.depth = depth
        self.usesSextants = usesSextants
        palette = Palette(depth: depth)
    }

    mutating func cell(_ samples: borrowing SampleGrid, column: Int, row: Int) -> Cell {
        let sums = CellSums(of: samples, column: column, row: row)
        let count = Float(BlockMask.samples)
        if sums.total.w >= Self.opaque * count { return opaqueCell(samples, sums, column: column, row: row) }
        if sums.total.w <= (1 - Self.opaque) * count { return Cell(.space, style: CellStyle()) }
        return partialCell(samples, sums, column: column, row: row)
    }

    private mutating func opaqueCell(
        _ samples: borrowing SampleGrid, _ sums: borrowing CellSums, column: Int, row: Int
    ) -> Cell {
        let count = Float(BlockMask.samples)
        let total = sums.total
        var best: (glyph: Unicode.Scalar, ink: SIMD4<Float>, covered: Float)?
        let plain = Self.squared(total) / count
        var gain = Self.leastGain * count
        func consider(_ glyph: Unicode.Scalar, _ ink: SIMD4<Float>, _ covered: Float, _ share: Float = 1) {
            let parts = Self.squared(ink) / covered + Self.squared(total - ink) / (count - covered)
            let candidate = (parts - plain) * share
            guard candidate > gain else { return }
            gain = candidate
            best = (glyph, ink, covered)
        }
        for index in masks.indices {
            let mask = masks[index]
            // A terminal that shows sextants draws all blocks itself, without seams.
            consider(
                mask.glyph, sums.covered[index], Float(mask.covered), usesSextants ? 1 : mask.shareWithoutSeam
            )
        }
        if usesSextants {
            let sextants = Sextants.sums(of: samples, column: column, row: row)
            for mask in Sextants.all {
                var ink = SIMD4<Float>.zero
                for bit in 0..<6 where mask.bits >> bit & 1 == 1 { ink += sextants[bit] }
                consider(mask.glyph, ink, mask.covered)
            }
        }
        guard let best else { return solid(colour(total / count)) }
        let ink = colour(best.ink / best.covered)
        let paper = colour((total - best.ink) / (count - best.covered))
        if ink == paper { return solid(ink) }
        return Cell(Cell.Glyph(best.glyph), style: CellStyle(foreground: ink, background: paper))
    }

    /// Draws a cell at the edge of a shape: paints one part and leaves the other transparent.
    ///
    /// The painted part must be the foreground, because no foreground colour can match the terminal's default
    /// background. A mask without an inverse uses reverse video instead.
    private mutating func partialCell(
        _ samples: borrowing SampleGrid, _ sums: borrowing CellSums, column: Int, row: Int
    ) -> Cell {
        let count = Float(BlockMask.samples)
        // The first two candidates paint nothing or all.
        var best = -1
        var isInverted = false
        var least = Self.wrongAlpha * min(sums.total.w, count - sums.total.w)
        let paintsAll = sums.total.w * 2 >= count
        for index in masks.indices {
            let covered = Float(masks[index].covered)
            let ink = sums.covered[index].w
            let rest = sums.total.w - ink
            // Wrong samples: transparent ones in the painted part, and opaque ones outside.
            let painted = Self.wrongAlpha * (covered - ink + rest)
            let inverted = Self.wrongAlpha * (count - covered - rest + ink)
            if min(painted, inverted) < least {
                least = min(painted, inverted)
                best = index
                isInverted = inverted < painted
            }
        }
        guard best >= 0 else {
            return paintsAll
                ? solid(colour(sums.total / sums.total.w)) : Cell(.space, style: CellStyle())
        }
        let mask = masks[best]
        let ink = isInverted ? sums.total - sums.covered[best] : sums.covered[best]
        let painted = colour(ink / ink.w)
        if !isInverted { return Cell(Cell.Glyph(mask.glyph), style: CellStyle(foreground: painted)) }
        if let inverse = mask.inverse {
            return Cell(Cell.Glyph(inverse), style: CellStyle(foreground: painted))
        }
        return Cell(Cell.Glyph(mask.glyph), style: CellStyle(foreground: painted, attributes: .reversed))
    }

    private func solid(_ colour: CellColour) -> Cell {
        Cell(.space, style: CellStyle(background: colour))
    }

    private mutating func colour(_ mean: SIMD4<Float>) -> CellColour {
        let rounded = mean.rounded(.toNearestOrAwayFromZero).clamped(
            lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        let channels = SIMD3(UInt8(rounded.x), UInt8(rounded.y), UInt8(rounded.z))
        if depth == .trueColour { return .rgb(channels.x, channels.y, channels.z) }
        return .palette(palette.nearest(to: channels))
    }

    private static func squared(_ sum: SIMD4<Float>) -> Float {
        sum.x * sum.x + sum.y * sum.y + sum.z * sum.z
    }
}

/// A block character that divides a cell into foreground and background.
///
/// Only eighths and quadrants: every monospaced font has them, and most terminals draw them to the pixel. A character
/// and its inverse need one mask, because the colours can be swapped. Terminals that draw blocks from a font leave
/// seams where a glyph should reach the cell's edge, mostly the lower one: xterm with DejaVu Sans Mono at 10 points
/// shows 42 % of the background in a cell's last row of pixels. So the mask is the smaller of the two, and the upper
/// half. Eighths that have no inverse pay for their seam.
struct BlockMask {
    /// Samples along each side of a cell; a multiple of 8, for eighths.
    static let side = 8
    static let samples = side * side

    let glyph: Unicode.Scalar
    /// The character that covers the other part, if there is one.
    let inverse: Unicode.Scalar?
    /// The number of samples that the glyph covers.
    let covered: Int
    /// What counts of the mask's gain: the rest is the error of its seam. With n samples in the cell and c covered
    /// ones, the gain over one solid colour is c (n - c) / n of the two colours' squared distance d², and the seam
    /// costs `seamCost` d² for each whole lower edge.
    fileprivate let shareWithoutSeam: Float

    /// The error of a seam along the whole lower edge, in samples. 0.66 is what xterm shows: 42 % of a row's pixels in
    /// error, squared, of 17 rows. A line is seen better than noise, so it counts three times. A cost of 4 leaves fewer
    /// seams, but comes out behind in structural similarity (SSIM). Without the masks of more than half a cell, 0.4 to
    /// 1.1 dB are lost.
    private static let seamCost: Float = 2

    /// - Parameters:
    ///   - eighths: the part of the cell that the glyph covers.
    ///   - lowerEdge: the part of the cell's lower edge that it touches, in eighths.
    private init(
        _ glyph: Unicode.Scalar, inverse: Unicode.Scalar? = nil, eighths: Int, lowerEdge: Int = 0
    ) {
        self.glyph = glyph
        self.inverse = inverse
        covered = eighths * Self.side
        let count = Float(Self.samples)
        let gain = Float(covered) * (count - Float(covered)) / count
        shareWithoutSeam = 1 - Self.seamCost * Float(lowerEdge) / Float(Self.side) / gain
    }

    /// Lower eighths (for 4 and 7 the upper part), left eighths (for 7 the right part), quadrants in reading order, and
    /// a diagonal. `CellSums` uses this order.
    static let all: [BlockMask] = [
        BlockMask("▁", eighths: 1, lowerEdge: 8),
        BlockMask("▂", eighths: 2, lowerEdge: 8),
        BlockMask("▃", eighths: 3, lowerEdge: 8),
        BlockMask("▀", inverse: "▄", eighths: 4),
        BlockMask("▅", eighths: 5, lowerEdge: 8),
        BlockMask("▆", eighths: 6, lowerEdge: 8),
        BlockMask("▔", inverse: "▇", eighths: 1),
        BlockMask("▏", eighths: 1, lowerEdge: 1),
        BlockMask("▎", eighths: 2, lowerEdge: 2),
        BlockMask("▍", eighths: 3, lowerEdge: 3),
        BlockMask("▌", inverse: "▐", eighths: 4, lowerEdge: 4),
        BlockMask("▋", eighths: 5, lowerEdge: 5),
        BlockMask("▊", eighths: 6, lowerEdge: 6),
        BlockMask("▕", inverse: "▉", eighths: 1, lowerEdge: 1),
        BlockMask("▘", inverse: "▟", eighths: 2),
        BlockMask("▝", inverse: "▙", eighths: 2),
        BlockMask("▖", inverse: "▜", eighths: 2, lowerEdge: 4),
        BlockMask("▗", inverse: "▛", eighths: 2, lowerEdge: 4),
        BlockMask("▚", inverse: "▞", eighths: 4, lowerEdge: 4),
    ]
}

/// Characters that divide a cell into two columns and three rows (Unicode 13, U+1FB00 to U+1FB3B). They are finer than
/// quadrants, but few fonts have them. So they work only in terminals that draw them themselves (kitty, foot, WezTerm,
/// Konsole from 22.04).
enum Sextants {
    /// The samples in a sextant: a third of half a cell.
    private static let samples = Float(BlockMask.samples) / 6

    /// The sextants that a glyph covers, from the lowest bit in reading order.
    struct Mask {
        let bits: Int
        let glyph: Unicode.Scalar
        let covered: Float
    }

    /// Of each glyph and its inverse only the smaller one. The left and right halves are block masks already.
    static let all: [Mask] = (1..<63).compactMap { bits in
        let leftHalf = 0b010101
        let rightHalf = 0b101010
        let count = bits.nonzeroBitCount
        if bits == leftHalf || bits == rightHalf || count > 3 || (count == 3 && bits & 1 == 0) { return nil }
        let number = bits - 1 - (bits > leftHalf ? 1 : 0) - (bits > rightHalf ? 1 : 0)
        guard let glyph = Unicode.Scalar(0x1FB00 + UInt32(number)) else { return nil }
        return Mask(bits: bits, glyph: glyph, covered: Float(count) * samples)
    }

    /// The sums of a cell's sextants. Eight rows of samples do not divide by three: two thirds share the third and the
    /// sixth row.
    static func sums(
        of grid: borrowing SampleGrid, column: Int, row: Int
    ) -> InlineArray<6, SIMD4<Float>> {
        var sums = InlineArray<6, SIMD4<Float>>(repeating: .zero)
        let samples = grid.samples.span
        let half = BlockMask.side / 2
        for line in 0..<BlockMask.side {
            let start = (row * BlockMask.side + line) * grid.columns + column * BlockMask.side
            for offset in 0..<BlockMask.side {
                let side = offset < half ? 0 : 1
                let sample = samples[start + offset]
                for third in 0..<3 { sums[2 * third + side] += sample * shares[line][third] }
            }
        }
        return sums
    }

    /// The share of each row of samples in each third.
    private static let shares: [SIMD3<Float>] = (0..<BlockMask.side).map { line in
        var share = SIMD3<Float>()
        for third in 0..<3 {
            let height = Float(BlockMask.side) / 3
            let start = max(Float(line), Float(third) * height)
            share[third] = max(0, min(Float(line + 1), Float(third + 1) * height) - start)
        }
        return share
    }
}
