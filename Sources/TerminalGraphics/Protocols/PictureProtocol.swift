package import ImageCodecs

/// The protocols for pictures in pixels.
package enum PictureProtocol: Sendable, Hashable {
    /// Kitty's graphics protocol with direct placements.
    case kitty
    /// Kitty's graphics protocol with placeholders; `inTmux` sends to the terminal around tmux.
    case kittyPlaceholders(inTmux: Bool)
    case iterm2
    case sixel

    /// The protocol of a mode; nil if it draws no pixels. Placeholders need 256 colours.
    package init?(_ mode: GraphicsMode, depth: ColourDepth, isInTmux: Bool) {
        switch mode {
        case .kitty where !isInTmux: self = .kitty
        case .kitty where depth >= .indexed256: self = .kittyPlaceholders(inTmux: true)
        case .iterm2: self = .iterm2
        case .sixel: self = .sixel
        case .kitty, .blocks, .sextants, .ascii, .none: return nil
        }
    }

    /// The pixels of a cell if the terminal does not tell. Kitty and iTerm2 scale pictures to their cells.
    package static let usualCell = ImageSize(width: 8, height: 16)

    /// The size in which to decode a picture for `size` cells: twice the drawn pixels on each side. Drawing then
    /// averages, which is some dB closer to the exact means than scaling in the decoder.
    package func pictureSize(for size: CellSize, cell: ImageSize) -> ImageSize {
        let box = TerminalPicture.box(of: size, cell: cell, step: step)
        return ImageSize(width: 2 * box.width, height: 2 * box.height)
    }

    /// The height of a picture in pixels is a multiple of this.
    package var step: Int { self == .sixel ? SixelGraphics.bandHeight : 1 }

    /// Whether pictures are drawn only once the terminal has told the size of a cell: it does not scale them, and one of
    /// a wrong size would cover other cells.
    package var needsCellSize: Bool { self == .sixel }

    /// Whether a transparent picture may be drawn again without drawing its cells again.
    package var keepsTransparency: Bool { self == .kitty }

    /// Encodes a picture for storage: as a PNG file of at most 256 colours, or as sixels.
    func encoded(_ picture: TerminalPicture) -> [UInt8] {
        self == .sixel
            ? SixelGraphics.drawing(of: picture) : PNGEncoder(colors: .palette).encode(picture.bitmap)
    }
}

/// Draws images in pixels. Its grids have a picture over their cells, and the cells show the same image in blocks:
/// before the picture is sent, while it moves, and where something covers a part of it.
package struct PixelCanvas: Canvas {
    /// The protocol of the pictures.
    package let pictureProtocol: PictureProtocol
    /// The size of a cell in pixels.
    package let cell: ImageSize
    private let blocks: any Canvas
    private let background: SIMD3<UInt8>

    /// Creates a canvas for one terminal.
    /// - Parameter background: as of `BlocksCanvas`.
    package init(
        _ pictureProtocol: PictureProtocol, cell: ImageSize, blocks: any Canvas,
        background: SIMD3<UInt8> = .zero
    ) {
        self.pictureProtocol = pictureProtocol
        self.cell = cell
        self.blocks = blocks
        self.background = background
    }

    /// Draws an image over `size` cells. Pure; takes about 2 ms for a poster of 13 x 10 cells of 8 x 16 pixels, and 60
    /// ms for 50 x 38.
    package func draw(_ bitmap: Bitmap, size: CellSize) -> CellGrid {
        var grid = blocks.draw(bitmap, size: size)
        guard size.columns > 0, size.rows > 0 else { return grid }
        let bitmap = bitmap.blended(on: background)
        grid.pictures = [PicturePlacement(Picture(bitmap, over: size, cell: cell, by: pictureProtocol))]
        return grid
    }

    /// The canvas for blocks.
    package var sketch: (any Canvas)? { blocks }

    /// The size that the protocol asks for.
    package func pictureSize(for size: CellSize) -> ImageSize {
        pictureProtocol.pictureSize(for: size, cell: cell)
    }
}

/// A picture scaled for a terminal with pixels: undistorted, at the top left of whole cells.
///
/// Only decoded pixels are sent to a terminal, encoded again; never the bytes of a foreign file.
package struct TerminalPicture: Sendable {
    /// The pixels of all cells; transparent outside the picture.
    package let bitmap: Bitmap
    /// The size of the picture in cells.
    package let cells: CellSize

    /// Scales a picture to fit into `room`, also enlarging it. Takes milliseconds on the caller's thread.
    /// - Parameters:
    ///   - image: the decoded pixels.
    ///   - shape: the proportions to keep; by default the image's.
    ///   - room: the available cells, at least one.
    ///   - cell: the size of a cell in pixels.
    ///   - step: the greatest height is the room's, rounded down to a multiple of this, in pixels.
    package init(
        _ image: Bitmap, shape: ImageSize? = nil, within room: CellSize, cell: ImageSize, step: Int = 1
    ) {
        let box = Self.box(of: room, cell: cell, step: step)
        let size = (shape ?? image.size).scaled(into: box)
        cells = CellSize(
            columns: (size.width + cell.width - 1) / cell.width,
            rows: (size.height + cell.height - 1) / cell.height)
        bitmap = Self.scaled(image, to: size).placed(
            column: 0, row: 0,
            in: ImageSize(width: cells.columns * cell.width, height: cells.rows * cell.height))
    }

    /// The greatest size of a picture in a room, in pixels.
    package static func box(of room: CellSize, cell: ImageSize, step: Int = 1) -> ImageSize {
        ImageSize(
            width: max(1, room.columns) * cell.width,
            height: max(step, max(1, room.rows) * cell.height / step * step))
    }

    /// Averages when reducing: flat colours stay flat and compress well.
    private static func scaled(_ image: Bitmap, to size: ImageSize) -> Bitmap {
        let isSmaller = size.width <= image.width && size.height <= image.height
        return isSmaller ? image.resized(to: size) : image.resampled(to: size)
    }
}
