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
    /// The colour behind transparent pixels; `nil` is the terminal's background.
    public let background: SIMD3<UInt8>?

    /// Whether to use sextants beside halves, quadrants and eighths in opaque cells.
    public let usesSextants: Bool

    /// Creates a canvas. By default transparent pixels show the terminal's background. Use sextants only for terminals
    /// that are known to show them.
    public init(depth: ColourDepth, background: SIMD3<UInt8>? = nil, usesSextants: Bool = false) {
        self.usesSextants = usesSextants
        self.depth = depth
        self.background = background
    }

    /// Draws an image over `size` cells. Pure; takes about a millisecond for 40 x 30 cells.
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
    /// Composites every sample over an opaque colour.
    fileprivate mutating func composite(over colour: SIMD3<UInt8>) {
        let behind = SIMD4(Float(colour.x), Float(colour.y), Float(colour.z), 1)
        for index in samples.indices { samples[index] += behind * (1 - samples[index].w) }
    }
}
