package import ImageCodecs

/// How a terminal is sent pictures in pixels.
package enum PictureProtocol: Sendable, Hashable {
    /// Kitty's, placed directly.
    case kitty
    /// Kitty's, shown by placeholders; `inTmux` for the terminal around it.
    case kittyPlaceholders(inTmux: Bool)
    case iterm2
    case sixel

    /// The protocol of a mode; nil where its images are cells, or none. Placeholders need 256 colours.
    package init?(_ mode: GraphicsMode, depth: ColourDepth, isInTmux: Bool) {
        switch mode {
        case .kitty where !isInTmux: self = .kitty
        case .kitty where depth >= .indexed256: self = .kittyPlaceholders(inTmux: true)
        case .iterm2: self = .iterm2
        case .sixel: self = .sixel
        case .kitty, .blocks, .sextants, .ascii, .none: return nil
        }
    }

    /// The pixels of a cell where no terminal tells them. Kitty and iTerm2 scale pictures to their cells.
    package static let usualCell = ImageSize(width: 8, height: 16)

    /// The pixels that a picture over so many cells should be loaded with: twice as many on each side as are drawn. A decoder
    /// that makes a picture smaller itself is some dB further from the means.
    package func pictureSize(for size: CellSize, cell: ImageSize) -> ImageSize {
        let box = TerminalPicture.box(of: size, cell: cell, step: step)
        return ImageSize(width: 2 * box.width, height: 2 * box.height)
    }

    /// What a picture's rows of pixels are a multiple of.
    package var step: Int { self == .sixel ? SixelGraphics.bandHeight : 1 }

    /// A picture as it is kept: a PNG file of at most 256 colours, or sixels.
    func encoded(_ picture: TerminalPicture) -> [UInt8] {
        self == .sixel
            ? SixelGraphics.drawing(of: picture) : PNGEncoder(colours: .palette).encode(picture.bitmap)
    }
}

/// Draws images in pixels. Its grids have a picture over their cells, and the cells show the same in blocks: until the picture
/// is sent, while it moves, and where something lies over a part of it.
package struct PixelCanvas: Canvas {
    /// How the pictures are sent.
    package let way: PictureProtocol
    /// The pixels of a cell.
    package let cell: ImageSize
    private let blocks: any Canvas

    /// A canvas for one terminal.
    package init(_ way: PictureProtocol, cell: ImageSize, blocks: any Canvas) {
        self.way = way
        self.cell = cell
        self.blocks = blocks
    }

    /// Draws an image over all cells of a size. Pure; about 2 ms for a poster of 13 x 10 cells of 8 x 16 pixels, 60 ms for 50 x 38.
    package func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid {
        var grid = blocks.draw(bitmap, size: size)
        guard size.columns > 0, size.rows > 0 else { return grid }
        grid.pictures = [PicturePlacement(Picture(bitmap, over: size, cell: cell, by: way))]
        return grid
    }

    /// The blocks alone.
    package var sketch: (any Canvas)? { blocks }

    /// As the protocol has it.
    package func pictureSize(for size: CellSize) -> ImageSize { way.pictureSize(for: size, cell: cell) }
}
