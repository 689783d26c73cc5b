public import ImageCodecs

/// Draws images for a terminal, with one implementation for each technique.
public protocol Canvas: Sendable {
    /// Draws an image over `size` cells and stretches it to them (`CellSize.fitting` finds an undistorted size).
    ///
    /// May be called from any thread; takes about a millisecond for a poster of 40 x 30 cells.
    func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid

    /// A faster canvas for an approximate preview; nil, the default, if `draw` itself is fast.
    var sketch: (any Canvas)? { get }

    /// The size of the bitmap to draw on `size` cells, in pixels; ``CellSize/pictureSize`` by default.
    func pictureSize(for size: CellSize) -> ImageSize
}

extension Canvas {
    /// No faster canvas.
    public var sketch: (any Canvas)? { nil }

    /// The size for canvases that draw cells.
    public func pictureSize(for size: CellSize) -> ImageSize { size.pictureSize }
}

extension CellSize {
    /// The size of the bitmap to draw on these cells, in pixels: twice the 8 x 8 samples of each cell, so that the
    /// canvas averages. At least one cell's.
    public var pictureSize: ImageSize {
        ImageSize(width: max(1, columns) * 16, height: max(1, rows) * 16)
    }
}

/// The technique for images, as in `--graphics`.
public enum GraphicsMode: String, Sendable, CaseIterable {
    /// Pixels by kitty's graphics protocol.
    case kitty
    /// Pixels by iTerm2's inline images protocol.
    case iterm2
    /// Pixels as sixels, in 256 colours.
    case sixel
    /// Block characters in two colours per cell.
    case blocks
    /// As `blocks`, with sextants, which few fonts have.
    case sextants
    /// ASCII characters without colours.
    case ascii
    /// No images.
    case none

    /// Whether images consist of block characters, which need Unicode and a suitable font.
    package var isBlocks: Bool { self == .blocks || self == .sextants }

    /// The canvas to draw with; `nil` for no images.
    ///
    /// Blocks need colours; without them ASCII replaces them. Blocks replace pixels where only cells can be drawn. See
    /// ``BlocksCanvas/background`` for `background`.
    public func canvas(depth: ColourDepth, background: SIMD3<UInt8> = .zero) -> (any Canvas)? {
        if self == .none { return nil }
        if self == .ascii || depth == .none { return ASCIICanvas() }
        return BlocksCanvas(depth: depth, background: background, usesSextants: self == .sextants)
    }
}
