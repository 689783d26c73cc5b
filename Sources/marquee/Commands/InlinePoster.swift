import ImageCodecs
import LazyImages
import TerminalGraphics

/// A picture among lines of text: cells, or cells with a drawing in pixels over them.
struct InlinePicture {
    var cells: CellGrid
    /// The bytes that draw the pixels from the top left cell; empty for a picture in cells only.
    var drawing: [UInt8] = []
    /// The colours of the cells.
    let depth: ColourDepth
    /// Whether the drawing may move the cursor. A program that shows previews moves it itself.
    var movesCursor = true
}

extension InlinePicture {
    /// Puts another picture over this one's cells, its left edge at a column, its top at the first row.
    mutating func place(_ other: InlinePicture, atColumn column: Int) {
        cells.place(other.cells, at: CellPosition(column: column, row: 0))
        guard !other.drawing.isEmpty else { return }
        // Back to the top left cell (DECRC), where the encoder has saved the cursor, and to the right.
        if !drawing.isEmpty { drawing += Array("\u{1B}8".utf8) }
        if column > 0 { drawing += Array("\u{1B}[\(column)C".utf8) }
        drawing += other.drawing
    }
}

/// Pictures among the lines of other output. An `ImageLoader` decodes them at the size that the cells can show, as in
/// the browser.
struct InlinePoster {
    /// The colours of pictures in cells.
    let depth: ColourDepth
    private let canvas: any Canvas
    /// Draws pixels instead of cells; nil where there are none.
    private let pixels: PictureProtocol?
    private let cell: ImageSize
    private let background: SIMD3<UInt8>
    /// Whether another program shows the output, as fzf does.
    private let isPreview: Bool
    /// The rows of the terminal, if there is one.
    private let terminalRows: Int?
    /// The number of the next Kitty picture. It starts at random, so that it differs from those of other programs and
    /// earlier runs.
    private var count = Int.random(in: 0..<KittyPlaceholders.numbers)

    /// Asks the terminal if nothing else decides. That takes up to a second (three over SSH) on a thread of its own.
    /// Nil if no pictures are wanted: standard output is not a terminal, and the user has asked neither for colours nor
    /// for a size in cells.
    static func make(_ settings: Settings) async -> InlinePoster? {
        guard Output.isTerminal || settings.colourDepth > .none else { return nil }
        let depth = settings.colourDepth
        // Blocks need to know whether there are 24-bit colours.
        let asks = settings.asksForGraphics || (settings.graphics.isBlocks && depth < .trueColour)
        let answers =
            asks && depth > .none && Terminal.canBeAsked
            ? await TerminalInquiry.answers(isInTmux: Terminal.isInTmux, limit: Terminal.answerLimit) : nil
        return InlinePoster(settings, answers ?? TerminalAnswers())
    }

    private init?(_ settings: Settings, _ answers: TerminalAnswers) {
        let shown = settings.colourDepth
        depth = shown > .none && answers.showsTrueColour ? .trueColour : shown
        let mode = (settings.asksForGraphics ? answers.graphics : nil) ?? settings.graphics
        let isInTmux = Output.isTerminal && Terminal.isInTmux
        isPreview = !Output.isTerminal && settings.pictureSize != nil
        background = Terminal.background(answers)
        guard let canvas = mode.canvas(depth: depth, background: background) else { return nil }
        self.canvas = canvas
        let pixels = PictureProtocol(mode, depth: depth, isInTmux: isInTmux)
        // In a preview kitty's placeholders move with the text.
        self.pixels = pixels == .kitty && isPreview ? .kittyPlaceholders(inTmux: false) : pixels
        let terminal = Terminal.size
        let told = terminal.flatMap { answers.cell(in: $0.cells) }
        cell = answers.cell ?? Terminal.cell ?? told ?? PictureProtocol.usualCell
        terminalRows = terminal?.cells.rows
    }

    /// The usable part of a room. Pixels need a free row below them and the next line, or the screen would scroll under
    /// them.
    func room(_ wanted: CellSize) -> CellSize {
        guard let terminalRows, pixels != nil else { return wanted }
        return CellSize(columns: wanted.columns, rows: max(1, min(wanted.rows, terminalRows - 2)))
    }

    /// The size in pixels that a picture should be loaded at.
    func pictureSize(in room: CellSize) -> ImageSize {
        pixels?.pictureSize(for: room, cell: cell) ?? canvas.pictureSize(for: room)
    }

    /// The undistorted picture, at most as large as `room`.
    mutating func draw(_ image: LoadedImage, within room: CellSize) -> InlinePicture {
        draw(image.bitmap, shape: image.header.size ?? image.bitmap.size, within: room)
    }

    /// The same for a bitmap with the proportions of `size`.
    mutating func draw(_ bitmap: Bitmap, shape size: ImageSize, within room: CellSize) -> InlinePicture {
        guard let pixels else {
            let cells = room.fitting(
                imageWidth: size.width, imageHeight: size.height,
                cellAspect: Double(cell.height) / Double(cell.width))
            return InlinePicture(cells: canvas.draw(bitmap, size: cells), depth: depth)
        }
        let picture = TerminalPicture(
            bitmap.blended(on: background), shape: size, within: room, cell: cell, step: pixels.step)
        var inline = InlinePicture(
            cells: CellGrid(size: picture.cells), depth: depth, movesCursor: !isPreview)
        let id = KittyPlaceholders.id(count)
        count += 1
        switch pixels {
        case .kitty:
            inline.drawing =
                KittyGraphics.transmission(of: picture, id: id)
                + KittyGraphics.placement(of: id, over: picture.cells)
        case .kittyPlaceholders(let isInTmux):
            inline.cells = KittyPlaceholders.cells(of: id, size: picture.cells)
            let bytes =
                KittyGraphics.transmission(of: picture, id: id)
                + KittyGraphics.virtualPlacement(of: id, over: picture.cells)
            inline.drawing = isInTmux ? TmuxPassthrough.wrapped(bytes) : bytes
        case .iterm2: inline.drawing = ITerm2Graphics.drawing(of: picture)
        case .sixel: inline.drawing = SixelGraphics.drawing(of: picture)
        }
        return inline
    }
}
