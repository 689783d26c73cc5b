import ImageCodecs
import LazyImages
import TerminalGraphics

/// A picture among lines: cells, or cells and a drawing in pixels over them.
struct InlinePicture {
    var cells: CellGrid
    /// What draws the pixels from the top left cell on; empty where the cells are all there is.
    var drawing: [UInt8] = []
}

/// Pictures among the lines of other output. They load as in the browser: decoded by an `ImageLoader`, at the size that
/// the cells can show.
struct InlinePoster {
    private enum Way {
        case cells(any Canvas)
        case kitty
        /// By placeholders, for the terminal around tmux.
        case kittyInTmux
        case iterm2
        case sixel
    }

    /// The pixels of a cell where no terminal tells them.
    private static let usualCell = ImageSize(width: 8, height: 16)

    private let way: Way
    private let cell: ImageSize
    /// The rows of the terminal, if there is one.
    private let terminalRows: Int?
    /// Kitty's pictures have numbers from here on: others than those of other programs and earlier runs.
    private var count = Int.random(in: 0..<KittyPlaceholders.numbers)

    /// Nil if no pictures are wanted: standard output is no terminal, and the user has not asked for colours.
    init?(_ settings: Settings) {
        guard Output.isTerminal || settings.colourDepth > .none, let way = Self.way(settings) else {
            return nil
        }
        self.way = way
        let terminal = Terminal.size
        cell = terminal?.cell ?? Self.usualCell
        terminalRows = terminal?.cells.rows
    }

    private static func way(_ settings: Settings) -> Way? {
        switch settings.graphics {
        case .kitty where !(Output.isTerminal && Terminal.isInTmux): return .kitty
        case .kitty where settings.colourDepth >= .indexed256: return .kittyInTmux
        case .iterm2: return .iterm2
        case .sixel: return .sixel
        case .kitty, .blocks, .ascii, .none:
            return settings.graphics.canvas(depth: settings.colourDepth).map { .cells($0) }
        }
    }

    /// As much of a room as can be drawn on: pixels need a row below them and the line after it, or the screen scrolls under
    /// them.
    func room(_ wanted: CellSize) -> CellSize {
        guard let terminalRows else { return wanted }
        if case .cells = way { return wanted }
        return CellSize(columns: wanted.columns, rows: max(1, min(wanted.rows, terminalRows - 2)))
    }

    /// The pixels that a picture should be loaded with.
    func pictureSize(in room: CellSize) -> ImageSize {
        if case .cells = way { return room.pictureSize }
        return TerminalPicture.box(of: room, cell: cell, step: step)
    }

    private var step: Int {
        if case .sixel = way { return SixelGraphics.bandHeight }
        return 1
    }

    /// The picture, undistorted, in at most so many cells.
    mutating func draw(_ image: LoadedImage, within room: CellSize) -> InlinePicture {
        let size = image.header.size ?? image.bitmap.size
        if case .cells(let canvas) = way {
            let cells = room.fitting(imageWidth: size.width, imageHeight: size.height)
            return InlinePicture(cells: canvas.draw(image.bitmap, size: cells))
        }
        let picture = TerminalPicture(image.bitmap, shape: size, within: room, cell: cell, step: step)
        var inline = InlinePicture(cells: CellGrid(size: picture.cells))
        let id = KittyPlaceholders.id(count)
        count += 1
        switch way {
        case .cells: break
        case .kitty:
            inline.drawing =
                KittyGraphics.transmission(of: picture, id: id)
                + KittyGraphics.placement(of: id, over: picture.cells)
        case .kittyInTmux:
            inline.cells = KittyPlaceholders.cells(of: id, size: picture.cells)
            inline.drawing = TmuxPassthrough.wrapped(
                KittyGraphics.transmission(of: picture, id: id)
                    + KittyGraphics.virtualPlacement(of: id, over: picture.cells))
        case .iterm2: inline.drawing = ITerm2Graphics.drawing(of: picture)
        case .sixel: inline.drawing = SixelGraphics.drawing(of: picture)
        }
        return inline
    }
}
