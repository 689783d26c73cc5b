public import ImageCodecs

/// Draws images with block characters in two colours a cell, on any terminal with colours.
///
/// For each cell the mask and the two colours are those with the least squared error over the
/// cell's 8 x 8 samples. For one mask the best colours are the means of its two parts, and then
///
///     error = sum of squares - |covered|² / covered count - |rest|² / rest count
///
/// so that only the last two terms, the mask's gain, have to be compared.
public struct BlocksCanvas: Canvas {
    /// How many colours the terminal shows; below ``ColourDepth/ansi16`` nothing can be drawn.
    public let depth: ColourDepth
    /// What shines through where the image is transparent; `nil` is the terminal's background.
    public let background: SIMD3<UInt8>?

    /// Whether sextants are used beside halves, quadrants and eighths, where a cell is opaque.
    public let usesSextants: Bool

    /// A canvas for one terminal; transparent pixels show the terminal's background by default. Sextants are for
    /// terminals that are known to show them.
    public init(depth: ColourDepth, background: SIMD3<UInt8>? = nil, usesSextants: Bool = false) {
        self.usesSextants = usesSextants
        self.depth = depth
        self.background = background
    }

    /// Draws an image over all cells of a size. Pure; about a millisecond for 40 x 30 cells.
    public func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size)
        guard depth > .none else { return grid }
        let side = BlockMask.side
        var samples = SampleGrid(of: bitmap, columns: size.columns * side, rows: size.rows * side)
        if let background { samples.composite(over: background) }
        var chooser = BlockChooser(depth: depth, usesSextants: usesSextants)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                grid.cells[row * size.columns + column] = chooser.cell(samples, column: column, row: row)
            }
        }
        return grid
    }
}

extension SampleGrid {
    /// Puts an opaque colour behind every sample.
    fileprivate mutating func composite(over colour: SIMD3<UInt8>) {
        let behind = SIMD4(Float(colour.x), Float(colour.y), Float(colour.z), 1)
        for index in samples.indices { samples[index] += behind * (1 - samples[index].w) }
    }
}
