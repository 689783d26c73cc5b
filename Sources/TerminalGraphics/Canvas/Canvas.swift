public import ImageCodecs

/// Draws images on a terminal: one implementation for each way a terminal can show them.
public protocol Canvas: Sendable {
    /// Draws an image over all cells of a size, whatever its proportions
    /// (`CellSize.fitting` finds a size that keeps them).
    ///
    /// May be called from any thread; takes about a millisecond for a poster of 40 x 30 cells.
    func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid

    /// A faster canvas that draws roughly the same, to stand in for as long as `draw` takes; nil, the default, where `draw`
    /// is fast itself.
    var sketch: (any Canvas)? { get }

    /// The pixels that a picture should have to be drawn on so many cells; ``CellSize/pictureSize`` by default.
    func pictureSize(for size: CellSize) -> ImageSize
}

extension Canvas {
    /// None.
    public var sketch: (any Canvas)? { nil }

    /// Those of cells.
    public func pictureSize(for size: CellSize) -> ImageSize { size.pictureSize }
}

extension CellSize {
    /// The pixels that a picture should have to be drawn on these cells: twice the 8 x 8 samples that a canvas takes of a
    /// cell, so that it averages. At least one cell's.
    public var pictureSize: ImageSize {
        ImageSize(width: max(1, columns) * 16, height: max(1, rows) * 16)
    }
}

/// How images are shown, as the user says it with `--graphics`.
public enum GraphicsMode: String, Sendable, CaseIterable {
    /// Pixels by kitty's protocol.
    case kitty
    /// Pixels by iTerm2's protocol.
    case iterm2
    /// Pixels as sixels, in 256 colours.
    case sixel
    /// Block characters in two colours a cell.
    case blocks
    /// The same with sextants, which few fonts have.
    case sextants
    /// Letters and signs, without colours.
    case ascii
    /// No images.
    case none

    /// Whether the images are block characters, which a terminal needs a font and Unicode for.
    package var isBlocks: Bool { self == .blocks || self == .sextants }

    /// The canvas to draw with; `nil` when there are to be no images.
    ///
    /// Blocks need colours: without them ASCII stands in. They stand in for pixels where only cells can be drawn.
    /// `background` is as in ``BlocksCanvas/background``.
    public func canvas(depth: ColourDepth, background: SIMD3<UInt8>? = nil) -> (any Canvas)? {
        switch self {
        case .kitty, .iterm2, .sixel, .blocks:
            depth > .none ? BlocksCanvas(depth: depth, background: background) : ASCIICanvas()
        case .sextants:
            depth > .none
                ? BlocksCanvas(depth: depth, background: background, usesSextants: true) : ASCIICanvas()
        case .ascii: ASCIICanvas()
        case .none: nil
        }
    }
}
