public import ImageCodecs

/// Draws images on a terminal: one implementation for each way a terminal can show them.
public protocol Canvas: Sendable {
    /// Draws an image over all cells of a size, whatever its proportions
    /// (`CellSize.fitting` finds a size that keeps them).
    ///
    /// May be called from any thread; takes about a millisecond for a poster of 40 x 30 cells.
    func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid
}
